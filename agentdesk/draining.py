"""Takes small deliveries together, so that a run that is sent round by round costs no transaction,
lock, reading and analysis for each round.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from celery.exceptions import SoftTimeLimitExceeded

from agentdesk.pipeline import (
    TRANSIENT,
    Outcome,
    claimed_process,
    runs_read,
)
from agentdesk.turns import AGAIN_SECONDS, is_taken, turn
from analysis.services.incident_arrivals import grouped_together
from analysis.services.verdicts import run_analyse_or_wait
from transcripts.choices import DeliveryKind
from transcripts.importers import ImportProblem, UnreadableError
from transcripts.keys import run_digest
from transcripts.maskers import delivery_masker
from transcripts.models import Delivery, Project
from transcripts.queueing import DELIVER, enqueue
from transcripts.record import RunRecord
from transcripts.services.deliveries import (
    deliveries_locked,
    deliveries_store,
    deliveries_unclaim,
    delivery_open,
)
from transcripts.services.fragments import join_fragments, joined
from transcripts.services.runs import StoreOutcome, run_store

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fragment:
    """What one delivery says of one run."""

    delivery: Delivery
    record: RunRecord

    @property
    def live(self) -> bool:
        return self.delivery.kind == DeliveryKind.ROUNDS


def deliveries_process(delivery_ids: Sequence[UUID]) -> dict[int, datetime]:
    """Take claimed deliveries into the rows of their runs, in one transaction: all, or none.

    Where one of them has anything wrong each is taken by itself, so that it is the only one set
    aside. Returns and raises what `agentdesk.pipeline.delivery_process` does.
    """
    if len(delivery_ids) == 1:
        return claimed_process(delivery_ids[0], 1)
    try:
        with turn(), grouped_together():
            return _process(delivery_ids)
    except TRANSIENT as error:
        _take_back(delivery_ids)
        if not is_taken(error):
            raise
        # They are as if never tried, so that the task for one of them takes the others along.
        enqueue(DELIVER, str(delivery_ids[0]), countdown=AGAIN_SECONDS)
        return {}
    except SoftTimeLimitExceeded:
        # None of them is known to be the cause; each waits for the sweep, to be taken by itself.
        logger.warning("%d deliveries together took too long", len(delivery_ids))
        return {}
    except Exception as error:
        logger.info("deliveries are taken one by one (%s)", type(error).__name__)
    due: dict[int, datetime] = {}
    for delivery_id in delivery_ids:
        due |= claimed_process(delivery_id, 1)
    return due


def _process(delivery_ids: Sequence[UUID]) -> dict[int, datetime]:
    deliveries = deliveries_locked(delivery_ids=delivery_ids)
    by_run: dict[tuple[int, bytes], list[Fragment]] = {}
    outcomes = {delivery.pk: Outcome() for delivery in deliveries}
    for delivery in deliveries:
        for record in _records(delivery):
            key = (delivery.project_id, run_digest(delivery.project_id, record.run_id))
            by_run.setdefault(key, []).append(Fragment(delivery, record))
    due: dict[int, datetime] = {}
    # Every worker takes its locks in this order, so that no two wait for each other.
    for key in sorted(by_run):
        due |= _store(by_run[key], outcomes)
    deliveries_store(
        outcomes={
            delivery.pk: outcomes[delivery.pk].told(delivery_masker(delivery))
            for delivery in deliveries
        }
    )
    return due


def _records(delivery: Delivery) -> list[RunRecord]:
    records = []
    for read in runs_read(delivery=delivery, sealed=delivery_open(delivery=delivery)):
        if isinstance(read, ImportProblem):
            raise UnreadableError(read)
        records.append(read)
    return records


def _store(fragments: list[Fragment], outcomes: dict[UUID, Outcome]) -> dict[int, datetime]:
    """Store what came of one run, and analyse it once."""
    project = fragments[0].delivery.project
    changed = False
    for part in _parts(fragments):
        stored = _store_part(project, part, outcomes)
        changed = changed or stored.changed
    due = run_analyse_or_wait(run=stored.run) if changed else None
    return {} if due is None else {stored.run.pk: due}


def _store_part(
    project: Project, part: list[Fragment], outcomes: dict[UUID, Outcome]
) -> StoreOutcome:
    record = joined([fragment.record for fragment in part])
    stored = run_store(project=project, fragment=record, live=part[0].live)
    for fragment in part:
        numbers = [round_.number for round_ in fragment.record.rounds]
        outcomes[fragment.delivery.pk].runs.append(stored.share(numbers))
    return stored


def _parts(fragments: list[Fragment]) -> list[list[Fragment]]:
    """The fragments in order, those side by side that can be stored as one."""
    parts: list[list[Fragment]] = []
    for group in join_fragments([fragment.record for fragment in fragments]):
        for index in group:
            fragment = fragments[index]
            if index == group[0] or parts[-1][0].live != fragment.live:
                parts.append([])
            parts[-1].append(fragment)
    return parts


def _take_back(delivery_ids: Sequence[UUID]) -> None:
    try:
        deliveries_unclaim(delivery_ids=delivery_ids)
    except TRANSIENT:
        logger.warning("%d deliveries: the database does not answer", len(delivery_ids))
