"""What full-text search looks at."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils import timezone

from transcripts.models.runs import Run


class RunText(models.Model):
    """The words of some rounds of a run, made of masked text alone (see `transcripts.text_index`).

    `rounds` ascend; round 0 is what the run is named by. Where in a round a word stands is not
    kept: that would make the index a third larger, and is soon found in the texts of the few runs
    that a page shows.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="texts", db_index=False)
    first_round = models.PositiveIntegerField()
    last_round = models.PositiveIntegerField()
    rounds = ArrayField(models.PositiveIntegerField())
    words = SearchVectorField()

    class Meta:
        ordering = ("run", "first_round", "pk")
        indexes = (
            models.Index(fields=("run", "first_round"), name="run_text_by_run"),
            GinIndex(fields=("words",), name="run_text_words"),
        )

    def __str__(self) -> str:
        return f"words of rounds {self.first_round} to {self.last_round} of run {self.run_id}"


class RunTextDue(models.Model):
    """A run of which something is not in the text index yet; the row goes when it is. A table of
    its own, since a change of the run itself would be written to each of its indexes.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="text_due")
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("since", "run")

    def __str__(self) -> str:
        return f"run {self.run_id} since {self.since}"
