"""Reads of incidents: those of runs, and what one of them is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, Exists, F, Max, Min, OuterRef, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from analysis.models import (
    Finding,
    Fingerprint,
    Incident,
    IncidentEvent,
    IncidentRun,
    SeenVersion,
    VersionKind,
)
from transcripts.access import ROLE_MAY, May
from transcripts.models import Membership, Project, Run, User

# What else is wrong with the runs of an incident is looked for in so many of the latest.
LATEST_RUNS = 200
MOST_TICKETS = 40
MOST_VERSIONS = 12


def incident_by_number(*, project: Project, number: int) -> Incident | None:
    """An incident by its short id; of one that was merged, the one that took it over."""
    found = Incident.objects.select_related("owner").filter(project=project)
    incident = found.filter(number=number).first()
    while incident is not None and incident.merged_into_id is not None:
        incident = found.filter(pk=incident.merged_into_id).first()
    return incident


def incidents_of_runs(*, run_pks: Iterable[int]) -> dict[int, list[Incident]]:
    """The incidents of runs, that of the first odd round first. One query."""
    rows = IncidentRun.objects.filter(run__in=list(run_pks)).select_related("incident")
    found: dict[int, list[Incident]] = {}
    for row in rows.order_by("-main", "pk"):
        incidents = found.setdefault(row.run_id, [])
        if row.incident not in incidents:
            incidents.append(row.incident)
    return found


def runs_of_incident(*, incident: Incident) -> QuerySet[Run]:
    """The incident's runs, each once, latest first, with their verdicts."""
    mine = IncidentRun.objects.filter(incident=incident, run=OuterRef("pk"))
    runs = Run.objects.filter(Exists(mine), project=incident.project_id)
    return runs.select_related("verdict").order_by("-received_at", "-pk")


def places_in(*, incident: Incident, run_pks: Iterable[int]) -> dict[int, IncidentRun]:
    """Where the fault is in each of these runs: its first place there."""
    rows = IncidentRun.objects.filter(incident=incident, run__in=list(run_pks))
    places: dict[int, IncidentRun] = {}
    for row in rows.order_by("round", "pk"):
        places.setdefault(row.run_id, row)
    return places


def representative_run(*, incident: Incident, restricted: bool) -> IncidentRun | None:
    """The latest run that the incident is about, which may be read; else the latest of all."""
    rows = IncidentRun.objects.filter(incident=incident).select_related("run__verdict")
    if not restricted:
        rows = rows.filter(run__restricted=False)
    latest = rows.order_by("-seen_at", "-pk")
    return latest.filter(main=True).first() or latest.first()


def finding_at(*, place: IncidentRun, detector: str) -> Finding | None:
    """The detector's finding of the fault at its place in a run."""
    found = Finding.objects.filter(run=place.run_id, detector=detector, round=place.round)
    return found.order_by("order").first()


def runs_by_day(*, incident: Incident, days: int) -> list[tuple[date, int]]:
    """How many runs came in on each of the last `days` days, the earliest first."""
    today = timezone.localdate()
    first = today - timedelta(days=days - 1)
    rows = (
        IncidentRun.objects.filter(incident=incident, seen_at__date__gte=first)
        .order_by()
        .annotate(day=TruncDate("seen_at"))
        .values("day")
        .annotate(runs=Count("run", distinct=True))
    )
    counts = {row["day"]: row["runs"] for row in rows}
    return [
        (day, counts.get(day, 0))
        for day in (first + timedelta(days=number) for number in range(days))
    ]


@dataclass(frozen=True, slots=True)
class VersionSeen:
    """A version (of prompt or code, or a model) in which an incident was seen."""

    version: str
    runs: int
    first: datetime
    last: datetime


def versions_of(*, incident: Incident, column: str) -> list[VersionSeen]:
    """Versions of its runs, the latest seen first; `column` is a run's. Empty ones are left out."""
    rows = (
        IncidentRun.objects.filter(incident=incident)
        .exclude(**{f"run__{column}": ""})
        .order_by()
        .annotate(version=F(f"run__{column}"))
        .values("version")
        .annotate(runs=Count("run", distinct=True), first=Min("seen_at"), last=Max("seen_at"))
        .order_by("-last", "version")[:MOST_VERSIONS]
    )
    return [VersionSeen(row["version"], row["runs"], row["first"], row["last"]) for row in rows]


def tickets_of(*, incident: Incident) -> tuple[list[tuple[str, int]], int]:
    """The latest tickets with their runs, and how many there are."""
    rows = (
        IncidentRun.objects.filter(incident=incident)
        .exclude(run__ticket_id="")
        .order_by()
        .annotate(ticket=F("run__ticket_id"))
        .values("ticket")
    )
    latest = rows.annotate(runs=Count("run", distinct=True), last=Max("seen_at"))
    told = latest.order_by("-last", "ticket")[:MOST_TICKETS]
    return [(row["ticket"], row["runs"]) for row in told], rows.distinct().count()


def goes_with(*, incident: Incident) -> tuple[list[tuple[str, int]], int]:
    """Other detectors that found something in the latest runs, and in how many; and of how many
    runs that is.
    """
    latest = list(runs_of_incident(incident=incident).values_list("pk", flat=True)[:LATEST_RUNS])
    own = set(incident.fingerprints.values_list("detector", flat=True))
    rows = (
        Finding.objects.filter(run__in=latest)
        .exclude(detector__in=own)
        .order_by()
        .values("detector")
        .annotate(runs=Count("run", distinct=True))
        .order_by("-runs", "detector")
    )
    return [(row["detector"], row["runs"]) for row in rows], len(latest)


def events_of(*, incident: Incident, before: int | None, limit: int) -> list[IncidentEvent]:
    """Lines of the timeline, the latest first; `before` is the id of a line."""
    events = IncidentEvent.objects.filter(incident=incident).select_related("user")
    if before is not None:
        events = events.filter(pk__lt=before)
    return list(events.order_by("-pk")[:limit])


def open_count(*, project: Project) -> int:
    """How many incidents wait for somebody: new, escalating, or come back."""
    states = ("new", "escalating", "regressed")
    return Incident.objects.filter(project=project, merged_into=None, state__in=states).count()


def daily_runs(*, incident_pks: Iterable[int], days: int) -> dict[int, list[int]]:
    """Runs on each of the last `days` days, by incident. One query."""
    today = timezone.localdate()
    first = today - timedelta(days=days - 1)
    counts = {pk: [0] * days for pk in incident_pks}
    rows = (
        IncidentRun.objects.filter(incident__in=list(counts), seen_at__date__gte=first)
        .order_by()
        .annotate(day=TruncDate("seen_at"))
        .values("incident", "day")
        .annotate(runs=Count("run", distinct=True))
    )
    for row in rows:
        at = (row["day"] - first).days
        if at < days:
            counts[row["incident"]][at] = row["runs"]
    return counts


def agents_of_incidents(*, incident_pks: Iterable[int]) -> dict[int, list[str]]:
    """The agents that have the faults, by incident. One query."""
    prints = Fingerprint.objects.filter(incident__in=list(incident_pks)).exclude(agent="")
    found: dict[int, list[str]] = {}
    for pk, agent in prints.order_by("pk").values_list("incident", "agent"):
        agents = found.setdefault(pk, [])
        if agent not in agents:
            agents.append(agent)
    return found


def owners_possible(*, project: Project) -> list[User]:
    """The members who may have an incident, by name."""
    roles = [role for role, rights in ROLE_MAY.items() if May.TRIAGE in rights]
    members = Membership.objects.filter(project=project, role__in=roles, user__is_active=True)
    return [each.user for each in members.select_related("user").order_by("user__email")]


def versions_offered(*, incident: Incident) -> dict[str, list[str]]:
    """Versions of the incident's agents, the one seen last first, by kind."""
    agents = incident.fingerprints.values_list("agent", flat=True)
    seen = SeenVersion.objects.filter(project=incident.project_id, agent__in=list(agents))
    latest = seen.order_by("-first_seen_at", "-pk")
    return {
        kind.value: list(latest.filter(kind=kind).values_list("version", flat=True)[:MOST_VERSIONS])
        for kind in VersionKind
    }
