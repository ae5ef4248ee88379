"""Jobs over many runs: started from a page, done by a worker in steps, and gone on with after one
was killed.

Each step is one transaction that holds the job's row: what it read and where it is are committed
together. A step is short, so that whoever cancels need not wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from analysis.alerts.outbox import untold
from analysis.limits.previews import preview_step
from analysis.lists.bulk import bulk_step
from analysis.lists.taking_back import taking_back_step
from analysis.masking_again import masking_step, trial_step
from analysis.models import Job, JobKind, JobNote, JobState
from analysis.reading_again import reading_step
from analysis.services.incident_arrivals import grouped_together
from transcripts.models import Project, User
from transcripts.queueing import enqueue
from transcripts.undo import UNDONE_WITHIN

# A step returns whether the job is done. It sets the job's figures; `job_advance` saves them.
STEPS: dict[str, Callable[[Job], bool]] = {
    JobKind.PREVIEW: preview_step,
    JobKind.READ_AGAIN: reading_step,
    JobKind.MASK_TRIAL: trial_step,
    JobKind.MASK_AGAIN: masking_step,
    JobKind.ASSIGN: bulk_step,
    JobKind.LABEL: bulk_step,
    JobKind.DELETE: bulk_step,
    JobKind.TAKE_BACK: taking_back_step,
}
JOB_RUN = "agentdesk.tasks.job_run"
# Of these a project may have several at once.
BESIDE_OTHERS = frozenset({JobKind.ASSIGN, JobKind.LABEL, JobKind.DELETE, JobKind.TAKE_BACK})
# These can be taken back.
TAKEN_BACK = frozenset({JobKind.ASSIGN, JobKind.LABEL})
# Finished jobs of a kind that a project keeps.
KEPT = 20


@transaction.atomic
def job_start(
    *,
    project: Project,
    kind: JobKind,
    wanted: dict[str, Any],
    total: int,
    user: User | None,
) -> Job:
    """Add a job; one of its kind that still waits is cancelled (a preview: the same person's), but
    for what is done to chosen runs.
    """
    others = Job.objects.filter(project=project, kind=kind)
    if kind in (JobKind.PREVIEW, JobKind.MASK_TRIAL):
        others = others.filter(user=user)
    if kind not in BESIDE_OTHERS:
        others.filter(state=JobState.WAITING).update(
            state=JobState.CANCELLED, finished_at=timezone.now()
        )
    old = list(
        others.exclude(state=JobState.WAITING).order_by("-pk").values_list("pk", flat=True)[KEPT:]
    )
    Job.objects.filter(pk__in=old).delete()
    return Job.objects.create(project=project, kind=kind, wanted=wanted, total=total, user=user)


def job_go_on(job: Job) -> None:
    """Give a job to a worker; where the queue is away, the sweep does."""
    transaction.on_commit(partial(enqueue, JOB_RUN, job.pk))


def job_cancel(*, job: Job) -> bool:
    """Stop a job after the step that it is at; False where it was over."""
    return bool(
        Job.objects.filter(pk=job.pk, state=JobState.WAITING).update(
            state=JobState.CANCELLED, finished_at=timezone.now()
        )
    )


def job_advance(*, job_pk: int, seconds: float) -> bool:
    """Do steps of a job for so long; returns whether there is more to do.

    False too where another worker is at it, or it was cancelled. Safe to run twice.
    """
    end = time.monotonic() + seconds
    while True:
        with transaction.atomic(), untold(), grouped_together():
            job = (
                Job.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
                .filter(pk=job_pk, state=JobState.WAITING)
                .select_related("project")
                .first()
            )
            if job is None:
                return False
            done = STEPS[job.kind](job)
            job.stepped_at = timezone.now()
            if done:
                job.state, job.finished_at = JobState.DONE, job.stepped_at
            job.save()
        if done:
            return False
        if time.monotonic() >= end:
            return True


def jobs_left(*, older_than: timedelta) -> list[int]:
    """Jobs that no worker has been at for so long."""
    left = Job.objects.filter(state=JobState.WAITING, stepped_at__lt=timezone.now() - older_than)
    return list(left.order_by("pk").values_list("pk", flat=True))


def notes_forget() -> int:
    """Delete what jobs noted that nobody can take back any more; returns how much."""
    old = Job.objects.filter(kind__in=TAKEN_BACK, created_at__lt=timezone.now() - UNDONE_WITHIN)
    return JobNote.objects.filter(job__in=old.values("pk")).delete()[0]


def job_by_id(*, project: Project, pk: int) -> Job | None:
    """One job of the project."""
    return Job.objects.filter(project=project, pk=pk).select_related("user").first()


def job_latest(*, project: Project, kind: JobKind, user: User | None = None) -> Job | None:
    """The project's latest job of a kind, or one person's."""
    wanted = Q(project=project, kind=kind)
    if user is not None:
        wanted &= Q(user=user)
    return Job.objects.filter(wanted).select_related("user").order_by("-pk").first()
