"""Every write of what we think of a run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from analysis.alerts.outbox import run_tell
from analysis.cells import cells_of, last_round
from analysis.detectors.base import Finding as Found
from analysis.detectors.limits import Limits
from analysis.detectors.reading.prices import RunCost, cost_of, window_of
from analysis.grouping import GROUPING
from analysis.limits.sets import Applied, baseline_of, known_limits
from analysis.models import Finding, Verdict
from analysis.services.incident_arrivals import run_group
from analysis.services.tool_uses import tool_uses_of
from analysis.suite import Analysis, analyse, suite_version
from analysis.wasted import Wasted
from transcripts.choices import Ending
from transcripts.masking.types import MaskedRun, MaskedText, derived_text
from transcripts.models import Run
from transcripts.selectors.record import run_record
from transcripts.services import rows
from transcripts.services.inserts import rows_insert
from transcripts.services.runs import run_locked

# A live run is read again at most once a second, and never for more than a tenth of the time.
LIVE_INTERVAL_MS = 1000.0
REST_FACTOR = 10
DETECTOR_LENGTH = 40
# What no column holds, and nothing costs or reads.
TOO_MUCH = 10**13


def run_analyse(*, run: Run) -> Verdict:
    """Let all detectors read the run, and put verdict and findings in the place of those before;
    then the run joins the incidents of its faults, and leaves others.

    Needs a transaction that holds the run's lock, as after `run_store`. Raises ValueError where the
    run's transcript was removed: what was found then is all that can be known.
    """
    if run.text_removed_at is not None:
        raise ValueError("there is no transcript to read")
    started = time.perf_counter()
    masked = run_record(run=run)
    cost = cost_of(masked.record)
    applied = applied_limits(run=run, currency=cost.currency if cost else "")
    analysis = analyse(masked.record, applied.limits)
    verdict = _verdict(run, masked, analysis, applied)
    _measure(verdict, masked, applied.limits, cost)
    verdict.took_ms = (time.perf_counter() - started) * 1000
    fresh = not rows.fetch(_HAS_VERDICT, (run.pk,))
    if not fresh:
        rows.execute(_FORGET, (run.pk, run.pk))
    rows_insert(
        verdict,
        *(
            _finding(run, masked, order, found, analysis.wasted_each.get(order))
            for order, found in enumerate(analysis.findings)
        ),
        *tool_uses_of(run=run, masked=masked, totals=analysis.tools),
        replacing=not fresh,
    )
    run_group(run=run, masked=masked, analysis=analysis, fresh=fresh)
    first: dict[str, int] = {}
    for found in analysis.findings:
        first.setdefault(found.detector, found.round)
    run_tell(run=run, verdict=verdict, detectors=first)
    return verdict


def applied_limits(*, run: Run, currency: str) -> Applied:
    """The limits that hold for a run, with what was learned of its agent. One query."""
    agent = str(run.agent)
    book, learned = known_limits(project_id=run.project_id, agent=agent)
    return book.applied(agent, baseline_of(learned, currency=currency))


def run_analyse_or_wait(*, run: Run) -> datetime | None:
    """Read the run now, or, where it is live and was just read, mark it; returns when it is due,
    where this is the first mark since it was read.
    """
    marked = _mark(run) if run.ending == Ending.OPEN else None
    if marked is None:
        run_analyse(run=run)
        return None
    due, is_first = marked
    return due if is_first else None


def stale_run_analyse(*, run_pk: int) -> bool:
    """Read a marked run; False where it was read in the meantime, or is gone. Safe to run twice."""
    with transaction.atomic():
        run = run_locked(pk=run_pk)
        if run is None or not Verdict.objects.filter(run=run, stale_since__isnull=False).exists():
            return False
        if run.text_removed_at is not None:
            Verdict.objects.filter(run=run).update(stale_since=None)
            return False
        run_analyse(run=run)
    return True


def stale_runs(*, older_than: timedelta, limit: int = 500) -> list[int]:
    """Marked runs whose reading is overdue, the oldest first."""
    late = Verdict.objects.filter(stale_since__lt=timezone.now() - older_than)
    return list(late.order_by("stale_since", "pk").values_list("pk", flat=True)[:limit])


_HAS_VERDICT = "SELECT 1 FROM analysis_verdict WHERE run_id = %s"
_FORGET = """
WITH findings AS (DELETE FROM analysis_finding WHERE run_id = %s)
DELETE FROM analysis_tooluse WHERE run_id = %s
"""
_MARK = """
UPDATE analysis_verdict SET stale_since = coalesce(stale_since, now())
WHERE run_id = %s
  AND analysed_at + greatest(%s, took_ms * %s) * interval '1 millisecond' > now()
RETURNING analysed_at + greatest(%s, took_ms * %s) * interval '1 millisecond',
          stale_since = now()
"""


def _mark(run: Run) -> tuple[datetime, bool] | None:
    """Mark a run that was just read; returns when it may be read again, and whether this is the
    first mark since. None: it may be read now.
    """
    rest = (LIVE_INTERVAL_MS, REST_FACTOR)
    with connection.cursor() as cursor:
        cursor.execute(_MARK, (run.pk, *rest, *rest))
        found = cursor.fetchone()
    return (found[0], bool(found[1])) if found else None


def _measure(verdict: Verdict, masked: MaskedRun, limits: Limits, cost: RunCost | None) -> None:
    """What the run cost and how much its model can read, with where that is known from."""
    if cost is not None and cost.amount < TOO_MUCH:
        verdict.cost = cost.amount
        verdict.cost_currency = derived_text(cost.currency, masked)
        verdict.cost_computed = cost.computed
        verdict.cost_rounds = cost.rounds
    run = masked.record
    for window, source in (
        (run.context_window, "the run"),
        (limits.context_window, "the settings"),
        (window_of(run), "the price list"),
    ):
        if window and window < TOO_MUCH:
            verdict.context_window, verdict.window_from = window, source
            return


def _verdict(run: Run, masked: MaskedRun, analysis: Analysis, applied: Applied) -> Verdict:
    verdict, odd = analysis.verdict, analysis.verdict.first_odd
    return Verdict(
        run=run,
        project_id=run.project_id,
        kind=verdict.kind.value,
        flagged=verdict.flagged,
        sentence=derived_text(verdict.sentence, masked),
        odd_round=odd.round if odd else None,
        odd_call=odd.call if odd else None,
        odd_detector=odd.detector if odd else "",
        odd_tool=derived_text(odd.tool, masked) if odd else "",
        odd_why=derived_text(odd.why, masked) if odd else "",
        recovered_at=odd.recovered_at if odd else None,
        strip=analysis.strip,
        cells=cells_of(
            masked.record.rounds,
            last=last_round(last=run.last_round, completeness=run.completeness),
        ),
        wasted=_wasted(analysis.wasted),
        wasted_rounds=len(analysis.wasted.rounds),
        errors=analysis.errors,
        suite=suite_version(),
        limits=applied.digest,
        grouping=GROUPING,
    )


def _finding(
    run: Run, masked: MaskedRun, order: int, found: Found, wasted: Wasted | None
) -> Finding:
    return Finding(
        run=run,
        order=order,
        detector=found.detector[:DETECTOR_LENGTH],
        version=found.version,
        severity=found.severity.value,
        odd=found.odd,
        round=found.round,
        to_round=found.to_round,
        call=found.call,
        tool=derived_text(found.tool, masked),
        why=derived_text(found.why, masked),
        cause=derived_text(found.cause, masked),
        fix=derived_text(found.fix, masked),
        evidence=[{"round": place.round, "call": place.call} for place in found.evidence],
        values=_derived(found.values, masked),
        wasted=_wasted(wasted) if wasted else {},
        recovered_at=found.recovered_at,
    )


def _wasted(wasted: Wasted) -> dict[str, Any]:
    return {
        "rounds": len(wasted.rounds),
        "tokens": wasted.tokens,
        "cost": None if wasted.cost is None else str(wasted.cost),
        "seconds": wasted.seconds,
    }


def _derived(value: Any, masked: MaskedRun) -> Any:
    """A detector's compared values as JSON, its texts marked as made of masked ones."""
    if isinstance(value, MaskedText):
        return value
    if isinstance(value, str):
        return derived_text(value, masked)
    if isinstance(value, Mapping):
        return {str(name): _derived(part, masked) for name, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_derived(part, masked) for part in value]
    if isinstance(value, Decimal):
        return derived_text(str(value), masked)
    return value
