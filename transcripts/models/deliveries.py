"""What was accepted, sealed until a worker takes it in."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.models.api_keys import ApiKey
from transcripts.models.people import Project, User

# Their content is still there, sealed.
SEALED_STATES = (DeliveryState.HELD, DeliveryState.ACCEPTED, DeliveryState.QUARANTINED)


class Delivery(models.Model):
    """One accepted request or file. `body` is compressed and sealed; empty once it is stored.

    `id` is the receipt. What is sealed is the content with all that the sender said about it (see
    `transcripts.deliveries`): even a run's id stands in no other column before it is masked.
    `digest` is keyed, of the content as it came, so that an idempotency key cannot stand for two
    contents. `claimed_at` and `attempts` are written by the worker before it opens the body, so
    that a delivery that kills its worker ends in quarantine. `outcome` holds, per run, what was
    new, repeated and replaced, and of one that is held what was recognised (`preview`); `error` and
    `error_at` are masked text. `history` holds of each time that it was tried before {"at", seconds
    since 1970, "attempts", "error", "error_at"}.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="deliveries", db_index=False)
    api_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    kind = models.CharField(max_length=10, choices=DeliveryKind)
    state = models.CharField(max_length=12, choices=DeliveryState, default=DeliveryState.ACCEPTED)
    format = models.CharField(max_length=40, default="auto")
    idempotency_key = models.BinaryField(max_length=32, null=True)
    digest = models.BinaryField(max_length=16)
    body = models.BinaryField()
    size = models.PositiveBigIntegerField(help_text="Bytes after decompression.")
    received_at = models.DateTimeField(default=timezone.now)
    queued_at = models.DateTimeField(default=timezone.now)
    claimed_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, blank=True)
    outcome = MaskedJSONField(default=dict)
    error = MaskedTextField(blank=True)
    error_at = MaskedTextField(blank=True)
    history = MaskedJSONField(default=list, db_default=[])

    class Meta:
        ordering = ("-received_at", "-id")
        verbose_name_plural = "deliveries"
        indexes = (
            models.Index(fields=("project", "-received_at", "-id"), name="delivery_by_arrival"),
            models.Index(
                fields=("queued_at",),
                name="delivery_waiting",
                condition=Q(state=DeliveryState.ACCEPTED),
            ),
            models.Index(
                fields=("project",),
                name="delivery_quarantined",
                condition=Q(state=DeliveryState.QUARANTINED),
            ),
            models.Index(
                fields=("received_at",),
                name="delivery_held",
                condition=Q(state=DeliveryState.HELD),
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("project", "idempotency_key"), name="delivery_idempotency_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=DeliveryKind.values), name="delivery_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=DeliveryState.values), name="delivery_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=SEALED_STATES) | Q(body=b""),
                name="delivery_done_is_empty",
            ),
        )

    def __str__(self) -> str:
        return f"{self.id} ({self.state})"
