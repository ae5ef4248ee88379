"""Every write of what happened: keyword-only, named after what they do it to."""

from transcripts.services.api_keys import key_create, key_revoke
from transcripts.services.deliveries import (
    IdempotencyError,
    NotWaitingError,
    delivery_accept,
    delivery_discard,
    delivery_retry,
)
from transcripts.services.runs import RunGoneError, RunRefusedError, StoreOutcome, run_store

__all__ = [
    "IdempotencyError",
    "NotWaitingError",
    "RunGoneError",
    "RunRefusedError",
    "StoreOutcome",
    "delivery_accept",
    "delivery_discard",
    "delivery_retry",
    "key_create",
    "key_revoke",
    "run_store",
]
