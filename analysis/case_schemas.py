"""What the API answers about test cases."""

from __future__ import annotations

from datetime import datetime

from ninja import Field, Schema


class CaseOut(Schema):
    """A test case as lists show it, without its recording."""

    case: str = Field(description="Its short number: CASE-7.")
    case_id: str = Field(description="The id in its file; results may be sent to either.")
    title: str | None = Field(description="Null where it is of a run restricted to named readers.")
    agent: str
    revision: int
    rounds: int
    run_id: str | None = Field(description="The run it was made of, while that is here.")
    incident: str | None
    made_at: datetime
    last_result: str | None = Field(description="passed or failed; null: not replayed yet.")


class CaseListOut(Schema):
    """A page of test cases, newest first."""

    cases: list[CaseOut]
    next: int | None = Field(description="Ask again with `before` set to it.")


class CaseMadeOut(CaseOut):
    """A case that was made or taken in, or was there."""

    made: bool = Field(description="False: it was there before.")
    expect: list[str] = Field(description="The kinds of what must hold.")


class CaseResultOut(Schema):
    """A result that is kept."""

    case: str
    state: str
    runs: int
    passed: int
    repeated: bool = Field(description="The same result came before: nothing was changed.")
    revision: int | None = Field(
        description="The state of the case that was replayed; null: none of ours."
    )
    against_accepted: str | None = Field(
        description="How this version compares with the accepted one, by an exact test."
    )
