"""Takes the faults of runs into incidents, in the transaction that analysed the runs.

`run_group` is called with each run. Where several are analysed in one transaction they are grouped
together at its end (`grouped_together`), since the lock of the project's incidents is the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import groupby

from analysis.alerts.forgetting import runs_alerts_hush
from analysis.alerts.outbox import events_tell
from analysis.grouping import Fault, faults_of
from analysis.models import IncidentRun
from analysis.services.incident_locks import incidents_locked
from analysis.services.incident_memberships import Memberships
from analysis.services.incident_quotes import incidents_hush
from analysis.services.versions import has_unseen, versions_note
from analysis.suite import Analysis
from analysis.words import without_quotes
from transcripts.keys import content_digest
from transcripts.masking.types import MaskedRun, MaskedText, derived_text
from transcripts.models import Run


@dataclass(frozen=True, slots=True)
class FoundFault:
    """A fault with its texts as they are stored, and what finds its fingerprint.

    Of a restricted run neither title nor error cite what was said.
    """

    fault: Fault
    digest: bytes
    title: MaskedText
    tool: MaskedText
    error: MaskedText
    agent: MaskedText


@dataclass(frozen=True, slots=True)
class Arrival:
    """A run that was analysed, with its faults, the main one first. `fresh`: for the first time, so
    that it is in no incident yet. `late`: it should have been grouped when it came in, and what
    happens to incidents is told as of then.
    """

    run: Run
    found: tuple[FoundFault, ...]
    fresh: bool = False
    late: bool = False


_waiting: ContextVar[list[Arrival] | None] = ContextVar("waiting", default=None)


def run_group(*, run: Run, masked: MaskedRun, analysis: Analysis, fresh: bool = False) -> None:
    """Put the run into the incidents of its faults, and out of those that it no longer has."""
    faults = faults_of(masked.record, analysis)
    found = tuple(_found(run, masked, fault) for fault in faults)
    _arrive(Arrival(run, found, fresh))


def run_group_late(*, run: Run, masked: MaskedRun, faults: Iterable[Fault]) -> None:
    """Put a run into the incidents of its faults that came in before it could be grouped."""
    _arrive(Arrival(run, tuple(_found(run, masked, fault) for fault in faults), late=True))


def _arrive(arrival: Arrival) -> None:
    waiting = _waiting.get()
    if waiting is None:
        _group([arrival])
    else:
        waiting.append(arrival)


@contextmanager
def grouped_together() -> Iterator[None]:
    """Group what is analysed within at its end; the last that its transaction does.

    Within another one: at the end of that, and not at all where this one fails.
    """
    outer = _waiting.get()
    mine: list[Arrival] = []
    token = _waiting.set(mine)
    try:
        yield
    finally:
        _waiting.reset(token)
    if outer is not None:
        outer.extend(mine)
    else:
        _group(mine)


def _group(arrivals: Sequence[Arrival]) -> None:
    """One lock and a handful of queries for each project; none for runs without faults."""
    latest: dict[int, Arrival] = {}
    for arrival in arrivals:
        latest[arrival.run.pk] = arrival
    changed = sorted(_with_changes(list(latest.values())), key=lambda each: each.run.project_id)
    for project_id, of_project in groupby(changed, key=lambda each: each.run.project_id):
        together = sorted(of_project, key=lambda each: (each.run.received_at, each.run.pk))
        incidents_locked(project_id=project_id)
        versions_note(
            runs=[each.run for each in together], anew=any(each.late for each in together)
        )
        events_tell(Memberships(project_id, together).write())
    _hush([arrival.run for arrival in latest.values() if arrival.run.restricted])


def _hush(restricted: Sequence[Run]) -> None:
    """A run may be restricted after an incident has cited it."""
    if restricted:
        runs_alerts_hush(run_pks=[run.pk for run in restricted])
    for project_id in sorted({run.project_id for run in restricted}):
        incidents_locked(project_id=project_id)
        rows = IncidentRun.objects.filter(run__in=restricted, incident__project=project_id)
        incidents_hush(pks=set(rows.values_list("incident", flat=True)))


def _with_changes(arrivals: Sequence[Arrival]) -> Iterator[Arrival]:
    """Arrivals that have a fault, or had one, other than what is known; or a version that is new.

    The run's lock is held, so that what is read here stays.
    """
    before: dict[int, set[tuple[bytes, int, int | None, bool]]] = {}
    known = [arrival.run.pk for arrival in arrivals if not arrival.fresh]
    # Not even to make a query that asks nothing: most runs are new, and healthy.
    rows = IncidentRun.objects.filter(run__in=known) if known else IncidentRun.objects.none()
    for pk, digest, round_, call, main in rows.values_list(
        "run_id", "fingerprint__digest", "round", "call", "main"
    ):
        before.setdefault(pk, set()).add((bytes(digest), round_, call, main))
    for arrival in arrivals:
        now = {
            (each.digest, each.fault.round, each.fault.call, each.fault.main)
            for each in arrival.found
        }
        if now != before.get(arrival.run.pk, set()) or has_unseen(arrival.run):
            yield arrival


def _found(run: Run, masked: MaskedRun, fault: Fault) -> FoundFault:
    key = "\0".join((str(run.project_id), *fault.key)).encode("utf-8", "surrogatepass")
    closed = run.restricted
    return FoundFault(
        fault=fault,
        digest=content_digest(key),
        title=derived_text(without_quotes(fault.title) if closed else fault.title, masked),
        tool=derived_text(fault.tool, masked),
        error=derived_text("" if closed else fault.error, masked),
        agent=derived_text(fault.agent, masked),
    )
