"""What people write about runs and incidents."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from analysis.models.incidents import Incident
from transcripts.fields import MaskedTextField
from transcripts.models import Project, Run, User
from transcripts.models.idents import POINTER_LENGTH


class AnnotationKind(models.TextChoices):
    """What an annotation says."""

    NOTE = "note", "comment"
    ROOT_CAUSE = "root_cause", "root cause"
    ODD_ROUND = "odd_round", "first odd round"
    TRIED = "tried", "call tried by hand"


class Annotation(models.Model):
    """A person's note, root cause, or word on the first odd round, of a run or of an incident.

    `pointer` is the round that it is about, `Round.pointer`, empty for the run as a whole; `round`
    is the number that it had then. Of an `odd_round` they are where the first odd round really is
    (empty: nowhere), and `said_round` is what the detectors of `said_suite` said. `cause` is one of
    `analysis.root_causes`. `text` is Markdown. A removed one is kept for a day, to be brought back.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="annotations")
    incident = models.ForeignKey(
        Incident, models.CASCADE, null=True, blank=True, related_name="annotations"
    )
    kind = models.CharField(max_length=12, choices=AnnotationKind)
    pointer = models.CharField(max_length=POINTER_LENGTH, blank=True)
    round = models.PositiveIntegerField(null=True, blank=True)
    said_round = models.PositiveIntegerField(null=True, blank=True)
    said_suite = models.CharField(max_length=40, blank=True)
    cause = models.CharField(max_length=30, blank=True)
    text = MaskedTextField(blank=True)
    fix_link = MaskedTextField(blank=True)
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    mentions = models.ManyToManyField(
        User, related_name="mentioned_in", blank=True, through="analysis.Mention"
    )
    created_at = models.DateTimeField(default=timezone.now)
    edited_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("created_at", "pk")
        constraints = (
            models.CheckConstraint(
                condition=Q(run=None, incident__isnull=False) | Q(run__isnull=False, incident=None),
                name="annotation_of_one",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=AnnotationKind.values), name="annotation_kind_known"
            ),
        )
        indexes = (
            models.Index(
                fields=("project", "kind", "-created_at"),
                name="annotation_by_kind",
                condition=Q(removed_at=None),
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Mention(models.Model):
    """A person whom an annotation names; `read_at` is when they said that they have read it."""

    annotation = models.ForeignKey(Annotation, models.CASCADE)
    user = models.ForeignKey(User, models.CASCADE)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("annotation", "user")
        db_table = "analysis_annotation_mentions"
        unique_together = (("annotation", "user"),)
        indexes = (
            models.Index(fields=("user",), name="mention_unread", condition=Q(read_at=None)),
        )

    def __str__(self) -> str:
        return f"{self.user_id} in annotation {self.annotation_id}"


class AnnotationVersion(models.Model):
    """What an annotation said before it was edited."""

    annotation = models.ForeignKey(Annotation, models.CASCADE, related_name="versions")
    cause = models.CharField(max_length=30, blank=True)
    text = MaskedTextField(blank=True)
    fix_link = MaskedTextField(blank=True)
    until = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-until", "-pk")

    def __str__(self) -> str:
        return f"annotation {self.annotation_id} until {self.until}"
