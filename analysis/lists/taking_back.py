"""Takes back what a job over chosen runs did; what somebody has changed since stays."""

from __future__ import annotations

from collections.abc import Callable

from analysis.lists.bulk import STEP, label_of, may_go_on
from analysis.models import Job, JobKind, JobNote
from analysis.services.run_triage import labels_return, owners_return


def taking_back_step(job: Job) -> bool:
    """Put the next runs back as they were before the job of `wanted`; True once all are."""
    done = Job.objects.filter(project=job.project_id, pk=job.wanted["job"]).first()
    if done is None or not may_go_on(job):
        return True
    left = JobNote.objects.filter(job=done, pk__gt=job.cursor or 0).order_by("pk")
    notes = list(left[:STEP])
    if notes:
        back = _BACK[done.kind](done, notes)
        job.read += len(notes)
        job.changed += back
        job.cursor = notes[-1].pk
    return len(notes) < STEP


def _owners(done: Job, notes: list[JobNote]) -> int:
    before = {note.run_id: note.owner_id for note in notes}
    return owners_return(project=done.project, before=before, after=done.wanted["owner"])


def _labels(done: Job, notes: list[JobNote]) -> int:
    return labels_return(
        project=done.project,
        before={note.run_id: note.labels for note in notes},
        label=label_of(done.project, done.wanted["label"]),
        put=done.wanted["put"],
    )


_BACK: dict[str, Callable[[Job, list[JobNote]], int]] = {
    JobKind.ASSIGN: _owners,
    JobKind.LABEL: _labels,
}
