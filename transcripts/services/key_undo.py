"""Takes back that a key was revoked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from transcripts.access import May, Reader
from transcripts.models import ApiKey
from transcripts.undo import UndoError, undoes
from transcripts.undo_rows import Rows, pairs_of

REVOKED = "key_revoked"
KEYS = Rows(ApiKey, ("revoked_at",), name=lambda key: f"The key {key.name}")


@undoes(REVOKED, may=May.ADMINISTER)
def key_back(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Let a revoked key work again, where its term is not over."""
    key = cast(ApiKey, KEYS.put_back(reader.project, pairs_of(noted))[0])
    if key.expired:
        raise UndoError(f"The term of {key.name} is over since; make a new key.")
    return f"{key.name} works again."
