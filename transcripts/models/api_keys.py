"""Keys that programs send and read with."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from transcripts.choices import KeyScope
from transcripts.models.people import Project, User


class ApiKey(models.Model):
    """One bearer key of a project. The key itself is shown once; `digest` is its SHA-256 (256
    random bits).
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=16)
    digest = models.BinaryField(max_length=32, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    # The key that takes its place, see `key_rotate`.
    successor = models.OneToOneField(
        "self", models.SET_NULL, null=True, blank=True, related_name="predecessor"
    )

    Scope = KeyScope

    class Meta:
        ordering = ("project", "-created_at")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()
