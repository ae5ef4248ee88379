"""Incidents: findings with one fingerprint across runs, with a state and an owner."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from analysis.models.versions import VersionKind
from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.models import Project, Run, User


class IncidentState(models.TextChoices):
    """Where an incident stands."""

    NEW = "new", "new"
    ONGOING = "ongoing", "ongoing"
    ESCALATING = "escalating", "escalating"
    RESOLVED = "resolved", "resolved"
    REGRESSED = "regressed", "came back"
    IGNORED = "ignored", "ignored"


class Priority(models.IntegerChoices):
    """How much an incident matters, as its people say."""

    HIGH = 1, "high"
    MEDIUM = 2, "medium"
    LOW = 3, "low"


class Incident(models.Model):
    """One fault of a project, as people deal with it: `INC-<number>`.

    `title` is a plain sentence. Times are those of the runs' arrival. `resolved_in` is the prompt
    or code version (`resolved_kind`) in which it counts as resolved (empty: from `resolved_at` on;
    without that, no run has it any more). `ignored_until` and `ignored_after` say when an ignored
    one is new again: at a time, or at so many runs. `merged_into` is the incident that took over
    its fingerprints; a merged one is shown nowhere but there. `held`: its runs are on legal hold.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="incidents", db_index=False)
    number = models.PositiveIntegerField()
    title = MaskedTextField()
    state = models.CharField(max_length=12, choices=IncidentState, default=IncidentState.NEW)
    state_at = models.DateTimeField(default=timezone.now)
    owner = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    priority = models.PositiveSmallIntegerField(choices=Priority, default=Priority.MEDIUM)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    run_count = models.PositiveIntegerField(default=0)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_in = MaskedTextField(blank=True)
    resolved_kind = models.CharField(max_length=8, choices=VersionKind, blank=True)
    ignored_until = models.DateTimeField(null=True, blank=True)
    ignored_after = models.PositiveIntegerField(null=True, blank=True)
    merged_into = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="merged"
    )
    held = models.BooleanField(default=False)

    class Meta:
        ordering = ("-last_seen_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("project", "number"), name="incident_number_once"),
            models.CheckConstraint(
                condition=Q(state__in=IncidentState.values), name="incident_state_known"
            ),
        )
        indexes = (
            models.Index(fields=("project", "-last_seen_at", "-id"), name="incident_by_last_seen"),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Its short id, as people say it."""
        return f"INC-{self.number}"


class Fingerprint(models.Model):
    """What findings of one fault have in common: detector, tool, normalised error, agent.

    `digest` is keyed, over these and `grouping`, the version of the way they are compared (see
    `analysis.grouping`).
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    incident = models.ForeignKey(Incident, models.CASCADE, related_name="fingerprints")
    digest = models.BinaryField(max_length=16)
    grouping = models.PositiveSmallIntegerField()
    detector = models.CharField(max_length=40)
    tool = MaskedTextField(blank=True)
    error = MaskedTextField(blank=True)
    agent = MaskedTextField(blank=True)
    first_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="fingerprint_once"),
        )

    def __str__(self) -> str:
        return f"{self.detector} of {self.tool or 'no tool'}"


class IncidentRun(models.Model):
    """A run in which a fingerprint was found, with its first place there.

    `main`: it is the run's first odd round, so that this incident is what the run is about.
    """

    incident = models.ForeignKey(Incident, models.CASCADE, related_name="runs", db_index=False)
    fingerprint = models.ForeignKey(
        Fingerprint, models.CASCADE, related_name="runs", db_index=False
    )
    run = models.ForeignKey(Run, models.CASCADE, related_name="incident_runs")
    round = models.PositiveIntegerField()
    call = models.PositiveIntegerField(null=True, blank=True)
    main = models.BooleanField(default=False)
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-seen_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("fingerprint", "run"), name="incident_run_once"),
        )
        indexes = (
            models.Index(fields=("incident", "-seen_at", "-id"), name="incident_run_by_arrival"),
        )

    def __str__(self) -> str:
        return f"run {self.run_id} in {self.incident_id}"


class IncidentEvent(models.Model):
    """One line of an incident's timeline. `user` null: Agentdesk did it, at an arrival.

    `kind` and what `detail` holds are said in `analysis.services.incidents`.
    """

    incident = models.ForeignKey(Incident, models.CASCADE, related_name="events", db_index=False)
    at = models.DateTimeField(default=timezone.now)
    user = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=20)
    detail = MaskedJSONField(default=dict)

    class Meta:
        ordering = ("-at", "-pk")
        indexes = (models.Index(fields=("incident", "-at", "-id"), name="incident_event_by_time"),)

    def __str__(self) -> str:
        return f"{self.kind} of incident {self.incident_id}"
