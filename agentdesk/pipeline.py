"""What a worker does with a delivery: open, import, mask, store, analyse, empty; in one
transaction.

Put together here from the services of the two apps, which do not know each other.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import Any
from uuid import UUID

from celery.exceptions import SoftTimeLimitExceeded
from django.db import DataError, InterfaceError, OperationalError, transaction

from agentdesk.traces import TRACE_ASSEMBLE, spans_process, trace_process
from agentdesk.turns import AGAIN_SECONDS, is_taken, turn
from analysis.services.incident_arrivals import grouped_together
from analysis.services.verdicts import run_analyse_or_wait
from transcripts.choices import DeliveryKind
from transcripts.importers import ImportProblem, UnreadableError, read_runs
from transcripts.maskers import delivery_masker
from transcripts.masking import Masker, MaskingError
from transcripts.masking.types import MaskedText
from transcripts.models import Delivery, Project
from transcripts.queueing import DELIVER, enqueue
from transcripts.record import RunRecord
from transcripts.sealing import SealError
from transcripts.services.deliveries import (
    MAX_ATTEMPTS,
    Sealed,
    deliveries_unclaim,
    delivery_claim,
    delivery_locked,
    delivery_open,
    delivery_quarantine,
    delivery_store,
)
from transcripts.services.runs import (
    RunGoneError,
    RunRefusedError,
    StoreOutcome,
    run_store,
    wait_for_turn,
)

logger = logging.getLogger(__name__)

# What another try may mend, since its cause is not in the delivery.
TRANSIENT = (OperationalError, InterfaceError)
# Runs and problems that an outcome tells one by one; beyond, it counts.
TOLD = 100


@dataclass
class Outcome:
    """What became of a delivery: runs stored, those that are `gone` and so were not, and what could
    not be.
    """

    runs: list[StoreOutcome] = field(default_factory=list)
    gone: int = 0
    problems: list[ImportProblem] = field(default_factory=list)
    due: dict[int, datetime] = field(default_factory=dict)

    def told(self, masker: Masker) -> dict[str, Any]:
        """The outcome as a delivery keeps it; the texts of problems masked."""
        return {
            "runs": [
                {
                    "run_id": stored.run.run_id,
                    "pk": stored.run.pk,
                    "new": stored.new,
                    "folded": stored.folded,
                    "replaced": stored.replaced,
                    "late": stored.late,
                }
                for stored in self.runs[:TOLD]
            ],
            "runs_stored": len(self.runs),
            "runs_gone": self.gone,
            "rounds_new": sum(stored.new for stored in self.runs),
            "rounds_folded": sum(stored.folded for stored in self.runs),
            "rounds_replaced": sum(stored.replaced for stored in self.runs),
            "problems": [
                {"at": masker.text(problem.at), "error": masker.text(problem.error)}
                for problem in self.problems[:TOLD]
            ],
            "problems_found": len(self.problems),
        }


def delivery_process(delivery_id: UUID) -> dict[int, datetime]:
    """Take a delivery into the rows of its runs, or set it aside; safe to do twice, or at once.

    Returns the live runs that are still to be analysed, with the time from which on. Raises what
    another try may mend (`TRANSIENT`), with the delivery as it was.
    """
    attempt = delivery_claim(delivery_id=delivery_id)
    return claimed_process(delivery_id, attempt) if attempt else {}


def claimed_process(delivery_id: UUID, attempt: int) -> dict[int, datetime]:
    """The same for a delivery whose attempt was counted, with the attempt's number."""
    try:
        with turn(), grouped_together():
            return _process(delivery_id, attempt)
    except TRANSIENT as error:
        _take_back(delivery_id)
        if not is_taken(error):
            raise
        enqueue(DELIVER, str(delivery_id), countdown=AGAIN_SECONDS)
    except SoftTimeLimitExceeded:
        _set_aside(delivery_id, ImportProblem("This took too long; it was stopped."))
    except UnreadableError as error:
        _set_aside(delivery_id, error.problem)
    except (SealError, RunRefusedError, MaskingError) as error:
        _set_aside(delivery_id, ImportProblem(str(error)))
    except Exception as error:
        # The text of an unforeseen error may quote the content, so its type alone is told.
        logger.error("delivery %s failed: %s", delivery_id, type(error).__name__)
        _set_aside(delivery_id, ImportProblem(f"An error of Agentdesk: {type(error).__name__}."))
    return {}


def _process(delivery_id: UUID, attempt: int) -> dict[int, datetime]:
    delivery = delivery_locked(delivery_id=delivery_id)
    if delivery is None:
        return {}
    masker = delivery_masker(delivery)
    if attempt > MAX_ATTEMPTS:
        error = masker.text(f"Workers died over it, {MAX_ATTEMPTS} times.")
        delivery_quarantine(delivery=delivery, error=error, outcome={})
        return {}
    outcome = Outcome()
    if delivery.kind == DeliveryKind.SPANS:
        outcome.problems += spans_process(
            project=delivery.project,
            content=delivery_open(delivery=delivery).content,
            store=partial(_store_or_tell, outcome=outcome, assembled=True),
        )
    else:
        _store_each(delivery, outcome)
    told = outcome.told(masker)
    if outcome.problems:
        first = outcome.problems[0]
        delivery_quarantine(
            delivery=delivery,
            error=masker.text(first.error),
            at=masker.text(first.at),
            outcome=told,
        )
    else:
        delivery_store(delivery=delivery, outcome=told)
    return outcome.due


def trace_assemble(pk: int) -> dict[int, datetime]:
    """Put the runs of a trace together that is due or idle. Returns what `delivery_process` does.

    A run that cannot be stored stays as it was; the delivery that brought its spans tells of it
    when it is tried again.
    """
    outcome = Outcome()
    try:
        with turn(), grouped_together():
            trace_process(pk=pk, store=partial(_store_or_tell, outcome=outcome, assembled=True))
    except OperationalError as error:
        if not is_taken(error):
            raise
        enqueue(TRACE_ASSEMBLE, pk, countdown=AGAIN_SECONDS)
        return {}
    for problem in outcome.problems:
        logger.warning("trace %d: a run was not stored (%s)", pk, type(problem).__name__)
    return outcome.due


def _store_each(delivery: Delivery, outcome: Outcome) -> None:
    """Store the delivery's runs. Where it has several, an error of one spares the others."""
    found = runs_read(delivery=delivery, sealed=delivery_open(delivery=delivery))
    begun = list(islice(found, 2))
    several = len(begun) > 1
    if several:
        wait_for_turn(project=delivery.project)
    store = _store_or_tell if several else _store
    live = delivery.kind == DeliveryKind.ROUNDS
    for read in chain(begun, found):
        if isinstance(read, ImportProblem):
            outcome.problems.append(read)
        else:
            store(delivery.project, read, live, outcome)


def runs_read(*, delivery: Delivery, sealed: Sealed) -> Iterator[RunRecord | ImportProblem]:
    """The runs of a delivery; what is sent to a run's own address belongs to that run alone."""
    found = read_runs(sealed.content, format=delivery.format, default_run_id=sealed.run_id or "")
    if delivery.kind not in (DeliveryKind.ROUNDS, DeliveryKind.END):
        return found
    return (_of_run(read, sealed.run_id) for read in found)


def _of_run(read: RunRecord | ImportProblem, run_id: str) -> RunRecord | ImportProblem:
    if isinstance(read, RunRecord) and read.run_id != run_id:
        return ImportProblem("this was sent to another run's address", run_id=read.run_id)
    return read


def _store(
    project: Project, record: RunRecord, live: bool, outcome: Outcome, assembled: bool = False
) -> None:
    """Store and analyse one run."""
    try:
        stored = run_store(project=project, fragment=record, live=live, assembled=assembled)
        due = run_analyse_or_wait(run=stored.run) if stored.changed else None
    except RunGoneError:
        outcome.gone += 1
        return
    except DataError:
        raise RunRefusedError("a number or a time is out of the range that can be stored") from None
    outcome.runs.append(stored)
    if due is not None:
        outcome.due[stored.run.pk] = due


def _store_or_tell(
    project: Project, record: RunRecord, live: bool, outcome: Outcome, assembled: bool = False
) -> None:
    """The same; a run that cannot be stored leaves the others alone."""
    try:
        with transaction.atomic(), grouped_together():
            _store(project, record, live, outcome, assembled)
    except (RunRefusedError, MaskingError) as error:
        outcome.problems.append(ImportProblem(str(error), run_id=record.run_id))


def _set_aside(delivery_id: UUID, problem: ImportProblem) -> None:
    with transaction.atomic():
        delivery = delivery_locked(delivery_id=delivery_id)
        if delivery is None:
            return
        error, at = _masked(delivery, problem)
        delivery_quarantine(delivery=delivery, error=error, at=at, outcome={})


def _masked(delivery: Delivery, problem: ImportProblem) -> tuple[MaskedText, MaskedText]:
    masker = delivery_masker(delivery)
    try:
        return masker.text(problem.error), masker.text(problem.at)
    except MaskingError:
        return masker.text("It could not be read, and why could not be masked."), masker.text("")


def _take_back(delivery_id: UUID) -> None:
    """An outage is no fault of the delivery. Where the database is away this fails too: never
    mind.
    """
    try:
        deliveries_unclaim(delivery_ids=[delivery_id])
    except TRANSIENT:
        logger.warning("delivery %s: the database does not answer", delivery_id)
