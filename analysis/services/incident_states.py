"""In which state an incident is: the rules, without a query that they do not name.

- *new*: opened, and nobody has decided anything; after a week it is *ongoing*.
- *escalating*: in the last 24 hours at least `ESCALATING_LEAST` runs, and `ESCALATING_FACTOR` times
  as many as on a mean day of the week before; it calms down below `CALM_FACTOR` times. An incident
  that was opened less than a day ago has no past to compare with.
- *resolved*: in a version, or now.
- *regressed*: resolved, and a run that came in afterwards has it again. Resolved in a version: only
  in that version, or in one that the project first saw later; a run without a version counts as
  later. Versions are opaque, so that when they were first seen is their order.
- *ignored*: until a time, or until it has so many runs; then it is new again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from analysis.models import Incident, IncidentState, VersionKind
from analysis.services.versions import version_seen_at
from transcripts.models import Run

NEW_FOR = timedelta(days=7)
ESCALATING_LEAST = 10
ESCALATING_FACTOR = 3
CALM_FACTOR = 1.5
DAY = timedelta(days=1)
PAST_DAYS = 7
OPEN_STATES = (
    IncidentState.NEW,
    IncidentState.ESCALATING,
    IncidentState.REGRESSED,
    IncidentState.ONGOING,
)


class EventKind(StrEnum):
    """What a line of the timeline tells. `detail` holds, where it says more:

    `run`, `run_id`: the run that did it; `version`, `version_kind`; `person`: a user's id; `before`
    and `after`: a priority; `until`: a time (ISO 8601), `runs`: a number of runs; `incident`: the
    number of another incident; `fingerprints`: how many moved; `day` and `usual`: runs in the last
    day and on a mean one; `case`: the test case that said so; `annotation`: the id of what a person
    wrote.
    """

    OPENED = "opened"
    REGRESSED = "regressed"
    SEEN_AGAIN = "seen_again"
    ESCALATED = "escalated"
    CALMED = "calmed"
    AGED = "aged"
    IGNORE_ENDED = "ignore_ended"
    RUN_LEFT = "run_left"
    EMPTIED = "emptied"
    RESOLVED = "resolved"
    REOPENED = "reopened"
    IGNORED = "ignored"
    ASSIGNED = "assigned"
    PRIORITY = "priority"
    MERGED = "merged"
    SPLIT = "split"
    HELD = "held"
    RELEASED = "released"
    UNDONE = "undone"
    COMMENTED = "commented"
    NAMED_CAUSE = "named_cause"


@dataclass(frozen=True, slots=True)
class Happened:
    """A line for the timeline, not yet written."""

    kind: EventKind
    detail: dict[str, object]


def run_joined(*, incident: Incident, run: Run, now: datetime) -> Iterator[Happened]:
    """What it means for the state that a run has joined, which is counted already. At most two
    queries, for an incident that is resolved in a version.
    """
    if incident.state == IncidentState.RESOLVED:
        if incident.resolved_at is None:
            # No run had it any more, which nobody decided.
            yield _into(incident, IncidentState.NEW, EventKind.SEEN_AGAIN, now, of(run))
        elif is_regression(incident=incident, run=run):
            yield _into(incident, IncidentState.REGRESSED, EventKind.REGRESSED, now, of(run))
    elif incident.state == IncidentState.IGNORED and ignoring_is_over(incident, now):
        yield _into(incident, IncidentState.NEW, EventKind.IGNORE_ENDED, now, of(run))


def run_left(*, incident: Incident, run: Run, now: datetime) -> Iterator[Happened]:
    """The same for one that was read again and has the fault no longer."""
    yield Happened(EventKind.RUN_LEFT, of(run))
    if incident.run_count == 0 and incident.state in OPEN_STATES:
        incident.resolved_at, incident.resolved_in, incident.resolved_kind = None, "", ""
        yield _into(incident, IncidentState.RESOLVED, EventKind.EMPTIED, now, {})


def is_regression(*, incident: Incident, run: Run) -> bool:
    """Whether a run has again what was resolved."""
    if incident.resolved_at is None or run.received_at <= incident.resolved_at:
        return False
    kind, fixed = incident.resolved_kind, str(incident.resolved_in)
    version = str(run.code_version if kind == VersionKind.CODE else run.prompt_version)
    if not fixed or not version or version == fixed:
        return True
    fixed_at, seen_at = (
        version_seen_at(
            project_id=run.project_id, kind=kind, agent=str(run.agent), version=each
        )
        for each in (fixed, version)
    )  # fmt: skip
    return fixed_at is not None and seen_at is not None and seen_at > fixed_at


def ignoring_is_over(incident: Incident, now: datetime) -> bool:
    """Whether an ignored incident is to be looked at again."""
    until, after = incident.ignored_until, incident.ignored_after
    return (until is not None and now >= until) or (
        after is not None and incident.run_count >= after
    )


def aged(*, incident: Incident, day: int, past: int, now: datetime) -> Iterator[Happened]:
    """What the time that went by means. `day` runs joined in the last 24 hours, `past` in the
    `PAST_DAYS` days before them.
    """
    state = incident.state
    if state == IncidentState.IGNORED:
        if ignoring_is_over(incident, now):
            yield _into(incident, IncidentState.NEW, EventKind.IGNORE_ENDED, now, {})
        return
    if state not in OPEN_STATES:
        return
    usual = usual_day(incident=incident, past=past, now=now)
    if state != IncidentState.ESCALATING and is_escalating(day, usual):
        counts: dict[str, object] = {"day": day, "usual": round(usual or 0, 1)}
        yield _into(incident, IncidentState.ESCALATING, EventKind.ESCALATED, now, counts)
    elif state == IncidentState.ESCALATING:
        if usual is not None and day < max(CALM_FACTOR * usual, ESCALATING_LEAST / 2):
            yield _into(incident, IncidentState.ONGOING, EventKind.CALMED, now, {"day": day})
    elif state != IncidentState.ONGOING and incident.state_at < now - NEW_FOR:
        yield _into(incident, IncidentState.ONGOING, EventKind.AGED, now, {})


def usual_day(*, incident: Incident, past: int, now: datetime) -> float | None:
    """Runs on a mean day of the week before the last 24 hours; None without a day of past."""
    days = min((now - DAY - incident.first_seen_at) / DAY, float(PAST_DAYS))
    return past / max(days, 1.0) if days > 0 else None


def is_escalating(day: int, usual: float | None) -> bool:
    return usual is not None and day >= max(ESCALATING_LEAST, ESCALATING_FACTOR * usual)


def of(run: Run) -> dict[str, object]:
    """A run as events tell of it."""
    told: dict[str, object] = {"run": run.pk, "run_id": run.run_id}
    version, kind = run.prompt_version, VersionKind.PROMPT
    if not version:
        version, kind = run.code_version, VersionKind.CODE
    return {**told, "version": version, "version_kind": kind} if version else told


def _into(
    incident: Incident,
    state: IncidentState,
    kind: EventKind,
    now: datetime,
    detail: dict[str, object],
) -> Happened:
    incident.state, incident.state_at = state, now
    incident.ignored_until = incident.ignored_after = None
    return Happened(kind, detail)
