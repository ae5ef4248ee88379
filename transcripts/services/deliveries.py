"""Takes deliveries in, hands them to a worker once, and says what became of them.

A delivery that waits is known by its row alone. A worker that has opened it holds a lock on the
row for as long as its transaction lasts, so a row that can be locked is one that nobody works on:
its worker is done, was killed, or lost its connection. No claim has to run out first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import msgspec
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.fields import refuse_plain
from transcripts.keys import content_digest
from transcripts.masking.types import MaskedText
from transcripts.models import ApiKey, Delivery, Project, User
from transcripts.queueing import DELIVER, enqueue
from transcripts.sealing import seal, unseal
from transcripts.services import rows

# Deaths of workers over one delivery until it counts as their cause.
MAX_ATTEMPTS = 4
SWEPT_AT_ONCE = 500
# Earlier tries of a delivery that are told of.
MOST_TOLD = 19
# Deliveries that are taken together: small ones, and no more of them than are stored in a second
# or so. Of a larger one the work is in what it holds.
DRAINED_AT_ONCE = 64
DRAINED_BYTES = 2**18
DRAINED_KINDS = (DeliveryKind.RUNS, DeliveryKind.ROUNDS, DeliveryKind.END)


class IdempotencyError(ValueError):
    """An idempotency key came before, with other content."""


class NotWaitingError(ValueError):
    """A delivery is not in the state that this needs."""


class Sealed(msgspec.Struct, array_like=True, frozen=True):
    """What is sealed: the content, and what the sender said of it that may hold secrets."""

    content: bytes
    run_id: str = ""
    file_name: str = ""


def delivery_accept(
    *,
    project: Project,
    kind: DeliveryKind,
    content: bytes,
    format: str = "auto",
    run_id: str = "",
    file_name: str = "",
    idempotency_key: str = "",
    api_key: ApiKey | None = None,
    user: User | None = None,
    held: bool = False,
) -> tuple[Delivery, bool]:
    """Seal and keep what was sent; returns the delivery, and whether it is new. `held`: it waits
    for a person's word, not for a worker (`transcripts.services.held`).

    Once the transaction is committed nothing of it can be lost. With an idempotency key that came
    before the earlier delivery is returned; raises `IdempotencyError` where its content was
    another one.
    """
    sealed = msgspec.msgpack.encode(Sealed(content, run_id, file_name))
    digest = content_digest(f"{kind}\0{format}\0".encode() + sealed)
    key_digest = _idempotency_digest(idempotency_key) if idempotency_key else None
    if key_digest is not None:
        earlier = _earlier(project, key_digest, digest)
        if earlier is not None:
            return earlier, False
    id_ = uuid4()
    delivery = Delivery(
        id=id_,
        project=project,
        api_key=api_key,
        user=user,
        kind=kind,
        state=DeliveryState.HELD if held else DeliveryState.ACCEPTED,
        format=format,
        idempotency_key=key_digest,
        digest=digest,
        body=seal(sealed, name=id_.bytes),
        size=len(content),
    )
    try:
        with transaction.atomic():
            delivery.save(force_insert=True)
    except IntegrityError:
        # The same request came twice at once, and the other one was faster.
        earlier = _earlier(project, key_digest, digest) if key_digest is not None else None
        if earlier is None:
            raise
        return earlier, False
    return delivery, True


def delivery_claim(*, delivery_id: UUID) -> int:
    """Count an attempt to open a delivery; returns its number, 0 where there is nothing to do.

    Commits by itself, so that a worker that dies over the delivery has been counted.
    """
    if connection.in_atomic_block:
        raise RuntimeError("a claim commits by itself, and is no part of a transaction")
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, (DeliveryState.ACCEPTED, delivery_id))
        found = cursor.fetchone()
    return int(found[0]) if found else 0


def deliveries_claim() -> list[UUID]:
    """Count the first attempt to open the small deliveries that have waited longest, which are to
    be taken together; returns which, `DRAINED_AT_ONCE` at most.

    One that was tried before is not among them, so that what kills a worker does so by itself the
    next time. Commits by itself, like `delivery_claim`.
    """
    if connection.in_atomic_block:
        raise RuntimeError("a claim commits by itself, and is no part of a transaction")
    small = (DeliveryState.ACCEPTED, list(DRAINED_KINDS), DRAINED_BYTES, DRAINED_AT_ONCE)
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM_SMALL, small)
        found: list[tuple[UUID]] = cursor.fetchall()
    return [row[0] for row in found]


def is_small(delivery: Delivery) -> bool:
    """Whether `deliveries_claim` finds the delivery."""
    return delivery.kind in DRAINED_KINDS and delivery.size <= DRAINED_BYTES


def deliveries_unclaim(*, delivery_ids: Collection[UUID]) -> None:
    """Take attempts back that failed for a cause outside the deliveries."""
    with connection.cursor() as cursor:
        cursor.execute(_UNCLAIM, (DeliveryState.ACCEPTED, list(delivery_ids)))


def delivery_locked(*, delivery_id: UUID) -> Delivery | None:
    """A waiting delivery, locked until the transaction ends; None where it is done or in other
    hands.
    """
    return (
        Delivery.objects.select_for_update(skip_locked=True, of=("self",))
        .select_related("project")
        .filter(pk=delivery_id, state=DeliveryState.ACCEPTED)
        .first()
    )


def deliveries_locked(*, delivery_ids: Collection[UUID]) -> list[Delivery]:
    """Those that wait and are in no other hands, locked likewise; in the order in which they
    came.
    """
    found = Delivery.objects.select_for_update(skip_locked=True, of=("self",))
    waiting = found.filter(pk__in=delivery_ids, state=DeliveryState.ACCEPTED)
    return list(waiting.select_related("project").order_by("received_at", "pk"))


def delivery_open(*, delivery: Delivery) -> Sealed:
    """What was sent; raises `transcripts.sealing.SealError`."""
    sealed = unseal(bytes(delivery.body), name=delivery.pk.bytes)
    return msgspec.msgpack.decode(sealed, type=Sealed)


def delivery_store(*, delivery: Delivery, outcome: dict[str, Any]) -> None:
    """The delivery's runs are stored: empty its body. Belongs into the transaction that stores
    them.
    """
    delivery.state = DeliveryState.STORED
    delivery.body = b""
    _finish(delivery, outcome=outcome)


def deliveries_store(*, outcomes: Mapping[UUID, dict[str, Any]]) -> None:
    """The same of several, with their outcomes."""
    stored = [{"id": str(pk), "outcome": outcome} for pk, outcome in outcomes.items()]
    refuse_plain(list(outcomes.values()), "outcome")
    rows.execute(_STORE, (DeliveryState.STORED, timezone.now(), rows.json_of(stored)))


def delivery_quarantine(
    *, delivery: Delivery, error: MaskedText, at: MaskedText | str = "", outcome: dict[str, Any]
) -> None:
    """Set the delivery aside, sealed as it is, with what could not be done and where."""
    delivery.state = DeliveryState.QUARANTINED
    _finish(delivery, outcome=outcome, error=error, at=at)


def delivery_retry(*, delivery: Delivery) -> None:
    """Let a worker try a delivery in quarantine again; raises `NotWaitingError` for any other."""
    with transaction.atomic():
        found = Delivery.objects.select_for_update().get(pk=delivery.pk)
        if found.state != DeliveryState.QUARANTINED:
            raise NotWaitingError("Only a delivery in quarantine can be tried again.")
        found.state = DeliveryState.ACCEPTED
        found.history = [*found.history[-MOST_TOLD:], _told_of(found)]
        found.attempts = 0
        found.queued_at = timezone.now()
        found.finished_at = None
        found.error = found.error_at = ""
        found.save()
        transaction.on_commit(partial(enqueue, DELIVER, str(found.pk)))
    delivery.refresh_from_db()


def _told_of(delivery: Delivery) -> dict[str, Any]:
    """What a try came to, for the next one's history."""
    return {
        "at": delivery.finished_at.timestamp() if delivery.finished_at else None,
        "attempts": delivery.attempts,
        "error": delivery.error,
        "error_at": delivery.error_at,
    }


def delivery_discard(*, delivery: Delivery) -> None:
    """Give a delivery that is set aside or held up: its content is deleted, its line stays."""
    with transaction.atomic():
        found = Delivery.objects.select_for_update().get(pk=delivery.pk)
        if found.state not in (DeliveryState.QUARANTINED, DeliveryState.HELD):
            raise NotWaitingError("Only a delivery in quarantine can be discarded.")
        if found.state == DeliveryState.HELD:
            found.outcome = {}
        found.state = DeliveryState.DISCARDED
        found.body = b""
        found.finished_at = timezone.now()
        found.save()
    delivery.refresh_from_db()


def deliveries_left(*, waited: timedelta) -> list[UUID]:
    """Waiting deliveries that nobody works on and that are on the queue no more, as far as can be
    known.

    Marks them as queued; the caller puts them there. The oldest come first, `SWEPT_AT_ONCE` at
    most.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LEFT, (DeliveryState.ACCEPTED, timezone.now() - waited, SWEPT_AT_ONCE))
        found: list[tuple[UUID]] = cursor.fetchall()
    return [row[0] for row in found]


# Not flushed to disk for itself: a count that a crash of the database undoes is no loss.
_CLAIM = """
WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS value)
UPDATE transcripts_delivery SET attempts = attempts + 1, claimed_at = now()
WHERE id = (SELECT d.id FROM transcripts_delivery d, quick
            WHERE d.state = %s AND d.id = %s AND quick.value = 'off' FOR UPDATE OF d SKIP LOCKED)
RETURNING attempts
"""
_UNCLAIM = """
UPDATE transcripts_delivery SET attempts = greatest(attempts - 1, 0)
WHERE state = %s AND id = ANY(%s)
"""
_CLAIM_SMALL = """
WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS value)
UPDATE transcripts_delivery SET attempts = 1, claimed_at = now()
WHERE id IN (SELECT d.id FROM transcripts_delivery d, quick
             WHERE d.state = %s AND d.attempts = 0 AND d.kind = ANY(%s) AND d.size <= %s
               AND quick.value = 'off'
             ORDER BY d.queued_at LIMIT %s FOR UPDATE OF d SKIP LOCKED)
RETURNING id
"""
_STORE = """
UPDATE transcripts_delivery d
SET state = %s, body = '', outcome = v.outcome, error = '', error_at = '', finished_at = %s
FROM json_to_recordset(%s::json) AS v(id uuid, outcome jsonb) WHERE d.id = v.id
"""
_LEFT = """
UPDATE transcripts_delivery SET queued_at = now()
WHERE id IN (SELECT id FROM transcripts_delivery WHERE state = %s AND queued_at < %s
             ORDER BY queued_at LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING id
"""


def _finish(
    delivery: Delivery,
    *,
    outcome: dict[str, Any],
    error: MaskedText | str = "",
    at: MaskedText | str = "",
) -> None:
    delivery.outcome = outcome
    delivery.error = error
    delivery.error_at = at
    delivery.finished_at = timezone.now()
    delivery.save(update_fields=["state", "body", "outcome", "error", "error_at", "finished_at"])


def _earlier(project: Project, key_digest: bytes, digest: bytes) -> Delivery | None:
    earlier = Delivery.objects.filter(project=project, idempotency_key=key_digest).first()
    if earlier is not None and bytes(earlier.digest) != digest:
        raise IdempotencyError("This Idempotency-Key came before, with another content.")
    return earlier


def _idempotency_digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
