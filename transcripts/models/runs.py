"""Runs, with the sums over their rounds that lists need."""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Left, Upper
from django.utils import timezone

from transcripts.choices import Ending, Removal
from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.models.idents import IDENT_LENGTH
from transcripts.models.people import Project

# What the text index of a run is made by; runs under an older one are indexed again.
TEXT_VERSION = 2

# Characters of a text by which an index finds it; what is longer is compared afterwards.
KEY = 200


class Run(models.Model):
    """One agent on one task, first input to last stop. Sums over its rounds are kept here for
    lists.

    `digest` is keyed, of the sender's run id: it finds the run, whatever masking made of the id.
    `title` and `ending` are the sender's, else derived from the rounds (`title_said` and
    `ending_said` tell which). `over`: a whole run or its end was sent, so that more rounds are
    late ones. `quiet`: it is over only because nothing came for long; what comes next reopens it.
    `restricted` is set by the label of that name. `goal_ident` and `ticket_ident` are
    the messages that hold goal and ticket, as `ticket_round` read them: the first round with a
    known input. Durations are in milliseconds, cost is in `currency`. `mask_known` keeps keyed
    digests of values that were found to be secrets, so that they are masked in what comes later.
    `text_removed_at`: its transcript is gone since then, for the reason in `text_removed_by`, and
    nothing that comes of it is kept any more. `removal` says what of it is still being removed.
    """

    # The label of a run that came with Agentdesk.
    EXAMPLE = ("example", "yes")

    project = models.ForeignKey(Project, models.CASCADE, related_name="runs", db_index=False)
    digest = models.BinaryField(max_length=16)
    run_id = MaskedTextField()
    ticket_id = MaskedTextField(blank=True)
    title = MaskedTextField(blank=True)
    title_said = models.BooleanField(default=False)
    agent = MaskedTextField(blank=True)
    provider = MaskedTextField(blank=True)
    model = MaskedTextField(blank=True)
    prompt_version = MaskedTextField(blank=True)
    code_version = MaskedTextField(blank=True)
    parent_run_id = MaskedTextField(blank=True)
    format = models.CharField(max_length=40)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ending = models.CharField(max_length=16, choices=Ending, default=Ending.OPEN)
    ending_said = models.BooleanField(default=False)
    ending_reason = MaskedTextField(blank=True)
    over = models.BooleanField(default=False)
    quiet = models.BooleanField(default=False)
    currency = MaskedTextField(blank=True)
    context_window = models.PositiveBigIntegerField(null=True, blank=True)
    limits = models.JSONField(default=dict)
    labels = MaskedJSONField(default=list, help_text="Pairs of name and value, by name.")
    tools = MaskedJSONField(default=list, help_text="Name, description and schema of each.")
    notes = MaskedJSONField(default=list)
    restricted = models.BooleanField(default=False)
    goal_ident = models.CharField(max_length=IDENT_LENGTH, blank=True)
    ticket_ident = models.CharField(max_length=IDENT_LENGTH, blank=True)
    ticket_round = models.PositiveIntegerField(null=True, blank=True)
    header_digest = models.BinaryField(max_length=16, default=b"")

    rounds_expected = models.PositiveBigIntegerField(null=True, blank=True)
    round_count = models.PositiveIntegerField(default=0)
    last_round = models.PositiveIntegerField(default=0)
    tail_size = models.IntegerField(null=True, default=0)
    has_messages = models.BooleanField(default=False)
    call_count = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_out = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_cached = models.PositiveBigIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=24, decimal_places=10, null=True, blank=True)
    duration_ms = models.FloatField(null=True, blank=True)
    unanswered = models.PositiveIntegerField(default=0)
    unlabelled = models.PositiveIntegerField(default=0)
    orphan_count = models.PositiveIntegerField(default=0)
    folded = models.PositiveIntegerField(default=0)
    replaced = models.PositiveIntegerField(default=0)
    late = models.PositiveIntegerField(default=0)
    completeness = models.JSONField(default=dict)

    mask_rule_set = models.CharField(max_length=60)
    mask_hits = models.JSONField(default=dict)
    mask_known = models.JSONField(default=dict)
    text_removed_at = models.DateTimeField(null=True, blank=True)
    text_removed_by = models.CharField(max_length=60, blank=True, default="", db_default="")
    removal = models.CharField(max_length=4, choices=Removal, blank=True, default="", db_default="")
    text_version = models.PositiveSmallIntegerField(default=TEXT_VERSION)
    received_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-received_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="run_once"),
            models.CheckConstraint(condition=Q(ending__in=Ending.values), name="run_ending_known"),
            models.CheckConstraint(
                condition=Q(removal__in=Removal.values)
                & (Q(removal="") | Q(text_removed_at__isnull=False)),
                name="run_removal_known",
            ),
        )
        indexes = (
            models.Index(fields=("project", "-received_at", "-id"), name="run_by_arrival"),
            models.Index(Left("ticket_id", KEY), "project", name="run_by_ticket"),
            models.Index(
                fields=("project", "-received_at", "-id"),
                name="run_handed_off",
                condition=Q(ending=Ending.HANDED_OFF),
            ),
            models.Index(
                fields=("updated_at",), name="run_still_open", condition=Q(ending=Ending.OPEN)
            ),
            models.Index(
                fields=("project", "received_at"),
                name="run_with_text",
                condition=Q(text_removed_at=None),
            ),
            models.Index(fields=("id",), name="run_half_removed", condition=~Q(removal="")),
            models.Index(fields=("project", "-id"), name="run_newest"),
            models.Index("project", Left("agent", KEY), F("id").desc(), name="run_by_agent"),
            models.Index("project", Left("model", KEY), F("id").desc(), name="run_by_model"),
            models.Index(
                "project", Left("prompt_version", KEY), F("id").desc(), name="run_by_prompt"
            ),
            models.Index("project", Left("code_version", KEY), F("id").desc(), name="run_by_code"),
            models.Index(fields=("project", "ending", "-id"), name="run_by_ending"),
            models.Index(fields=("project", "-round_count", "-id"), name="run_by_rounds"),
            models.Index(
                fields=("project", "-id"), name="run_restricted", condition=Q(restricted=True)
            ),
            models.Index(
                fields=("project", "-id"),
                name="run_incomplete",
                condition=Q(completeness__complete=False),
            ),
            models.Index(
                fields=("project", "-id"), name="run_below", condition=~Q(parent_run_id="")
            ),
            models.Index(
                "project",
                OpClass(Upper(Left("ticket_id", KEY)), name="text_pattern_ops"),
                name="run_by_ticket_begin",
            ),
            models.Index(
                "project",
                OpClass(Upper(Left("run_id", KEY)), name="text_pattern_ops"),
                name="run_by_id_begin",
            ),
            GinIndex(OpClass(F("labels"), name="jsonb_path_ops"), name="run_by_label"),
            models.Index(
                fields=("id",), name="run_text_behind", condition=Q(text_version__lt=TEXT_VERSION)
            ),
        )

    def __str__(self) -> str:
        return str(self.run_id)

    @property
    def is_example(self) -> bool:
        """Whether it is labelled as one that came with Agentdesk."""
        return list(self.EXAMPLE) in self.labels
