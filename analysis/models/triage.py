"""Whose a run is, and what people put on it."""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q

from transcripts.fields import MaskedJSONField
from transcripts.models import Run, User


class RunTriage(models.Model):
    """What people decided about one run: its owner, labels of their own, and whether it is dealt
    with.

    A run without a row has none of these. `labels` are pairs of name and value like those of the
    run, which belong to the sender. `done_at`: dealt with, as a run that was handed off is in the
    end.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="triage")
    owner = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    labels = MaskedJSONField(default=list)
    done_at = models.DateTimeField(null=True, blank=True)
    done_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("run",)
        indexes = (
            models.Index(
                fields=("owner", "run"),
                name="run_triage_by_owner",
                condition=Q(owner__isnull=False),
            ),
            GinIndex(OpClass(F("labels"), name="jsonb_path_ops"), name="run_triage_by_label"),
        )

    def __str__(self) -> str:
        return f"triage of run {self.run_id}"
