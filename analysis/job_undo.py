"""Takes back what a job over chosen runs did, by another job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from analysis.jobs import job_advance, job_by_id, job_go_on, job_start
from analysis.models import Job, JobKind
from transcripts.access import May, Reader
from transcripts.models import Change
from transcripts.undo import UNDONE_WITHIN, UndoError, undoes

JOB = "job_over_runs"
# What is back within it is told at once; else a worker goes on with it.
AT_ONCE_SECONDS = 0.8


@undoes(JOB, may=May.TRIAGE)
def job_back(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Put runs back as they were before the job; those that somebody has changed since stay."""
    job = job_by_id(project=reader.project, pk=noted["job"])
    if job is None:
        raise UndoError("What the job did is not known any more.")
    if job.waits:
        raise UndoError("The job is still at work. Cancel it first.")
    back = job_start(
        project=reader.project,
        kind=JobKind.TAKE_BACK,
        wanted={"job": job.pk, "list": job.wanted.get("list", "")},
        total=job.changed,
        user=reader.user,
    )
    if job_advance(job_pk=back.pk, seconds=AT_ONCE_SECONDS):
        job_go_on(back)
        return f"{job.changed:,} runs are being put back as they were."
    back.refresh_from_db()
    return job_words(back)


def job_words(back: Job) -> str:
    """What came of a job that took another one back."""
    runs = f"{back.changed:,} run{' is' if back.changed == 1 else 's are'}"
    others = back.read - back.changed
    if not others:
        return f"{runs} as before."
    stay = "stays" if others == 1 else "stay"
    return f"{runs} as before; {others:,} that somebody has changed since {stay} as now."


def change_of_job(reader: Reader, job: Job) -> Change | None:
    """The change by which the reader can take a job of theirs back; None where it cannot be."""
    own = Change.objects.filter(project=reader.project, user=reader.user, kind=JOB, undone_at=None)
    recent = own.filter(at__gte=timezone.now() - UNDONE_WITHIN, before__job=job.pk)
    return None if job.waits or not job.changed else recent.first()


def job_that_took_back(job: Job) -> Job | None:
    """The latest job that took this one back, or is at it."""
    back = Job.objects.filter(project=job.project_id, kind=JobKind.TAKE_BACK, wanted__job=job.pk)
    return back.order_by("-pk").first()
