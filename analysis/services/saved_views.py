"""Views of the run list that people keep, and the columns that each of them sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q

from analysis.lists.columns import DEFAULT, known_columns
from analysis.lists.filters import RunFilter
from analysis.models import ColumnChoice, SavedView
from transcripts.access import May, Reader
from transcripts.maskers import typed_masker
from transcripts.masking.types import MaskedText
from transcripts.undo import UndoError, undoes

GONE, CHANGED = "view_gone", "view_changed"
LONGEST_NAME = 80
MOST_VIEWS = 200
FIELDS = ("name", "query", "columns", "shared", "default_for")


class ViewError(ValueError):
    """The view cannot be kept so; the text says why, for people."""


def views_of(*, reader: Reader) -> list[SavedView]:
    """The views that a reader sees: their own, then those that others share."""
    seen = SavedView.objects.filter(project=reader.project).filter(
        Q(user=reader.user) | Q(shared=True)
    )
    views = list(seen.select_related("user").order_by("name", "pk")[:MOST_VIEWS])
    return sorted(views, key=lambda view: view.user_id != reader.user.pk)


def default_view(*, reader: Reader) -> SavedView | None:
    """The view that members of the reader's role see when they open the list."""
    return SavedView.objects.filter(project=reader.project, default_for=reader.role).first()


@transaction.atomic
def view_save(
    *, reader: Reader, name: str, query: str, columns: Iterable[str], shared: bool
) -> SavedView:
    """Keep a state of the list under a name; a view of one's own of that name is replaced."""
    masker = typed_masker(reader.project)
    masked = _name(reader, name)
    view = SavedView.objects.filter(
        project=reader.project, user=reader.user, name=masked
    ).first() or SavedView(project=reader.project, user=reader.user, name=masked)
    if view.pk is None and len(views_of(reader=reader)) >= MOST_VIEWS:
        raise ViewError(f"There are {MOST_VIEWS} views already. Delete one first.")
    view.query = masker.text(RunFilter.of_text(query).masked(masker).text)
    view.columns = known_columns(columns)
    if not view.default_for:
        view.shared = shared
    view.save()
    return view


@transaction.atomic
def view_change(
    *, reader: Reader, view: SavedView, name: str, shared: bool, default_for: str
) -> dict[str, Any]:
    """Rename a view, share it, or make it a role's default; returns what `transcripts.undo` needs.

    Another default of the role is none any more. Who may change it: see `may_change`.
    """
    before = _told(view)
    view.name = _name(reader, name)
    if default_for != view.default_for:
        reader.require(May.ADMINISTER)
    if default_for:
        others = SavedView.objects.filter(project=reader.project, default_for=default_for)
        others.exclude(pk=view.pk).update(default_for="")
    view.shared, view.default_for = shared or bool(default_for), default_for
    view.save()
    return before


@transaction.atomic
def view_delete(*, view: SavedView) -> dict[str, Any]:
    """Delete a view; returns what `transcripts.undo` needs."""
    before = _told(view)
    view.delete()
    return before


def may_change(*, reader: Reader, view: SavedView) -> bool:
    """One's own views; an administrator also those that others share."""
    return view.user_id == reader.user.pk or (view.shared and reader.may(May.ADMINISTER))


def columns_of(*, reader: Reader) -> list[str]:
    """The columns that a reader chose, or those that everybody sees."""
    chosen = ColumnChoice.objects.filter(project=reader.project, user=reader.user).first()
    return known_columns(chosen.columns) if chosen else list(DEFAULT)


def columns_choose(*, reader: Reader, columns: Iterable[str]) -> None:
    """Keep the columns that a reader sees; those of everybody again where none is known."""
    ColumnChoice.objects.update_or_create(
        project=reader.project,
        user=reader.user,
        defaults={"columns": known_columns(columns) or list(DEFAULT)},
    )


@undoes(GONE, may=May.SEE_RUNS)
def _view_back(reader: Reader, before: Mapping[str, Any]) -> str:
    """Bring a deleted view back."""
    taken = SavedView.objects.filter(
        project=reader.project, default_for=before["default_for"]
    ).exclude(default_for="")
    default_for = "" if taken.exists() else before["default_for"]
    view = SavedView(project=reader.project, user_id=before["user"])
    _put(reader, view, {**before, "default_for": default_for})
    return f"“{view.name}” is back."


@undoes(CHANGED, may=May.SEE_RUNS)
def _view_as_before(reader: Reader, before: Mapping[str, Any]) -> str:
    """Let a view be as it was."""
    view = SavedView.objects.filter(project=reader.project, pk=before["pk"]).first()
    if view is None:
        raise UndoError("The view was deleted in the meantime.")
    others = SavedView.objects.filter(project=reader.project, default_for=before["default_for"])
    if before["default_for"] and others.exclude(pk=view.pk).exists():
        raise UndoError("The role has another view by now.")
    _put(reader, view, before)
    return f"“{view.name}” is as before."


def _put(reader: Reader, view: SavedView, told: Mapping[str, Any]) -> None:
    masker = typed_masker(reader.project)
    for name in FIELDS:
        value = told[name]
        # Masked already: masking it again changes nothing.
        setattr(view, name, masker.text(value) if name in ("name", "query") else value)
    view.save()


def _told(view: SavedView) -> dict[str, Any]:
    # A change keeps masked texts alone; our own words come out as they are.
    masked = typed_masker(view.project).text
    return {
        "pk": view.pk,
        "user": view.user_id,
        "name": view.name,
        "query": view.query,
        "columns": [masked(name) for name in view.columns],
        "shared": view.shared,
        "default_for": masked(view.default_for),
    }


def _name(reader: Reader, name: str) -> MaskedText:
    plain = " ".join(name.replace("\0", "").split())[:LONGEST_NAME]
    if not plain:
        raise ViewError("A view needs a name.")
    return typed_masker(reader.project).text(plain)
