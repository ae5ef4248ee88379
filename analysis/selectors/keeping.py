"""What hangs on runs that somebody wants to erase, counted before it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet, Sum
from django.db.models.functions import Left

from analysis.models import IncidentRun, TestCase
from analysis.services.keeping import HELD
from transcripts.choices import DeliveryState, Removal
from transcripts.models import Delivery, Project, Run, RunHold

# What the index on tickets holds of each.
INDEXED = 200


@dataclass(frozen=True, slots=True)
class Weight:
    """What an erasure would take, and what stands in its way."""

    runs: int
    rounds: int
    calls: int
    incidents: int
    cases: int
    held: int
    quarantined: int


def runs_of_ticket(*, project: Project, ticket: str) -> QuerySet[Run]:
    """The project's runs of a ticket, the newest first; none for an empty id."""
    runs = Run.objects.filter(project=project).exclude(removal=Removal.RUN)
    if not ticket:
        return runs.none()
    found = runs.annotate(start=Left("ticket_id", INDEXED))
    return found.filter(start=ticket[:INDEXED], ticket_id=ticket).order_by("-received_at", "-pk")


def erasure_weight(*, project: Project, runs: QuerySet[Run]) -> Weight:
    """What erasing the runs would take. Five queries."""
    sums = runs.order_by().aggregate(rounds=Sum("round_count"), calls=Sum("call_count"))
    pks = list(runs.values_list("pk", flat=True))
    seen = IncidentRun.objects.filter(run__in=pks).order_by()
    quarantined = Delivery.objects.filter(project=project, state=DeliveryState.QUARANTINED)
    return Weight(
        runs=len(pks),
        rounds=sums["rounds"] or 0,
        calls=sums["calls"] or 0,
        incidents=seen.values("incident").distinct().count(),
        cases=TestCase.objects.filter(run__in=pks, deleted_at=None).count(),
        held=held_runs(runs).count(),
        quarantined=quarantined.count(),
    )


def held_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Those of the runs that are on hold, by themselves or for an incident."""
    own = Exists(RunHold.objects.filter(run=OuterRef("pk")))
    return runs.filter(own) | runs.filter(HELD)


def incidents_holding(*, run: Run) -> list[str]:
    """The names of incidents on legal hold in which the run was seen."""
    found = IncidentRun.objects.filter(run=run, incident__held=True).select_related("incident")
    return sorted({seen.incident.name for seen in found.order_by("pk")})
