"""How long runs are kept, which must be kept, and which must not come back."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from transcripts.fields import MaskedTextField
from transcripts.models.people import Project, User
from transcripts.models.runs import Run


class RetentionRule(models.Model):
    """How many days the runs of a project are kept after the last thing came of them; of all of
    them, or of those with one label.

    `text_days` is for their transcripts, `metadata_days` for all of them. None: for ever, or as the
    project says where a label is set.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    label_name = MaskedTextField(blank=True)
    label_value = MaskedTextField(blank=True)
    text_days = models.PositiveIntegerField(null=True, blank=True)
    metadata_days = models.PositiveIntegerField(null=True, blank=True)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("project", "label_name", "label_value")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "label_name", "label_value"), name="retention_rule_once"
            ),
            models.CheckConstraint(
                condition=Q(text_days=None) | Q(text_days__gte=1), name="retention_text_days"
            ),
            models.CheckConstraint(
                condition=Q(metadata_days=None) | Q(metadata_days__gte=1),
                name="retention_metadata_days",
            ),
        )

    def __str__(self) -> str:
        label = f"{self.label_name}={self.label_value}" if self.label_name else "all runs"
        return f"{label}: text {self.text_days} days, all {self.metadata_days} days"


class RunHold(models.Model):
    """A legal hold on one run: neither retention nor a person removes it while this is here."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="hold")
    why = MaskedTextField()
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-at",)

    def __str__(self) -> str:
        return f"hold on run {self.run_id}"


class ErasedRun(models.Model):
    """A run that was erased: what comes of it again is not kept. `digest` is that of `Run`."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=16)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("project", "-at")
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="erased_run_once"),
        )

    def __str__(self) -> str:
        return f"an erased run of project {self.project_id}"
