"""Groups runs that were stored before there were incidents, or by an older way of grouping."""

from __future__ import annotations

import logging
import time

from django.db import InterfaceError, OperationalError, transaction

from analysis.alerts.outbox import untold
from analysis.detectors.reading.prices import cost_of
from analysis.grouping import ENDED, GROUPING, Fault, faults_of
from analysis.models import Finding, Verdict
from analysis.services.incident_arrivals import grouped_together, run_group_late
from analysis.services.verdicts import applied_limits
from analysis.suite import analyse
from transcripts.models import Run
from transcripts.selectors.record import run_record
from transcripts.services.runs import run_locked

logger = logging.getLogger(__name__)

# Runs that are looked up at once.
CAUGHT_UP = 500


def runs_group_catch_up(*, seconds: float) -> int:
    """Group flagged runs that are behind, the oldest first, for so long; returns how many.

    Each joins as it would have when it came in, and no alert tells of it. Its verdict and findings
    stay as they are. Safe to run twice, and beside others.
    """
    end = time.monotonic() + seconds
    behind = Verdict.objects.filter(flagged=True, grouping__lt=GROUPING).order_by("pk")
    done = 0
    for pk in list(behind.values_list("pk", flat=True)[:CAUGHT_UP]):
        if time.monotonic() >= end:
            break
        done += _catch_up(pk)
    return done


def _catch_up(pk: int) -> bool:
    with transaction.atomic(), untold():
        run = run_locked(pk=pk)
        verdict = Verdict.objects.filter(run=pk, flagged=True, grouping__lt=GROUPING).first()
        if run is None or verdict is None:
            return False
        try:
            with transaction.atomic(), grouped_together():
                _group(run, verdict)
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            # One run must not hold up the others. A message may quote it: the type alone is told.
            logger.error("run %s could not be grouped: %s", pk, type(error).__name__)
        Verdict.objects.filter(run=pk).update(grouping=GROUPING)
    return True


def _group(run: Run, verdict: Verdict) -> None:
    if run.text_removed_at is not None:
        # Nothing is left of what would tell its fault from others.
        return
    masked = run_record(run=run)
    cost = cost_of(masked.record)
    applied = applied_limits(run=run, currency=cost.currency if cost else "")
    faults = faults_of(masked.record, analyse(masked.record, applied.limits))
    run_group_late(run=run, masked=masked, faults=_that_are_shown(faults, verdict))


def _that_are_shown(faults: list[Fault], verdict: Verdict) -> list[Fault]:
    """Those that the run's page shows too: by the detectors or the limits of now there may be
    others, which it has when it is read again.
    """
    found = Finding.objects.filter(run=verdict.run_id).values_list("detector", "round")
    shown = set(found)
    return [
        fault
        for fault in faults
        if fault.detector == ENDED or (fault.detector, fault.round) in shown
    ]
