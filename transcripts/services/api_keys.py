"""API keys: made, shown once, revoked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from transcripts.choices import KeyScope
from transcripts.maskers import typed_masker
from transcripts.models import ApiKey, Project, User

# Says what a string is that turns up in a log or a repository; secret scanners look for such a
# head.
KEY_HEAD = "agd_"
KEY_BYTES = 32
SHOWN_CHARACTERS = len(KEY_HEAD) + 6


class KeyOverError(ValueError):
    """A key cannot be followed by another one."""


def key_create(
    *,
    project: Project,
    name: str,
    scopes: Collection[KeyScope | str],
    user: User | None = None,
    lasts: timedelta | None = None,
) -> tuple[ApiKey, str]:
    """Make a key; returns it with its text, which is kept nowhere and shown once. It ends by itself
    after `lasts`, if that is given.

    Raises `ValueError` for an unknown scope, and where there is none.
    """
    wanted = sorted({KeyScope(scope).value for scope in scopes})
    if not wanted:
        raise ValueError("A key needs a scope: ingest, read or results.")
    text = KEY_HEAD + secrets.token_urlsafe(KEY_BYTES)
    key = ApiKey.objects.create(
        project=project,
        # People paste what they have at hand.
        name=typed_masker(project).text(name.strip())[:120] or "key",
        prefix=text[:SHOWN_CHARACTERS],
        digest=key_digest(text),
        scopes=wanted,
        created_by=user,
        expires_at=timezone.now() + lasts if lasts else None,
    )
    return key, text


@transaction.atomic
def key_rotate(*, key: ApiKey, overlap: timedelta, user: User | None = None) -> tuple[ApiKey, str]:
    """Make a successor with the same name, scopes and term; the old key still works for `overlap`.

    Raises `KeyOverError` for a key that is revoked, has expired, or has a successor.
    """
    locked = ApiKey.objects.select_for_update().get(pk=key.pk)
    now = timezone.now()
    if locked.revoked_at or locked.successor_id or locked.expired:
        raise KeyOverError("This key has ended or has a successor: make a new one.")
    term = locked.expires_at - locked.created_at if locked.expires_at else None
    new, text = key_create(
        project=locked.project, name=locked.name, scopes=locked.scopes, user=user, lasts=term
    )
    locked.successor = new
    locked.expires_at = min(filter(None, (now + overlap, locked.expires_at)))
    locked.save(update_fields=["successor", "expires_at"])
    return new, text


def key_revoke(*, key: ApiKey) -> None:
    """End a key at once. Its line stays, so that the audit log can be read."""
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])


def key_digest(text: str) -> bytes:
    """What is kept of a key. It has 256 random bits, so a plain hash cannot be guessed back."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
