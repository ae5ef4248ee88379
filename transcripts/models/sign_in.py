"""What stands before a sign-in: invitations, and delays after failed tries."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from transcripts.choices import Role
from transcripts.models.people import Project, User
from transcripts.models.removed import ThereManager


class Invitation(models.Model):
    """A person who may join a project, by a link that works once. `digest` is the SHA-256 of the
    link's token (256 random bits), which is shown once or mailed. One that was withdrawn is kept
    for a day, to be brought back.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=10, choices=Role, default=Role.OBSERVER)
    digest = models.BinaryField(max_length=32, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    expires_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    everything = models.Manager()
    objects = ThereManager()

    class Meta:
        ordering = ("project", "email")
        constraints = (
            models.UniqueConstraint("project", Lower("email"), name="invited_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role_known"),
        )

    def __str__(self) -> str:
        return f"{self.email} to {self.project}: {self.role}"

    @property
    def expired(self) -> bool:
        return self.expires_at <= timezone.now()


class SignInDelay(models.Model):
    """How often signing in failed for one account, known browser or address, and until when no
    other try is taken. `key` is a keyed digest of which it is.
    """

    key = models.BinaryField(max_length=16, primary_key=True)
    failures = models.PositiveIntegerField(default=0)
    failed_at = models.DateTimeField(default=timezone.now, db_index=True)
    until = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.failures} until {self.until}"
