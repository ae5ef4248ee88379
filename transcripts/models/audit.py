"""The audit log."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from transcripts.choices import access_actions
from transcripts.fields import MaskedTextField


class AccessEntry(models.Model):
    """One line of the audit log: who read or changed what, when, from where. A trigger refuses
    changes.

    Holds no foreign keys, so that it outlives what it tells of. `who` is an e-mail address or a
    key's name and prefix; `what` names the thing, never its content; `action` is an `AccessAction`.
    """

    project_id = models.BigIntegerField(null=True)
    at = models.DateTimeField(default=timezone.now)
    user_id = models.BigIntegerField(null=True)
    api_key_id = models.BigIntegerField(null=True)
    who = models.CharField(max_length=300)
    action = models.CharField(max_length=20, choices=access_actions)
    what = MaskedTextField()
    run_pk = models.BigIntegerField(null=True)
    address = models.GenericIPAddressField(null=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ("-at", "-pk")
        verbose_name_plural = "access entries"
        indexes = (
            models.Index(fields=("project_id", "-at"), name="access_by_project"),
            models.Index(fields=("run_pk", "-at"), name="access_by_run"),
        )

    def __str__(self) -> str:
        return f"{self.who} {self.action} {self.what}"
