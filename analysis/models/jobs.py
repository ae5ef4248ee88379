"""Work over many runs."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from transcripts.fields import MaskedJSONField
from transcripts.models import Project, Run, User


class JobKind(models.TextChoices):
    """What a job does with the runs that it reads."""

    PREVIEW = "preview", "shows what other limits would say"
    READ_AGAIN = "read_again", "reads past runs again"
    MASK_TRIAL = "mask_trial", "shows what other choices would mask"
    MASK_AGAIN = "mask_again", "masks past runs again"
    ASSIGN = "assign", "gives runs an owner"
    LABEL = "label", "labels runs"
    DELETE = "delete", "deletes runs"
    TAKE_BACK = "take_back", "puts runs back as they were"


class JobState(models.TextChoices):
    """Where a job is. A job that waits is one that a worker may be at."""

    WAITING = "waiting", "at work"
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"


class Job(models.Model):
    """Work over many runs, done by a worker in steps; all of its state is here.

    `total` runs are to be read, `read` were, `changed` of them came out differently; `cursor` is
    the last one's id, so that a killed job goes on where it was. `wanted` says what is to be done
    and `result` what came of it (see `analysis.jobs`, `analysis.limits.previews` and
    `analysis.masking_again`).
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=12, choices=JobKind)
    state = models.CharField(max_length=12, choices=JobState, default=JobState.WAITING)
    wanted = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    total = models.PositiveIntegerField(default=0)
    read = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    cursor = models.BigIntegerField(null=True, blank=True)
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    stepped_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        indexes = (
            models.Index(fields=("project", "-id"), name="job_by_project"),
            models.Index(
                fields=("stepped_at",), name="job_waiting", condition=Q(state=JobState.WAITING)
            ),
        )
        constraints = (
            models.CheckConstraint(condition=Q(kind__in=JobKind.values), name="job_kind_known"),
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_known"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.read} of {self.total}, {self.state}"

    @property
    def waits(self) -> bool:
        return self.state == JobState.WAITING

    @property
    def is_trial(self) -> bool:
        """Whether it shows what something would do, and does nothing."""
        return self.kind in (JobKind.PREVIEW, JobKind.MASK_TRIAL)

    @property
    def is_masking(self) -> bool:
        return self.kind in (JobKind.MASK_TRIAL, JobKind.MASK_AGAIN)

    @property
    def percent(self) -> int:
        return 100 if not self.total else min(100, self.read * 100 // self.total)


class JobNote(models.Model):
    """What one run had before a job over chosen runs changed it: its owner, or the pairs of the
    label that it was given. Kept for a day, so that the job can be taken back.
    """

    job = models.ForeignKey(Job, models.CASCADE, related_name="notes", db_index=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="job_notes")
    owner = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    labels = MaskedJSONField(default=list)

    class Meta:
        ordering = ("job", "pk")
        indexes = (models.Index(fields=("job", "id"), name="job_note_in_order"),)

    def __str__(self) -> str:
        return f"run {self.run_id} before job {self.job_id}"
