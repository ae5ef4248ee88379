"""The verdict and findings of a run, made by the detectors and replaced by each analysis."""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce, Left
from django.utils import timezone

from analysis.choices import Severity, VerdictKind
from analysis.grouping import GROUPING
from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.models import Project, Run
from transcripts.models.runs import KEY


def cost_within(prefix: str = "") -> Coalesce:
    """What runs are ordered by cost by: one without a known cost comes last."""
    return Coalesce(f"{prefix}cost", Value(Decimal(-1)), output_field=models.DecimalField())


class Verdict(models.Model):
    """The one sentence on a run, and its first odd round.

    `kind` is a branch of the chart (`analysis.choices.VerdictKind`). `strip` is one character per
    cell of the run list's small map (see `analysis.strip`). `took_ms` is how long the detectors
    read, `stale_since` is set while a live run has rounds that they have not read. `errors` maps a
    detector that raised to its error's type. `suite` and `limits` name the detectors and the set
    limits that it was made under, `grouping` the way by which the run was put into incidents (0: it
    never was). `cost` is the run's own, else computed from its tokens; of
    `cost_rounds` rounds it is known. `cells` are the rounds as the run page's map draws them (see
    `analysis.cells`), empty where it was made before they were kept. `context_window` is in
    tokens, `window_from` says where from.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="verdict")
    # Its run's, so that lists by verdict and by cost are read in their order from an index.
    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
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
    cells = models.JSONField(default=dict)
    wasted = models.JSONField(default=dict)
    wasted_rounds = models.PositiveIntegerField(default=0)
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
    grouping = models.PositiveSmallIntegerField(default=0)
    stale_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-analysed_at",)
        indexes = (
            models.Index(
                fields=("project", "-run"), name="verdict_flagged_runs", condition=Q(flagged=True)
            ),
            models.Index(fields=("project", "kind", "-run"), name="verdict_by_kind"),
            models.Index("project", cost_within().desc(), F("run").desc(), name="verdict_by_cost"),
            models.Index(fields=("project", "-wasted_rounds", "-run"), name="verdict_by_wasted"),
            models.Index(
                fields=("run",),
                name="verdict_behind",
                condition=Q(flagged=True, grouping__lt=GROUPING),
            ),
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
        indexes = (
            models.Index(fields=("detector", "run"), name="finding_by_detector"),
            # Of all findings: what Postgres learns of the values in a part of them it does not use.
            models.Index(Left("tool", KEY), "run", name="finding_by_tool_name"),
        )

    def __str__(self) -> str:
        return f"{self.detector} at round {self.round} of run {self.run_id}"

    @property
    def handed_off(self) -> bool:
        """Whether `recovered_at` is only where the task was handed off."""
        return bool(self.values.get("handed_off"))
