"""The limits that detectors go by, set by people or learned."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from transcripts.fields import MaskedTextField
from transcripts.models import Project


class LimitSet(models.Model):
    """Limits that people set for a project, for one of its agents, for a tool, or for both.

    `agent` and `tool` are names, empty: all of them; a tool may end in `*`. `values` holds what is
    set, by name (see `analysis.limits.sets`); what is not in it comes from the wider set.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    agent = MaskedTextField(blank=True)
    tool = MaskedTextField(blank=True)
    values = models.JSONField(default=dict)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("project", "agent", "tool")
        constraints = (
            models.UniqueConstraint(fields=("project", "agent", "tool"), name="limit_set_once"),
        )

    def __str__(self) -> str:
        return f"limits of {self.project_id}/{self.agent or '*'}/{self.tool or '*'}"


class LearnedBaseline(models.Model):
    """What is normal for one agent of a project, learned from its latest `runs` finished runs.

    `cost_medians` maps a currency to [median, normal runs that it is the median of];
    `tool_ms_p95` tools to milliseconds; `silent_tools` tools to [empty answers, answers].
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    agent = models.CharField(max_length=300, blank=True)
    runs = models.PositiveIntegerField()
    rounds_p95 = models.FloatField(null=True, blank=True)
    seconds_p95 = models.FloatField(null=True, blank=True)
    cost_medians = models.JSONField(default=dict)
    tool_ms_p95 = models.JSONField(default=dict)
    silent_tools = models.JSONField(default=dict)
    learned_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("project", "agent")
        constraints = (
            models.UniqueConstraint(fields=("project", "agent"), name="learned_baseline_once"),
        )

    def __str__(self) -> str:
        return f"what is normal for {self.agent or 'unnamed'} in {self.project_id}"
