"""Which runs are in which incidents: the rows, as one transaction changes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Max, Min
from django.utils import timezone

from analysis.grouping import GROUPING
from analysis.models import Fingerprint, Incident, IncidentEvent, IncidentRun
from analysis.normalising import normalised_error
from analysis.services.incident_states import EventKind, Happened, of, run_joined, run_left
from transcripts.models import Run

if TYPE_CHECKING:
    from analysis.services.incident_arrivals import Arrival, FoundFault

STATE_FIELDS = (
    "title",
    "state",
    "state_at",
    "first_seen_at",
    "last_seen_at",
    "run_count",
    "resolved_at",
    "resolved_in",
    "resolved_kind",
    "ignored_until",
    "ignored_after",
)


class Memberships:
    """The rows of some runs of one project, with their incidents. Needs the lock of its incidents:
    what is counted here is written at the end, once for all runs.
    """

    def __init__(self, project_id: int, arrivals: Sequence[Arrival]) -> None:
        self._project_id = project_id
        self._arrivals = arrivals
        self._clock: datetime = timezone.now()
        self._now = self._clock
        self._incidents: dict[int, Incident] = {}
        self._touched: set[int] = set()
        self._shrunk: set[int] = set()
        self._added: list[IncidentRun] = []
        self._moved: list[IncidentRun] = []
        self._gone: list[int] = []
        self._events: list[IncidentEvent] = []
        digests = {each.digest for arrival in arrivals for each in arrival.found}
        known = Fingerprint.objects.filter(project_id=project_id, digest__in=digests)
        self._prints = {bytes(each.digest): each for each in known.select_related("incident")}
        self._rows: dict[int, dict[bytes, IncidentRun]] = {}
        runs = [arrival.run.pk for arrival in arrivals if not arrival.fresh]
        rows = IncidentRun.objects.filter(run__in=runs).select_related("fingerprint", "incident")
        for row in rows:
            self._rows.setdefault(row.run_id, {})[bytes(row.fingerprint.digest)] = row

    def write(self) -> list[IncidentEvent]:
        """Bring the rows up to what was found; returns what happened to incidents."""
        for arrival in self._arrivals:
            self._take(arrival)
        IncidentRun.objects.filter(pk__in=self._gone).delete()
        IncidentRun.objects.bulk_create(self._added)
        IncidentRun.objects.bulk_update(self._moved, ("round", "call", "main"))
        for pk in self._shrunk:
            self._see_again(self._incidents[pk])
        for pk in sorted(self._touched):
            # Mostly one: a third of what bulk_update costs.
            self._incidents[pk].save(update_fields=STATE_FIELDS)
        return IncidentEvent.objects.bulk_create(self._events)

    def _take(self, arrival: Arrival) -> None:
        run = arrival.run
        self._now = run.received_at if arrival.late else self._clock
        rows = self._rows.get(run.pk, {})
        before = {row.incident_id: self._incident(row.incident) for row in rows.values()}
        after: dict[int, Incident] = {}
        for found in arrival.found:
            row = rows.get(found.digest)
            if row is not None:
                self._move(row, found)
                after[row.incident_id] = self._incident(row.incident)
            else:
                incident = self._join(run, found)
                after[incident.pk] = incident
        wanted = {found.digest for found in arrival.found}
        self._gone += [row.pk for digest, row in rows.items() if digest not in wanted]
        for pk in after.keys() - before.keys():
            self._count_in(after[pk], arrival)
        for pk in before.keys() - after.keys():
            self._count_out(before[pk], run)

    def _move(self, row: IncidentRun, found: FoundFault) -> None:
        place = (found.fault.round, found.fault.call, found.fault.main)
        if (row.round, row.call, row.main) != place:
            row.round, row.call, row.main = place
            self._moved.append(row)

    def _join(self, run: Run, found: FoundFault) -> Incident:
        fingerprint = self._prints.get(found.digest)
        if fingerprint is None:
            fingerprint = self._open(run, found)
            self._prints[found.digest] = fingerprint
        incident = self._incident(fingerprint.incident)
        if found.error and not fingerprint.error:
            self._say_error(fingerprint, incident, found)
        self._added.append(
            IncidentRun(
                incident=incident,
                fingerprint=fingerprint,
                run=run,
                round=found.fault.round,
                call=found.fault.call,
                main=found.fault.main,
                seen_at=run.received_at,
            )
        )
        return incident

    def _open(self, run: Run, found: FoundFault) -> Fingerprint:
        incident = (
            self._that_it_is_in(run, found)
            or self._of_another_grouping(found)
            or self._new_incident(run, found)
        )
        return Fingerprint.objects.create(
            project_id=self._project_id,
            incident=incident,
            digest=found.digest,
            grouping=GROUPING,
            detector=found.fault.detector,
            tool=found.tool,
            error=found.error,
            agent=found.agent,
            first_seen_at=self._now,
        )

    def _that_it_is_in(self, run: Run, found: FoundFault) -> Incident | None:
        """The incident that the run is in by the same tool's fault under another grouping."""
        for row in self._rows.get(run.pk, {}).values():
            old = row.fingerprint
            same = (old.detector, old.tool) == (found.fault.detector, found.tool)
            if old.grouping != GROUPING and same:
                return self._incident(row.incident)
        return None

    def _of_another_grouping(self, found: FoundFault) -> Incident | None:
        """The incident that had this fault when faults were compared in another way; None where
        there is none, or nothing is known of what went wrong.
        """
        if found.fault.error and not found.error:
            return None
        others = Fingerprint.objects.filter(
            project_id=self._project_id, detector=found.fault.detector
        ).exclude(grouping=GROUPING)
        for other in others.select_related("incident").order_by("pk"):
            same = (other.tool, other.agent) == (found.tool, found.agent)
            if same and normalised_error(other.error) == found.fault.error:
                return self._incident(other.incident)
        return None

    def _new_incident(self, run: Run, found: FoundFault) -> Incident:
        numbers = Incident.objects.filter(project_id=self._project_id)
        latest: int = numbers.aggregate(latest=Max("number"))["latest"] or 0
        incident = Incident.objects.create(
            project_id=self._project_id,
            number=latest + 1,
            title=found.title,
            state_at=self._now,
            first_seen_at=run.received_at,
            last_seen_at=run.received_at,
        )
        self._tell(incident, Happened(EventKind.OPENED, of(run)))
        return self._incident(incident)

    def _say_error(self, fingerprint: Fingerprint, incident: Incident, found: FoundFault) -> None:
        """The first run was restricted, so that nothing of it was cited; this one may be."""
        fingerprint.error = found.error
        fingerprint.save(update_fields=["error"])
        if found.title.startswith(incident.title):
            incident.title = found.title

    def _count_in(self, incident: Incident, arrival: Arrival) -> None:
        run = arrival.run
        incident.run_count += 1
        if arrival.late and incident.ignored_after is not None:
            # It is none of the further runs until which somebody put the incident aside.
            incident.ignored_after += 1
        incident.first_seen_at = min(incident.first_seen_at, run.received_at)
        incident.last_seen_at = max(incident.last_seen_at, run.received_at)
        self._touched.add(incident.pk)
        for happened in run_joined(incident=incident, run=run, now=self._now):
            self._tell(incident, happened)

    def _count_out(self, incident: Incident, run: Run) -> None:
        incident.run_count = max(0, incident.run_count - 1)
        self._touched.add(incident.pk)
        self._shrunk.add(incident.pk)
        for happened in run_left(incident=incident, run=run, now=self._now):
            self._tell(incident, happened)

    def _see_again(self, incident: Incident) -> None:
        """First and last sight, of the runs that are left."""
        seen = incident.runs.aggregate(first=Min("seen_at"), last=Max("seen_at"))
        incident.first_seen_at = seen["first"] or incident.first_seen_at
        incident.last_seen_at = seen["last"] or incident.last_seen_at

    def _tell(self, incident: Incident, happened: Happened) -> None:
        self._events.append(
            IncidentEvent(
                incident=incident, at=self._now, kind=happened.kind.value, detail=happened.detail
            )
        )

    def _incident(self, incident: Incident) -> Incident:
        """The one object that stands for this row here."""
        return self._incidents.setdefault(incident.pk, incident)
