"""Taking changes back: who made a change gets a button for it, for a day.

A kind of change is undone by one function, found by its name (`@undoes`). It is given what was
noted when the change was made, and refuses with `UndoError` where somebody has gone on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest
from django.utils import timezone

from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.models import Change
from transcripts.pages import note_access

UNDONE_WITHIN = timedelta(days=1)
# In a message's tags, before the change's id.
TAG = "undo-"


class UndoError(Exception):
    """The change cannot be taken back any more; the text says why, for people."""


Undo = Callable[[Reader, Mapping[str, Any]], str]


@dataclass(frozen=True)
class _Kind:
    undo: Undo
    may: May


_KINDS: dict[str, _Kind] = {}


def undoes(kind: str, *, may: May) -> Callable[[Undo], Undo]:
    """Name the function that takes back changes of `kind`, by people who may do `may`.

    It gets who asks and `before`, changes the rows back, and returns one sentence on what it did.
    """

    def register(undo: Undo) -> Undo:
        if kind in _KINDS:
            raise ValueError(f"Two functions undo {kind}.")
        _KINDS[kind] = _Kind(undo, may)
        return undo

    return register


def change_note(*, reader: Reader, kind: str, before: Mapping[str, Any]) -> Change:
    """Keep what is needed to take a change back. `before` is JSON; its texts are masked ones."""
    if kind not in _KINDS:
        raise ValueError(f"Nothing undoes {kind}.")
    return Change.objects.create(
        project=reader.project, user=reader.user, kind=kind, before=dict(before)
    )


def change_tell(request: HttpRequest, words: str, change: Change) -> None:
    """Say what was done, with a button that takes it back."""
    messages.success(request, words, extra_tags=f"{TAG}{change.pk}")


def change_offer(
    *, request: HttpRequest, reader: Reader, kind: str, before: Mapping[str, Any], words: str
) -> None:
    """Say what was done, and keep what takes it back; both `change_note` and `change_tell`."""
    change_tell(request, words, change_note(reader=reader, kind=kind, before=before))


def change_undo(*, request: HttpRequest, reader: Reader, pk: int) -> str:
    """Take a change of one's own back; returns a sentence on it. Raises `UndoError`."""
    with transaction.atomic():
        own = Change.objects.select_for_update().filter(project=reader.project, user=reader.user)
        change = own.filter(pk=pk).first()
        if change is None:
            raise Http404("No such change of yours.")
        if change.at < timezone.now() - UNDONE_WITHIN:
            raise UndoError("This is too long ago to be taken back.")
        if change.undone_at is not None:
            raise UndoError("This was taken back already.")
        kind = _KINDS[change.kind]
        reader.require(kind.may)
        words = kind.undo(reader, change.before)
        change.undone_at = timezone.now()
        change.save(update_fields=["undone_at"])
        detail = {"kind": change.kind, "said": words}
        note_access(request, reader, AccessAction.UNDO, None, detail)
    return words


def changes_forget() -> int:
    """Remove what nobody can take back any more; returns how many."""
    return Change.objects.filter(at__lt=timezone.now() - UNDONE_WITHIN).delete()[0]
