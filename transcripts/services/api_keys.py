"""API keys: made, shown once, revoked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection

from django.utils import timezone

from transcripts.choices import KeyScope
from transcripts.models import ApiKey, Project, User

# Says what a string is that turns up in a log or a repository; secret scanners look for such a
# head.
KEY_HEAD = "agd_"
KEY_BYTES = 32
SHOWN_CHARACTERS = len(KEY_HEAD) + 6


def key_create(
    *, project: Project, name: str, scopes: Collection[KeyScope | str], user: User | None = None
) -> tuple[ApiKey, str]:
    """Make a key; returns it with its text, which is kept nowhere and shown once.

    Raises `ValueError` for an unknown scope, and where there is none.
    """
    wanted = sorted({KeyScope(scope).value for scope in scopes})
    if not wanted:
        raise ValueError("A key needs a scope: ingest, read or results.")
    text = KEY_HEAD + secrets.token_urlsafe(KEY_BYTES)
    key = ApiKey.objects.create(
        project=project,
        name=name.strip()[:120] or "key",
        prefix=text[:SHOWN_CHARACTERS],
        digest=key_digest(text),
        scopes=wanted,
        created_by=user,
    )
    return key, text


def key_revoke(*, key: ApiKey) -> None:
    """End a key at once. Its line stays, so that the audit log can be read."""
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])


def key_digest(text: str) -> bytes:
    """What is kept of a key. It has 256 random bits, so a plain hash cannot be guessed back."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
