"""What the queue starts. Arguments are ids; what is to be done stands in Postgres."""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from agentdesk.pipeline import delivery_process
from analysis.services import stale_run_analyse, stale_runs
from transcripts.queueing import enqueue
from transcripts.services.deliveries import deliveries_left

logger = logging.getLogger(__name__)

RETRIED = (OperationalError, InterfaceError)
DELIVER = "agentdesk.tasks.deliver"
RUN_ANALYSE = "agentdesk.tasks.run_analyse"
# What is still there at the second sweep after it was queued, the queue has lost, or is behind
# with.
SWEEPS_WAITED = 2
# A live run's pending pass that the queue lost is made up for after so long.
STALE_AFTER = timedelta(seconds=10)


@shared_task(autoretry_for=RETRIED, retry_backoff=1, retry_backoff_max=30, max_retries=5)
def deliver(delivery_id: str) -> None:
    """Process one delivery. Safe to run twice."""
    for run_pk, due in delivery_process(UUID(delivery_id)).items():
        wait = max(0.0, (due - timezone.now()).total_seconds())
        enqueue(RUN_ANALYSE, run_pk, countdown=wait)


@shared_task(autoretry_for=RETRIED, retry_backoff=1, retry_backoff_max=30, max_retries=5)
def run_analyse(run_pk: int) -> bool:
    """Let the detectors read a live run that was marked for it. Safe to run twice."""
    return stale_run_analyse(run_pk=run_pk)


@shared_task(ignore_result=True)
def sweep() -> int:
    """Put on the queue what was left behind; returns how much. Safe to run twice."""
    waited = timedelta(seconds=SWEEPS_WAITED * settings.AGENTDESK_SWEEP_SECONDS)
    left = [str(pk) for pk in deliveries_left(waited=waited)]
    stale = stale_runs(older_than=STALE_AFTER)
    for delivery_id in left:
        enqueue(DELIVER, delivery_id)
    for run_pk in stale:
        enqueue(RUN_ANALYSE, run_pk)
    if left:
        logger.info("swept %d deliveries", len(left))
    return len(left) + len(stale)
