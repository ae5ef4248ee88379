"""Changes that people made and can take back."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from transcripts.fields import MaskedJSONField
from transcripts.models.people import Project, User


class Change(models.Model):
    """One change that a person made, with what is needed to take it back.

    `kind` names the function that does (see `transcripts.undo`), `before` is what it needs.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    before = MaskedJSONField(default=dict)
    at = models.DateTimeField(default=timezone.now, db_index=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.kind} by {self.user_id}"
