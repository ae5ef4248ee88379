"""Seals what is accepted until a worker has masked it: zstd, then AES-256-GCM.

A sealed body is a version byte, the id of the key (4 bytes), the nonce (12 bytes), then ciphertext
and tag. The name of what is sealed (a delivery's id) is authenticated with it, so that a body
cannot be moved to another delivery.
"""

from __future__ import annotations

import hashlib
import os

import zstandard
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from transcripts.keys import Purpose, derived_key, master_keys

VERSION = b"\x01"
KEY_ID_BYTES = 4
NONCE_BYTES = 12
HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES
# Fast enough to cost less than reading the request: several hundred MB/s.
COMPRESSION_LEVEL = 1


class SealError(ValueError):
    """A body cannot be opened: its key is gone, or it was changed."""


def seal(content: bytes, *, name: bytes) -> bytes:
    """Compress and encrypt `content` with the first key; `name` says what it is and is needed to
    open it.
    """
    key = derived_key(Purpose.SEALING, master_keys()[0])
    header = VERSION + _key_id(key) + os.urandom(NONCE_BYTES)
    packed = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(content)
    return header + AESGCM(key).encrypt(header[-NONCE_BYTES:], packed, header + name)


def unseal(body: bytes, *, name: bytes) -> bytes:
    """Open what `seal` made with any of the keys; raises `SealError`."""
    header = body[:HEADER_BYTES]
    if len(header) < HEADER_BYTES or header[:1] != VERSION:
        raise SealError("This is not a sealed body.")
    wanted = header[1 : 1 + KEY_ID_BYTES]
    for master in master_keys():
        key = derived_key(Purpose.SEALING, master)
        if _key_id(key) == wanted:
            break
    else:
        raise SealError("The key that this body was sealed with is not in AGENTDESK_MASTER_KEYS.")
    try:
        packed = AESGCM(key).decrypt(header[-NONCE_BYTES:], body[HEADER_BYTES:], header + name)
    except InvalidTag:
        raise SealError("The sealed body was changed, or belongs to another delivery.") from None
    return zstandard.ZstdDecompressor().decompress(packed)


def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"agentdesk key id" + key).digest()[:KEY_ID_BYTES]
