"""One incident of several, and several of one: fingerprints move with their runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Min
from django.utils import timezone

from analysis.detectors.reading.words import quoted
from analysis.grouping import TITLE_ERROR_CHARACTERS
from analysis.models import Fingerprint, Incident, IncidentEvent, IncidentRun, IncidentState
from analysis.services.incident_locks import incidents_locked
from analysis.services.incident_states import EventKind
from analysis.services.incidents import Before, incidents_of, told
from analysis.words import detector_title
from transcripts.maskers import typed_masker
from transcripts.masking.types import MaskedText
from transcripts.models import Project, User


class MergeError(ValueError):
    """Incidents cannot be merged or split so; the message says why, for people."""


@transaction.atomic
def incidents_merge(
    *, project: Project, into: Incident, pks: Iterable[int], user: User | None
) -> Before:
    """Let `into` take over the fingerprints and runs of others, which are shown no more.

    What comes in with one of their fingerprints goes there from now on.
    """
    incidents_locked(project_id=project.pk)
    into.refresh_from_db()
    if into.merged_into_id is not None:
        raise MergeError(f"{into.name} was merged into another incident itself.")
    others = [each for each in incidents_of(project, pks) if each.pk != into.pk]
    if not others:
        raise MergeError("Choose another incident to merge with.")
    rows: list[dict[str, Any]] = []
    for other in others:
        moved = list(other.fingerprints.order_by("pk").values_list("pk", flat=True))
        Fingerprint.objects.filter(pk__in=moved).update(incident=into)
        IncidentRun.objects.filter(incident=other).update(incident=into)
        other.merged_into = into
        other.save(update_fields=["merged_into"])
        # A hold outlives what it was set on.
        into.held = into.held or other.held
        rows.append({"pk": other.pk, "fingerprints": moved})
    into.save(update_fields=["held"])
    incidents_count_again(pks=[into.pk, *(other.pk for other in others)])
    IncidentEvent.objects.bulk_create(
        [told(into, EventKind.MERGED, {"incident": other.number}, user) for other in others]
    )
    return {"into": into.pk, "rows": rows}


@transaction.atomic
def incident_split(
    *, project: Project, source: Incident, fingerprints: Sequence[int], user: User | None
) -> tuple[Incident, Before]:
    """Make an incident of its own of some of an incident's fingerprints."""
    incidents_locked(project_id=project.pk)
    source.refresh_from_db()
    own = list(source.fingerprints.order_by("pk"))
    moved = [each for each in own if each.pk in set(fingerprints)]
    if not moved or len(moved) == len(own):
        raise MergeError("Choose some of the fingerprints, and leave at least one.")
    latest = Incident.objects.filter(project=project).aggregate(latest=Max("number"))["latest"]
    now = timezone.now()
    new = Incident.objects.create(
        project=project,
        number=latest + 1,
        title=_title(moved[0]),
        state=IncidentState.ONGOING,
        state_at=now,
        owner=source.owner,
        priority=source.priority,
        held=source.held,
        first_seen_at=source.first_seen_at,
        last_seen_at=source.last_seen_at,
    )
    pks = [each.pk for each in moved]
    fingerprints_move(pks=pks, source=source, target=new)
    IncidentEvent.objects.bulk_create(
        [
            told(source, EventKind.SPLIT, {"incident": new.number, "fingerprints": len(pks)}, user),
            told(new, EventKind.SPLIT, {"incident": source.number}, user),
        ]
    )
    return new, {"source": source.pk, "new": new.pk, "fingerprints": pks}


def _title(fingerprint: Fingerprint) -> MaskedText:
    """ "get_right: failed result: “permission denied for …”"."""
    parts = [str(fingerprint.tool), detector_title(fingerprint.detector).lower()]
    if fingerprint.error:
        parts.append(quoted(str(fingerprint.error), TITLE_ERROR_CHARACTERS))
    # Of masked texts, which come out as they are.
    return typed_masker(fingerprint.project).text(": ".join(filter(None, parts)))


def fingerprints_move(*, pks: Sequence[int], source: Incident, target: Incident) -> None:
    """Move fingerprints with their runs; both incidents are counted again. Needs the lock."""
    Fingerprint.objects.filter(pk__in=pks, incident=source).update(incident=target)
    IncidentRun.objects.filter(fingerprint__in=pks, incident=source).update(incident=target)
    incidents_count_again(pks=[source.pk, target.pk])


def incidents_count_again(*, pks: Sequence[int]) -> int:
    """Count the runs that incidents have, and when they came; returns how many were wrong.

    Needs the lock.
    """
    rows = IncidentRun.objects.filter(incident__in=pks).order_by().values("incident")
    counts = {
        row["incident"]: row
        for row in rows.annotate(
            runs=Count("run", distinct=True), first=Min("seen_at"), last=Max("seen_at")
        )
    }
    wrong = 0
    for incident in Incident.objects.filter(pk__in=pks).order_by("pk"):
        found = counts.get(incident.pk)
        before = (incident.run_count, incident.first_seen_at, incident.last_seen_at)
        incident.run_count = found["runs"] if found else 0
        if found:
            incident.first_seen_at, incident.last_seen_at = found["first"], found["last"]
        if before != (incident.run_count, incident.first_seen_at, incident.last_seen_at):
            incident.save(update_fields=["run_count", "first_seen_at", "last_seen_at"])
            wrong += 1
    return wrong
