"""The keys that are derived from the master keys of the settings, one for each purpose.

Nothing but this module reads `AGENTDESK_MASTER_KEYS`. The first master key makes; the others only
open what was sealed with them. Digests that find what is stored (content, runs) always use the
*last* master key, so that adding a new first key neither doubles runs nor forgets what was folded.
"""

from __future__ import annotations

import base64
import hashlib
from enum import StrEnum
from functools import lru_cache

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

KEY_BYTES = 32
RUN_DIGEST_BYTES = 16
# A message's stand-in, see `transcripts.models.IDENT_LENGTH`.
IDENT_BYTES = 9


class Purpose(StrEnum):
    """What a derived key is for; the value goes into the derivation and so must not change."""

    SEALING = "agentdesk/sealing/1"
    MASKING = "agentdesk/masking/1"
    CONTENT = "agentdesk/content/1"


def master_keys() -> tuple[bytes, ...]:
    return tuple(settings.AGENTDESK_MASTER_KEYS)


@lru_cache(maxsize=64)
def derived_key(purpose: Purpose, master: bytes) -> bytes:
    """The key of `purpose` under one master key: HKDF-SHA256, 32 bytes (RFC 5869)."""
    derivation = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose.encode())
    return derivation.derive(master)


def masking_key() -> bytes:
    """The key that placeholders are made with. It must outlive a change of the sealing key."""
    return derived_key(Purpose.MASKING, master_keys()[-1])


def run_digest(project_id: int, run_id: str) -> bytes:
    """What finds a run by the sender's id, without keeping the id."""
    text = f"{project_id}\0{run_id}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, key=content_key(), digest_size=RUN_DIGEST_BYTES).digest()


def content_digest(content: bytes, *, salt: bytes = b"", size: int = RUN_DIGEST_BYTES) -> bytes:
    """A keyed digest that tells whether plain content came before; `salt` (16 bytes) keeps runs
    apart.
    """
    return hashlib.blake2b(content, key=content_key(), salt=salt, digest_size=size).digest()


def content_ident(content: bytes, *, salt: bytes) -> str:
    """The same as 12 characters of URL-safe base64."""
    digest = content_digest(content, salt=salt, size=IDENT_BYTES)
    return base64.urlsafe_b64encode(digest).decode()


def lock_number(digest: bytes) -> int:
    """A run's number among Postgres's advisory locks (signed, 64 bits)."""
    return int.from_bytes(digest[:8], "big", signed=True)


def content_key() -> bytes:
    """The key of digests that tell whether plain content came before."""
    return derived_key(Purpose.CONTENT, master_keys()[-1])
