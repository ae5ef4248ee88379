"""Versions of prompts and of code, in the order in which the project saw them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from transcripts.fields import MaskedTextField
from transcripts.models import Project


class VersionKind(models.TextChoices):
    """What a version is one of."""

    PROMPT = "prompt", "prompt"
    CODE = "code", "code"


class SeenVersion(models.Model):
    """When a version of an agent's prompt or code was first seen; versions are opaque texts, so
    that which of two is the later one is told by this alone.

    `digest` is keyed, of kind, agent and version. It stays when the runs are deleted.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=16)
    kind = models.CharField(max_length=8, choices=VersionKind)
    agent = MaskedTextField(blank=True)
    version = MaskedTextField()
    first_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("first_seen_at", "pk")
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="seen_version_once"),
            models.CheckConstraint(
                condition=Q(kind__in=VersionKind.values), name="seen_version_kind_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.version}"
