"""Base64 that holds a secret: the whole blob is masked, since part of it shows the rest."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final

from transcripts.masking.fold import compiled, fold
from transcripts.masking.spans import Hit, Rank

BLOB: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{16,})*={0,2}")
# Without one of these in the folded text there is none: folding makes no such sign another one.
LONG_WORD: Final = compiled(rb"[A-Za-z0-9+/_-]{16}")
# Words and paths have no capitals in the middle, as base64 of text has.
MIXED: Final = re.compile(r"[a-z0-9+/][A-Z]|[A-Z][a-z0-9+/][A-Z0-9]|\d[a-z]")
# Base64 inside base64 is read as well; deeper nesting is not seen.
DEPTH: Final = 2
# A blob of pictures or archives shows in its first bytes that it holds no text.
FIRST: Final = 16
LOOKED_AT: Final = 96
PRINTABLE: Final = frozenset(range(32, 127)) | {9, 10, 13} | frozenset(range(160, 256))
# Largest blob that is read, in characters: text files, not archives.
LONGEST: Final = 262_144


def blob_hits(text: str, finds: Callable[[str], bool], depth: int = DEPTH) -> Iterator[Hit]:
    """Base64 blobs of `text` whose content `finds` says holds a secret."""
    if not LONG_WORD.search(fold(text)):
        return
    for found in BLOB.finditer(text):
        blob = found.group()
        if len(blob) > LONGEST or not MIXED.search(blob[:LOOKED_AT]):
            continue
        plain = decoded_text(blob)
        if plain is None:
            continue
        if finds(plain) or (depth > 1 and any(blob_hits(plain, finds, depth - 1))):
            yield Hit(found.start(), found.end(), "base64", "base64", Rank.WHOLE)


def decoded_text(blob: str) -> str | None:
    """The text that `blob` is base64 of (UTF-8 or UTF-16), or None if it holds none."""
    bare = re.sub(r"\s", "", blob).replace("-", "+").replace("_", "/").rstrip("=")
    first = _bytes(bare[:FIRST])
    if first is None or not _is_text(first):
        return None
    head = _bytes(bare[:LOOKED_AT])
    if head is None or not _is_text(head):
        return None
    whole = head if len(bare) <= LOOKED_AT else _bytes(bare)
    if whole is None:
        return None
    wide = whole[1::2].count(0) * 3 > len(whole)
    try:
        return whole.decode("utf-16-le" if wide else "utf-8")
    except UnicodeDecodeError:
        return None


def _bytes(bare: str) -> bytes | None:
    # A length of 4n+1 cannot be base64; the last character is then part of something else.
    bare = bare[: len(bare) - (len(bare) % 4 == 1)]
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    except (binascii.Error, ValueError):
        return None


def _is_text(head: bytes) -> bool:
    narrow = head[::2] if head[1::2].count(0) * 3 > len(head) else head
    return sum(byte in PRINTABLE for byte in narrow) >= 0.95 * len(narrow)
