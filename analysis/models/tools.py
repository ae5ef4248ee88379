"""What tools did in each run."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from transcripts.fields import MaskedTextField
from transcripts.models import Run


class ToolUse(models.Model):
    """One tool in one run, made by the analysis (see `analysis.tool_totals` for what is counted).

    `steps` are the times of its calls as steps of a fourth of a doubling.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="tool_uses", db_index=False)
    tool = MaskedTextField()
    calls = models.PositiveIntegerField()
    failed = models.PositiveIntegerField(default=0)
    hidden = models.PositiveIntegerField(default=0)
    empty = models.PositiveIntegerField(default=0)
    unanswered = models.PositiveIntegerField(default=0)
    findings = models.PositiveIntegerField(default=0)
    steps = ArrayField(models.PositiveSmallIntegerField(), default=list)

    class Meta:
        ordering = ("run", "tool")
        indexes = (models.Index(fields=("run",), name="tool_use_by_run"),)

    def __str__(self) -> str:
        return f"{self.tool} in run {self.run_id}: {self.calls}"
