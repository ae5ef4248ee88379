"""Alerts: where they go, what for, and what is on its way."""

from __future__ import annotations

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils import timezone

from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.models import Project, User
from transcripts.models.removed import ThereManager


class ChannelKind(models.TextChoices):
    """How a channel is spoken to."""

    WEBHOOK = "webhook", "webhook"
    SLACK = "slack", "Slack, or what takes its messages"
    EMAIL = "email", "e-mail"


class AlertKind(models.TextChoices):
    """What an alert is about."""

    INCIDENT_NEW = "incident_new", "a new incident"
    INCIDENT_REGRESSED = "incident_regressed", "an incident that came back"
    INCIDENT_ESCALATING = "incident_escalating", "an incident that escalates"
    RUN_FLAGGED = "run_flagged", "a flagged run"
    DETECTOR = "detector", "a finding of one detector"
    COST = "cost", "a run that costs more than"
    TOOL_ERRORS = "tool_errors", "a tool that fails too often"
    QUARANTINE = "quarantine", "a delivery in quarantine"
    TEST = "test", "a test"


class MessageState(models.TextChoices):
    """What became of a message."""

    WAITING = "waiting", "waiting"
    SENT = "sent", "sent"
    DEAD = "dead", "given up"
    DISCARDED = "discarded", "discarded"


class AlertChannel(models.Model):
    """Where alerts of a project go.

    `sealed` holds the address (a webhook's may be a secret itself), `sealed_secret` the key that
    webhooks are signed with; `shown` is the host, or the mail address. `for_leads`: whoever reads
    it may read what tools said, as leads do; else messages are told as to observers. In quiet hours
    (`quiet_from` to `quiet_until` in `time_zone`) nothing is sent; `digest_minutes` collects. A
    removed one is inactive, and kept for a day with its messages, to be brought back.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    name = MaskedTextField()
    kind = models.CharField(max_length=8, choices=ChannelKind)
    ident = models.UUIDField(default=uuid4, unique=True)
    sealed = models.BinaryField()
    sealed_secret = models.BinaryField(default=b"")
    shown = models.CharField(max_length=320)
    for_leads = models.BooleanField(default=False)
    active = models.BooleanField(default=True)
    digest_minutes = models.PositiveIntegerField(default=0)
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    made_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True, blank=True)

    everything = models.Manager()
    objects = ThereManager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=ChannelKind.values), name="alert_channel_kind_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.shown}"


class AlertRule(models.Model):
    """What a channel is told of. Empty `agent`, `detector`, `tool`: any.

    `amount` in `currency` is the cap of a cost rule; `percent` of at least `least` calls within
    `window_minutes` is too much for a tool. Within `cooldown_minutes` of a message further ones
    wait, and go together. `looked_at`: up to when a rule that looks back has looked. A removed one
    is kept for a day, to be brought back.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    channel = models.ForeignKey(AlertChannel, models.CASCADE, related_name="rules")
    kind = models.CharField(max_length=20, choices=AlertKind)
    agent = MaskedTextField(blank=True)
    detector = models.CharField(max_length=40, blank=True)
    tool = MaskedTextField(blank=True)
    amount = models.DecimalField(max_digits=20, decimal_places=6, null=True, blank=True)
    currency = models.CharField(max_length=8, blank=True)
    percent = models.PositiveSmallIntegerField(null=True, blank=True)
    least = models.PositiveIntegerField(default=20)
    window_minutes = models.PositiveIntegerField(default=60)
    cooldown_minutes = models.PositiveIntegerField(default=5)
    active = models.BooleanField(default=True)
    looked_at = models.DateTimeField(default=timezone.now)
    made_at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True, blank=True)

    everything = models.Manager()
    objects = ThereManager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=AlertKind.values), name="alert_rule_kind_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} to {self.channel_id}"


class AlertMessage(models.Model):
    """One alert on its way: written with what it tells, sent afterwards, at least once.

    `subject` is what it is about; a rule tells of each once. `body` is what the receiver gets.
    A worker that sends it has it until `claimed_until`. `error` says why the last try failed.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    channel = models.ForeignKey(AlertChannel, models.CASCADE, related_name="messages")
    rule = models.ForeignKey(AlertRule, models.SET_NULL, null=True, related_name="messages")
    kind = models.CharField(max_length=20, choices=AlertKind)
    subject = models.CharField(max_length=80)
    body = MaskedJSONField()
    state = models.CharField(max_length=10, choices=MessageState, default=MessageState.WAITING)
    made_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now)
    claimed_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=300, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-made_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("rule", "subject"), name="alert_once"),
            models.CheckConstraint(
                condition=Q(state__in=MessageState.values), name="alert_state_known"
            ),
        )
        indexes = (
            models.Index(fields=("project", "-made_at"), name="alert_by_project"),
            models.Index(fields=("rule", "-due_at"), name="alert_of_rule"),
            models.Index(fields=("subject",), name="alert_by_subject"),
            models.Index(
                fields=("due_at",), name="alert_waiting", condition=Q(state=MessageState.WAITING)
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}: {self.state}"
