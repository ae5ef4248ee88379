"""Deliveries that a person uploaded and has yet to confirm: sealed like all others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.models import Delivery, Project, User
from transcripts.queueing import DELIVER, enqueue
from transcripts.services.deliveries import NotWaitingError, delivery_accept

# What nobody has confirmed by then was forgotten.
HELD_FOR = timedelta(hours=24)


def delivery_hold(*, project: Project, user: User, content: bytes, file_name: str) -> Delivery:
    """Seal a file and keep it until its sender says what is to become of it."""
    delivery, _ = delivery_accept(
        project=project,
        kind=DeliveryKind.FILE,
        content=content,
        file_name=file_name,
        user=user,
        held=True,
    )
    return delivery


def delivery_tell(*, delivery: Delivery, preview: dict[str, Any]) -> None:
    """Keep what was recognised in a held delivery, masked, until it is confirmed."""
    delivery.outcome = {"preview": preview}
    delivery.save(update_fields=["outcome"])


def delivery_release(*, delivery: Delivery) -> None:
    """Hand a held delivery to a worker; raises `NotWaitingError` for any other."""
    with transaction.atomic():
        found = Delivery.objects.select_for_update().defer("body").get(pk=delivery.pk)
        if found.state != DeliveryState.HELD:
            raise NotWaitingError("This file is no longer waiting to be confirmed.")
        found.state = DeliveryState.ACCEPTED
        found.outcome = {}
        found.queued_at = timezone.now()
        found.save(update_fields=["state", "outcome", "queued_at"])
        transaction.on_commit(lambda: enqueue(DELIVER, str(found.pk)))


def held_expire() -> int:
    """Discard what nobody confirmed within `HELD_FOR`; returns how much."""
    forgotten = Delivery.objects.filter(
        state=DeliveryState.HELD, received_at__lt=timezone.now() - HELD_FOR
    )
    return forgotten.update(
        state=DeliveryState.DISCARDED, body=b"", outcome={}, finished_at=timezone.now()
    )
