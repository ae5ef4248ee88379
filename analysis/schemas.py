"""What the API answers about runs and findings. None of it is transcript text."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from ninja import Field, Schema

from analysis.models import IncidentState
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


class FoundOut(Schema):
    """The line of a run that holds what was searched for."""

    round: int | None = Field(description="Null where the run is named so.")
    part: str
    line: str
    count: int = Field(description="Matches in what was read of the run.")


class RunListedOut(RunOut):
    """A run in a list; `found` is null where nothing was searched for."""

    found: FoundOut | None


class RunListOut(Schema):
    """A page of runs, newest first; of a search, the best match first."""

    runs: list[RunListedOut]
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


class IncidentOut(Schema):
    """One fault across runs, as people deal with it."""

    number: int
    name: str = Field(description="Its short id: INC-14.")
    title: str
    state: IncidentState
    state_at: datetime
    priority: str
    owner: str | None = Field(description="An e-mail address.")
    run_count: int
    first_seen_at: datetime
    last_seen_at: datetime
    resolved_at: datetime | None
    resolved_in: str = Field(description="The version in which it counts as resolved, or empty.")
    resolved_kind: str = Field(description="What the version is of: prompt, code, or empty.")
    ignored_until: datetime | None
    ignored_after: int | None = Field(description="With so many runs it is new again.")
    held: bool = Field(description="Its runs are on legal hold.")


class IncidentListOut(Schema):
    """A page of incidents, those seen last first."""

    incidents: list[IncidentOut]
    next: str | None = Field(description="`cursor` of the next page.")


class FingerprintOut(Schema):
    """What findings of an incident have in common; `error` is without what differs."""

    detector: str
    tool: str
    error: str
    agent: str


class VersionSeenOut(Schema):
    """A version in which an incident was seen."""

    version: str
    runs: int
    first: datetime
    last: datetime


class IncidentOneOut(IncidentOut):
    """The same with what it is about."""

    fingerprints: list[FingerprintOut]
    runs: list[str] = Field(description="Ids of its latest runs, at most 50.")
    tickets: list[str]
    versions: dict[str, list[VersionSeenOut]]
