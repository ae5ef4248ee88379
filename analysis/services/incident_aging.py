"""What time does to incidents, and what deleted runs do; a beat does it every minute."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from analysis.alerts.outbox import events_tell
from analysis.models import Incident, IncidentEvent, IncidentRun, IncidentState
from analysis.services.incident_locks import incidents_locked
from analysis.services.incident_memberships import STATE_FIELDS
from analysis.services.incident_merging import incidents_count_again
from analysis.services.incident_states import DAY, OPEN_STATES, PAST_DAYS, aged
from transcripts.models import Project

# Incidents that one look changes at most; the others wait for the next.
AT_ONCE = 500


def incidents_age(*, now: datetime | None = None) -> int:
    """Let incidents escalate, calm down, grow old, and be looked at again. Returns how many changed
    state. Safe to run twice, and at once.
    """
    now = now or timezone.now()
    # What is old, ongoing and quiet stays as it is.
    moving = Q(state__in=OPEN_STATES, last_seen_at__gte=now - DAY)
    settling = Q(state__in=OPEN_STATES) & ~Q(state=IncidentState.ONGOING)
    ignored = Q(state=IncidentState.IGNORED) & ~Q(ignored_until=None, ignored_after=None)
    found = Incident.objects.filter(moving | settling | ignored, merged_into=None)
    changed = 0
    for project_id in found.order_by("project").values_list("project", flat=True).distinct():
        pks = list(found.filter(project=project_id).order_by("pk").values_list("pk", flat=True))
        changed += _age(project_id, pks, now)
    return changed


@transaction.atomic
def _age(project_id: int, pks: list[int], now: datetime) -> int:
    day, past = _counts(pks, now)
    events: list[IncidentEvent] = []
    changed: list[Incident] = []
    incidents_locked(project_id=project_id)
    for incident in Incident.objects.filter(pk__in=pks, merged_into=None).order_by("pk"):
        happened = list(
            aged(incident=incident, day=day.get(incident.pk, 0), past=past.get(incident.pk, 0),
                 now=now)
        )  # fmt: skip
        if happened:
            changed.append(incident)
        events += [
            IncidentEvent(incident=incident, at=now, kind=each.kind.value, detail=each.detail)
            for each in happened
        ]
        if len(changed) == AT_ONCE:
            break
    Incident.objects.bulk_update(changed, STATE_FIELDS)
    events_tell(IncidentEvent.objects.bulk_create(events))
    return len(changed)


def _counts(pks: list[int], now: datetime) -> tuple[dict[int, int], dict[int, int]]:
    """Runs by incident in the last day, and in the week before it."""
    since = now - DAY
    rows = (
        IncidentRun.objects.filter(
            incident__in=pks, seen_at__gte=since - timedelta(days=PAST_DAYS), seen_at__lte=now
        )
        .order_by()
        .values("incident")
        .annotate(
            day=Count("pk", filter=Q(seen_at__gte=since)),
            past=Count("pk", filter=Q(seen_at__lt=since)),
        )
    )
    found = list(rows)
    return (
        {row["incident"]: row["day"] for row in found},
        {row["incident"]: row["past"] for row in found},
    )


def incidents_recount(*, project: Project | None = None) -> int:
    """Count the runs of incidents again where runs were deleted; returns how many were wrong.

    Deletion asks nothing of incidents, so that it needs none of their locks.
    """
    incidents = Incident.objects.filter(merged_into=None)
    if project is not None:
        incidents = incidents.filter(project=project)
    counted = incidents.annotate(there=Count("runs__run", distinct=True)).order_by("pk")
    wrong = [
        (pk, project_id)
        for pk, project_id, kept, there in counted.values_list(
            "pk", "project", "run_count", "there"
        )
        if kept != there
    ]
    for pk, project_id in wrong:
        with transaction.atomic():
            incidents_locked(project_id=project_id)
            incidents_count_again(pks=[pk])
    return len(wrong)
