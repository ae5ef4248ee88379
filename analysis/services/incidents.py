"""What people decide about incidents, and test cases on their behalf. Each change takes the lock of
the project's incidents, leaves a line in their timelines, and returns what takes it back
(`analysis.services.incident_undo`); None where nothing changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from analysis.models import (
    Incident,
    IncidentEvent,
    IncidentState,
    Priority,
    VersionKind,
)
from analysis.services.incident_locks import incidents_locked
from analysis.services.incident_states import OPEN_STATES, EventKind
from transcripts.masking.types import MaskedText
from transcripts.models import Membership, Project, User

Before = dict[str, Any]
Values = Mapping[str, Any]
NO_RESOLUTION: Values = {"resolved_at": None, "resolved_in": "", "resolved_kind": ""}
NOT_IGNORED: Values = {"ignored_until": None, "ignored_after": None}


def incidents_assign(
    *, project: Project, pks: Iterable[int], owner: User | None, user: User | None
) -> Before | None:
    """Give incidents an owner, who must be a member; None takes them from whoever has them."""
    if owner is not None and not Membership.objects.filter(project=project, user=owner).exists():
        raise ValueError("An owner is a member of the project.")

    def assigned(incident: Incident) -> Values:
        return {"owner_id": owner.pk if owner else None}

    detail = {"person": owner.pk if owner else None}
    return _change(project, pks, assigned, EventKind.ASSIGNED, lambda _: detail, user)


def incidents_prioritise(
    *, project: Project, pks: Iterable[int], priority: Priority, user: User | None
) -> Before | None:
    """Say how much incidents matter."""

    def told(incident: Incident) -> dict[str, Any]:
        return {"before": incident.priority, "after": int(priority)}

    return _change(
        project, pks, lambda _: {"priority": int(priority)}, EventKind.PRIORITY, told, user
    )


def incidents_resolve(
    *,
    project: Project,
    pks: Iterable[int],
    user: User | None,
    version: MaskedText | None = None,
    kind: VersionKind = VersionKind.PROMPT,
    case: str | None = None,
) -> Before | None:
    """Say that incidents are mended: from now on, or in a version of the prompt or the code.

    `case` names the test case whose results say so (masked text).
    """
    now = timezone.now()

    def resolved(incident: Incident) -> Values:
        return {
            "state": IncidentState.RESOLVED,
            "state_at": now,
            "resolved_at": now,
            "resolved_in": version or "",
            "resolved_kind": kind if version else "",
            **NOT_IGNORED,
        }

    detail: dict[str, Any] = {"version": version, "version_kind": kind} if version else {}
    if case:
        detail["case"] = case
    return _change(project, pks, resolved, EventKind.RESOLVED, lambda _: detail, user)


def incidents_reopen(
    *, project: Project, pks: Iterable[int], user: User | None, case: str | None = None
) -> Before | None:
    """Take up again what is resolved or ignored. What failed again in a test `case` has come back,
    what a person takes up goes on.
    """
    now = timezone.now()
    state = IncidentState.REGRESSED if case else IncidentState.ONGOING

    def reopened(incident: Incident) -> Values:
        if incident.state in OPEN_STATES:
            return {}
        return {"state": state, "state_at": now, **NOT_IGNORED}

    detail = {"case": case} if case else {}
    return _change(project, pks, reopened, EventKind.REOPENED, lambda _: detail, user)


def incidents_ignore(
    *,
    project: Project,
    pks: Iterable[int],
    user: User | None,
    until: datetime | None = None,
    runs: int | None = None,
) -> Before | None:
    """Put incidents aside: until a time, until so many further runs have them, or for good."""
    now = timezone.now()

    def ignored(incident: Incident) -> Values:
        return {
            "state": IncidentState.IGNORED,
            "state_at": now,
            "ignored_until": until,
            "ignored_after": None if runs is None else incident.run_count + runs,
            **NO_RESOLUTION,
        }

    detail = {"until": until and _moment(until), "runs": runs}
    return _change(project, pks, ignored, EventKind.IGNORED, lambda _: detail, user)


def incidents_hold(
    *, project: Project, pks: Iterable[int], held: bool, user: User | None
) -> Before | None:
    """Put the runs of incidents on legal hold, or let them go."""
    kind = EventKind.HELD if held else EventKind.RELEASED
    return _change(project, pks, lambda _: {"held": held}, kind, lambda _: {}, user)


def incident_resolve(
    *,
    incident: Incident,
    version: MaskedText | None = None,
    kind: VersionKind = VersionKind.PROMPT,
    user: User | None = None,
    case: str | None = None,
) -> Before | None:
    """One incident, as `incidents_resolve` does; for results of test cases."""
    return incidents_resolve(
        project=incident.project,
        pks=[_current(incident).pk],
        user=user,
        version=version,
        kind=kind,
        case=case,
    )


def incident_reopen(
    *, incident: Incident, user: User | None = None, case: str | None = None
) -> Before | None:
    """One incident, as `incidents_reopen` does."""
    return incidents_reopen(
        project=incident.project, pks=[_current(incident).pk], user=user, case=case
    )


def _current(incident: Incident) -> Incident:
    """The incident that took it over, where it was merged."""
    while incident.merged_into is not None:
        incident = incident.merged_into
    return incident


@transaction.atomic
def _change(
    project: Project,
    pks: Iterable[int],
    values: Callable[[Incident], Values],
    kind: EventKind,
    detail: Callable[[Incident], Mapping[str, Any]],
    user: User | None,
) -> Before | None:
    """Set values of incidents that have others; returns both, by incident."""
    rows: list[dict[str, Any]] = []
    events: list[IncidentEvent] = []
    incidents_locked(project_id=project.pk)
    for incident in incidents_of(project, pks):
        changed = {
            name: value for name, value in values(incident).items()
            if getattr(incident, name) != value
        }  # fmt: skip
        if not changed.keys() - {"state_at", "resolved_at"}:
            continue
        events.append(told(incident, kind, detail(incident), user))
        before = {name: kept(name, getattr(incident, name)) for name in changed}
        for name, value in changed.items():
            setattr(incident, name, value)
        incident.save(update_fields=[name.removesuffix("_id") for name in changed])
        after = {name: kept(name, value) for name, value in changed.items()}
        rows.append({"pk": incident.pk, "before": before, "after": after})
    IncidentEvent.objects.bulk_create(events)
    return {"rows": rows} if rows else None


def incidents_of(project: Project, pks: Iterable[int]) -> Sequence[Incident]:
    """Incidents of the project that were not merged into another, by id."""
    found = Incident.objects.filter(project=project, pk__in=list(pks), merged_into=None)
    return list(found.order_by("pk"))


def told(
    incident: Incident, kind: EventKind, detail: Mapping[str, Any], user: User | None
) -> IncidentEvent:
    """A line of a timeline, not yet written."""
    return IncidentEvent(incident=incident, kind=kind.value, detail=dict(detail), user=user)


def kept(name: str, value: Any) -> Any:
    """A column's value as JSON that holds no plain text: times in microseconds since 1970."""
    if isinstance(value, datetime):
        return _moment(value)
    closed = {"state": IncidentState, "resolved_kind": VersionKind}.get(name)
    return closed(value) if closed and value else value


def _moment(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)
