"""What the API answers about runs and findings. None of it is transcript text."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from ninja import Field, Schema

from transcripts.choices import Ending


class FirstOddOut(Schema):
    """Where the run went wrong first."""

    round: int
    call: int | None
    detector: str
    tool: str
    why: str
    recovered_at: int | None


class RunOut(Schema):
    """A run as lists show it: its verdict, its sums, and whether it is complete."""

    run_id: str
    ticket_id: str
    title: str | None = Field(description="Null where the run is restricted to named readers.")
    agent: str
    provider: str
    model: str
    prompt_version: str
    code_version: str
    labels: dict[str, str]
    started_at: datetime | None
    ended_at: datetime | None
    received_at: datetime
    ending: Ending
    restricted: bool
    verdict: str | None = Field(description="One sentence; null while the detectors read.")
    flagged: bool | None
    first_odd_round: FirstOddOut | None
    rounds: int
    calls: int
    tokens_in: int | None
    tokens_out: int | None
    cost: Decimal | None
    currency: str
    duration_ms: float | None
    transcript_removed_at: datetime | None = Field(
        description="Since when the transcript is gone; null while it is there."
    )
    completeness: dict[str, Any]
    masked: dict[str, int] = Field(description="Secrets that were masked, by rule.")


class RunListOut(Schema):
    """A page of runs, newest first."""

    runs: list[RunOut]
    next: str | None = Field(description="`cursor` of the next page.")


class PlaceOut(Schema):
    """A round, and a call by its index from 0."""

    round: int
    call: int | None


class FindingOut(Schema):
    """One detector's claim."""

    detector: str
    version: int
    severity: str
    odd: bool
    round: int
    to_round: int | None
    call: int | None
    tool: str
    why: str
    cause: str
    fix: str
    evidence: list[PlaceOut]
    recovered_at: int | None


class FindingListOut(Schema):
    """All findings of a run, in order of rounds."""

    run_id: str
    findings: list[FindingOut]
