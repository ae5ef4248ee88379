"""Saying that one has read where one is mentioned, and taking that back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils import timezone

from analysis.models import Mention
from analysis.selectors.annotations import mentions_unread
from transcripts.access import May, Reader
from transcripts.undo import UndoError, undoes

READ = "mentions_read"


def mentions_read(*, reader: Reader, pks: Iterable[int] | None = None) -> list[int]:
    """Note that a person has read mentions of theirs, all where `pks` is None; returns which were
    new to them.
    """
    own = Mention.objects.filter(user=reader.user, annotation__project=reader.project, read_at=None)
    if pks is not None:
        own = own.filter(pk__in=list(pks))
    found = list(own.order_by("pk").values_list("pk", flat=True))
    Mention.objects.filter(pk__in=found).update(read_at=timezone.now())
    return found


@undoes(READ, may=May.READ_TRANSCRIPTS)
def mentions_unread_again(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Let mentions be new to a person again."""
    own = Mention.objects.filter(user=reader.user, annotation__project=reader.project)
    if not own.filter(pk__in=noted["mentions"]).exclude(read_at=None).update(read_at=None):
        raise UndoError("They are not there any more.")
    return f"You have not read {mentions_unread(reader=reader).count():,} of them, as before."
