"""What we think of a run: its verdict and findings, made by the detectors and replaced by each
analysis; the limits that they go by, what was learned of normal runs, and jobs over many runs.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from analysis.choices import Severity, VerdictKind
from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.models import Project, Run, User


class Verdict(models.Model):
    """The one sentence on a run, and its first odd round.

    `kind` is a branch of the chart (`analysis.choices.VerdictKind`). `strip` is one character per
    cell of the run list's small map (see `analysis.strip`). `took_ms` is how long the detectors
    read, `stale_since` is set while a live run has rounds that they have not read. `errors` maps a
    detector that raised to its error's type. `suite` and `limits` name the detectors and the set
    limits that it was made under. `cost` is the run's own, else computed from its tokens; of
    `cost_rounds` rounds it is known. `context_window` is in tokens, `window_from` says where from.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="verdict")
    kind = models.CharField(max_length=16)
    flagged = models.BooleanField()
    sentence = MaskedTextField()
    odd_round = models.PositiveIntegerField(null=True, blank=True)
    odd_call = models.PositiveIntegerField(null=True, blank=True)
    odd_detector = models.CharField(max_length=40, blank=True)
    odd_tool = MaskedTextField(blank=True)
    odd_why = MaskedTextField(blank=True)
    recovered_at = models.PositiveIntegerField(null=True, blank=True)
    strip = models.CharField(max_length=64, blank=True)
    wasted = models.JSONField(default=dict)
    errors = models.JSONField(default=dict)
    suite = models.CharField(max_length=40)
    limits = models.CharField(max_length=16, blank=True)
    cost = models.DecimalField(max_digits=24, decimal_places=10, null=True, blank=True)
    cost_currency = MaskedTextField(blank=True)
    cost_computed = models.BooleanField(default=False)
    cost_rounds = models.PositiveIntegerField(default=0)
    context_window = models.PositiveBigIntegerField(null=True, blank=True)
    window_from = models.CharField(max_length=20, blank=True)
    analysed_at = models.DateTimeField(default=timezone.now)
    took_ms = models.FloatField(default=0)
    stale_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-analysed_at",)
        indexes = (
            models.Index(fields=("run",), name="verdict_flagged", condition=Q(flagged=True)),
            models.Index(
                fields=("stale_since",),
                name="verdict_stale",
                condition=Q(stale_since__isnull=False),
            ),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in VerdictKind]),
                name="verdict_kind_known",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind}: {self.sentence}"


class Finding(models.Model):
    """One detector's claim about a run, with its place and evidence; never edited.

    `order` counts from 0 by round, call and detector. `evidence` lists {"round", "call"}. `values`
    holds what was compared, `wasted` what a repetition took ({"rounds", "tokens", "cost",
    "seconds"}; empty for what is none).
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="findings", db_index=False)
    order = models.PositiveIntegerField()
    detector = models.CharField(max_length=40)
    version = models.PositiveSmallIntegerField()
    severity = models.CharField(max_length=8)
    odd = models.BooleanField()
    round = models.PositiveIntegerField()
    to_round = models.PositiveIntegerField(null=True, blank=True)
    call = models.PositiveIntegerField(null=True, blank=True)
    tool = MaskedTextField(blank=True)
    why = MaskedTextField()
    cause = MaskedTextField()
    fix = MaskedTextField()
    evidence = models.JSONField(default=list)
    values = MaskedJSONField(default=dict)
    wasted = models.JSONField(default=dict)
    recovered_at = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("run", "order")
        constraints = (
            models.UniqueConstraint(fields=("run", "order"), name="finding_order_once"),
            models.CheckConstraint(
                condition=Q(severity__in=[severity.value for severity in Severity]),
                name="finding_severity_known",
            ),
        )
        indexes = (models.Index(fields=("detector", "run"), name="finding_by_detector"),)

    def __str__(self) -> str:
        return f"{self.detector} at round {self.round} of run {self.run_id}"

    @property
    def handed_over(self) -> bool:
        """Whether `recovered_at` is only where the task was handed over."""
        return bool(self.values.get("handed_over"))


class LimitSet(models.Model):
    """Limits that people set for a project, for one of its agents, for a tool, or for both.

    `agent` and `tool` are names, empty: all of them; a tool may end in `*`. `values` holds what is
    set, by name (see `analysis.limit_sets`); what is not in it comes from the wider set.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    agent = models.CharField(max_length=300, blank=True)
    tool = models.CharField(max_length=300, blank=True)
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


class JobKind(models.TextChoices):
    """What a job does with the runs that it reads."""

    PREVIEW = "preview", "shows what other limits would say"
    READ_AGAIN = "read_again", "reads past runs again"


class JobState(models.TextChoices):
    """Where a job is. A job that waits is one that a worker may be at."""

    WAITING = "waiting", "at work"
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"


class Job(models.Model):
    """Work over many runs, done by a worker in steps; all of its state is here.

    `total` runs are to be read, `read` were, `changed` of them came out differently; `cursor` is
    the last one's id, so that a killed job goes on where it was. `wanted` says what is to be done
    and `result` what came of it (see `analysis.jobs` and `analysis.previews`).
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
    def percent(self) -> int:
        return 100 if not self.total else min(100, self.read * 100 // self.total)
