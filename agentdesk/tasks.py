"""What the queue starts. Arguments are ids; what is to be done stands in Postgres."""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.core.management import call_command
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from agentdesk import keeping, pipeline
from agentdesk.draining import deliveries_process
from agentdesk.pipeline import delivery_process
from agentdesk.traces import TRACE_ASSEMBLE
from analysis.alerts.channels import removed_forget
from analysis.alerts.looking import rules_look
from analysis.alerts.outbox import ALERTS_SEND
from analysis.alerts.sending import channels_due, messages_forget, messages_send
from analysis.jobs import JOB_RUN, job_advance, jobs_left, notes_forget
from analysis.limits.learning import baselines_refresh
from analysis.services.annotations import annotations_forget
from analysis.services.cases import cases_forget
from analysis.services.incident_aging import incidents_age, incidents_recount
from analysis.services.incident_catch_up import runs_group_catch_up
from analysis.services.mention_mail import mention_send
from analysis.services.quiet import quiet_runs_close
from analysis.services.verdicts import stale_run_analyse, stale_runs
from transcripts.mail import password_link_send
from transcripts.models import Project, User
from transcripts.queueing import (
    DELIVER,
    INDEX_TEXTS,
    RUN_ANALYSE,
    RUN_EMPTY,
    drain_begins,
    enqueue,
    enqueue_drain,
    enqueue_index,
    index_begins,
)
from transcripts.selectors.deliveries import deliveries_wait
from transcripts.services.deliveries import DRAINED_AT_ONCE, deliveries_claim, deliveries_left
from transcripts.services.held import held_expire
from transcripts.services.invitations import invitations_forget
from transcripts.services.live_test import live_test_step
from transcripts.services.text_index import texts_are_late, texts_catch_up
from transcripts.services.traces import traces_due, traces_put_away
from transcripts.undo import changes_forget

logger = logging.getLogger(__name__)

RETRIED = (OperationalError, InterfaceError)
PROJECT_RETAIN = "agentdesk.tasks.project_retain"
# What is still there at the second sweep after it was queued, the queue has lost, or is behind
# with.
SWEEPS_WAITED = 2
# A job hands its worker back after so long, so that deliveries need not wait for its end.
JOB_SLICE_SECONDS = 10
# Indexing for search hands its worker back after so long, and goes on behind what waits.
INDEX_SLICE_SECONDS = 0.5
# While deliveries wait it lets them pass, but for no longer than this.
INDEX_WITHIN = timedelta(seconds=30)
# The grouping of old runs, which takes the lock of a project's incidents run by run; shorter while
# deliveries wait.
GROUP_SECONDS, GROUP_BESIDE_SECONDS = 3.0, 0.5
# A job that no worker has been at for so long has lost its place in the queue.
JOB_IDLE = timedelta(seconds=20)
# A live run's pending pass that the queue lost is made up for after so long.
STALE_AFTER = timedelta(seconds=10)


@shared_task(autoretry_for=RETRIED, retry_backoff=1, retry_backoff_max=30, max_retries=5)
def deliver(delivery_id: str) -> None:
    """Process the small deliveries that wait, and this one. Safe to run twice."""
    drain_begins()
    claimed = deliveries_claim()
    if len(claimed) == DRAINED_AT_ONCE:
        # There may be more, which another worker can go on with.
        enqueue_drain(str(claimed[-1]))
    if claimed:
        _queue_analyses(deliveries_process(claimed))
    if UUID(delivery_id) not in claimed:
        _queue_analyses(delivery_process(UUID(delivery_id)))
    enqueue_index()


@shared_task
def password_link(user_pk: int) -> None:
    """Mail a link to who forgot a password; 0 is nobody, who asked with an unknown address."""
    user = User.objects.filter(pk=user_pk, is_active=True).first()
    if user is not None:
        password_link_send(user=user)


@shared_task
def mention_mail(told: str) -> None:
    """Mail somebody that they are mentioned: "ANNOTATION PERSON"."""
    annotation_pk, user_pk = told.split(" ")
    mention_send(annotation_pk=int(annotation_pk), user_pk=int(user_pk))


@shared_task
def live_test(step: str) -> None:
    """Send the next round of a live test run: "PROJECT RUN NUMBER". Safe to run twice; one that is
    lost ends the run as quiet.
    """
    project_pk, run_id, number = step.split(" ")
    project = Project.objects.filter(pk=project_pk).first()
    if project is not None:
        live_test_step(project=project, run_id=run_id, number=int(number))


@shared_task
def sessions_tidy() -> None:
    """Delete sessions that are over."""
    call_command("clearsessions")


@shared_task(autoretry_for=RETRIED, retry_backoff=1, retry_backoff_max=30, max_retries=5)
def trace_assemble(trace_pk: int) -> None:
    """Put the runs of a trace together with what has come of it. Safe to run twice."""
    _queue_analyses(pipeline.trace_assemble(trace_pk))
    enqueue_index()


def _queue_analyses(due: dict[int, datetime]) -> None:
    for run_pk, at in due.items():
        wait = max(0.0, (at - timezone.now()).total_seconds())
        enqueue(RUN_ANALYSE, run_pk, countdown=wait)


@shared_task(autoretry_for=RETRIED, retry_backoff=1, retry_backoff_max=30, max_retries=5)
def run_analyse(run_pk: int) -> bool:
    """Let the detectors read a live run that was marked for it. Safe to run twice."""
    return stale_run_analyse(run_pk=run_pk)


@shared_task(autoretry_for=RETRIED, retry_backoff=1, retry_backoff_max=30, max_retries=5)
def job_run(job_pk: int) -> None:
    """Go on with a job for a while, and queue it again. Safe to run twice."""
    if job_advance(job_pk=job_pk, seconds=JOB_SLICE_SECONDS):
        enqueue(JOB_RUN, job_pk)


@shared_task(ignore_result=True)
def learn() -> int:
    """Learn what is normal for agents with new finished runs. Safe to run twice."""
    return baselines_refresh()


@shared_task(ignore_result=True)
def close_quiet() -> int:
    """End live runs to which nothing came for long. Safe to run twice."""
    return quiet_runs_close()


@shared_task(ignore_result=True)
def age_incidents() -> int:
    """Let incidents escalate, calm down and be looked at again, and count them where runs were
    deleted. Safe to run twice.
    """
    return incidents_age() + incidents_recount()


@shared_task(ignore_result=True)
def retention() -> None:
    """Go on with runs that are half removed, empty test cases that were deleted, and queue each
    project with rules. Safe to run twice.
    """
    cases_forget()
    keeping.runs_empty(end=time.monotonic() + JOB_SLICE_SECONDS)
    for project_pk in keeping.projects_with_rules():
        enqueue(PROJECT_RETAIN, project_pk)


@shared_task(autoretry_for=RETRIED, retry_backoff=1, retry_backoff_max=30, max_retries=5)
def project_retain(project_pk: int) -> None:
    """Remove what is past its days in a project, for a while, and queue it again. Safe to run
    twice.
    """
    if keeping.project_retain(project_pk=project_pk, seconds=JOB_SLICE_SECONDS):
        enqueue(PROJECT_RETAIN, project_pk)


@shared_task(autoretry_for=RETRIED, retry_backoff=1, retry_backoff_max=30, max_retries=5)
def run_empty(run_pk: int) -> None:
    """Remove the rows of a marked run, for a while, and queue it again. Safe to run twice."""
    if not keeping.run_empty(run_pk, end=time.monotonic() + JOB_SLICE_SECONDS):
        enqueue(RUN_EMPTY, run_pk)


@shared_task(autoretry_for=RETRIED, retry_backoff=1, retry_backoff_max=30, max_retries=5)
def alerts_send(channel_pk: int) -> None:
    """Send what is due on a channel. Safe to run twice, and at once."""
    messages_send(channel_pk=channel_pk)


@shared_task(ignore_result=True)
def alerts_look() -> int:
    """Let rules look at what came since they looked last, and forget old messages. Safe to run
    twice.
    """
    messages_forget()
    return rules_look()


@shared_task(ignore_result=True)
def index_texts(_: int = 0) -> None:
    """Index for search what was stored, once no delivery waits, and queue it again while there is
    more. Safe to run twice.
    """
    index_begins()
    if deliveries_wait() and not texts_are_late(than=INDEX_WITHIN):
        enqueue_index()
    elif texts_catch_up(seconds=INDEX_SLICE_SECONDS):
        enqueue(INDEX_TEXTS, 0)


@shared_task(ignore_result=True)
def group_runs() -> int:
    """Group runs that were stored before there were incidents. Safe to run twice."""
    return runs_group_catch_up(seconds=GROUP_BESIDE_SECONDS if deliveries_wait() else GROUP_SECONDS)


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
    idle = timedelta(seconds=settings.AGENTDESK_TRACE_IDLE_SECONDS)
    traces = traces_due(older_than=STALE_AFTER, idle=idle)
    for trace_pk in traces:
        enqueue(TRACE_ASSEMBLE, trace_pk)
    traces_put_away(kept=timedelta(seconds=settings.AGENTDESK_TRACE_KEEP_SECONDS))
    held_expire()
    jobs = jobs_left(older_than=JOB_IDLE)
    for job_pk in jobs:
        enqueue(JOB_RUN, job_pk)
    changes_forget()
    removed_forget()
    notes_forget()
    invitations_forget()
    annotations_forget()
    channels = channels_due()
    for channel_pk in channels:
        enqueue(ALERTS_SEND, channel_pk)
    if left:
        logger.info("swept %d deliveries", len(left))
    return len(left) + len(stale) + len(traces) + len(jobs) + len(channels)
