"""Live runs that went quiet: when they count as over is a limit of their project or agent."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analysis.limits.sets import LimitBook, limit_book
from analysis.models import LimitSet
from analysis.services.verdicts import run_analyse
from transcripts.choices import Ending
from transcripts.models import Run
from transcripts.services.quiet import run_close
from transcripts.services.runs import run_locked


def quiet_runs_close(*, limit: int = 200) -> int:
    """End the live runs that were quiet for longer than their limit, the longest first, and let the
    detectors read them again. Returns how many. Safe to run twice.
    """
    now = timezone.now()
    shortest = min([settings.AGENTDESK_RUN_IDLE_SECONDS, *_limits_set()])
    open_runs = Run.objects.filter(
        ending=Ending.OPEN,
        text_removed_at=None,
        updated_at__lt=now - timedelta(seconds=shortest),
    )
    books: dict[int, LimitBook] = {}
    closed = 0
    for pk, project_id, agent, updated_at in (
        open_runs.order_by("updated_at", "pk")
        .values_list("pk", "project_id", "agent", "updated_at")
        .iterator()
    ):
        if project_id not in books:
            books[project_id] = limit_book(project_id=project_id)
        quiet_for = books[project_id].idle(str(agent))
        # Runs whose limit is longer are passed over before any lock, and do not count: they would
        # keep those behind them waiting for as long as they are open.
        if updated_at < now - quiet_for:
            closed += _close(pk, quiet_for)
        if closed == limit:
            break
    return closed


def _close(pk: int, quiet_for: timedelta) -> bool:
    with transaction.atomic():
        run = run_locked(pk=pk)
        if run is None or run.text_removed_at is not None:
            return False
        if not run_close(run=run, quiet_for=quiet_for):
            return False
        run_analyse(run=run)
    return True


def _limits_set() -> list[float]:
    rows = LimitSet.objects.filter(values__has_key="idle_seconds").values_list("values", flat=True)
    return [float(values["idle_seconds"]) for values in rows]
