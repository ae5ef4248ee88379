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
from transcripts.undo import undoes
from transcripts.undo_rows import Pair, Rows, pairs_of

GONE, CHANGED, COLUMNS = "view_gone", "view_changed", "columns_chosen"
LONGEST_NAME = 80
MOST_VIEWS = 200
VIEWS = Rows(
    SavedView,
    ("user_id", "name", "query", "columns", "shared", "default_for"),
    name=lambda view: f"“{view.name}”",
)
CHOSEN = Rows(ColumnChoice, ("user_id", "columns"), name=lambda _: "Your choice of columns")


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
) -> tuple[SavedView, Pair]:
    """Keep a state of the list under a name; a view of one's own of that name is replaced. Returns
    it with what takes it back.
    """
    masker = typed_masker(reader.project)
    masked = _name(reader, name)
    view = SavedView.objects.filter(
        project=reader.project, user=reader.user, name=masked
    ).first() or SavedView(project=reader.project, user=reader.user, name=masked)
    if view.pk is None and len(views_of(reader=reader)) >= MOST_VIEWS:
        raise ViewError(f"There are {MOST_VIEWS} views already. Delete one first.")
    before = VIEWS.told(view) if view.pk else None
    view.query = masker.text(RunFilter.of_text(query).masked(masker).text)
    view.columns = known_columns(columns)
    if not view.default_for:
        view.shared = shared
    view.save()
    return view, (before, VIEWS.told(view))


@transaction.atomic
def view_change(
    *, reader: Reader, view: SavedView, name: str, shared: bool, default_for: str
) -> list[Pair]:
    """Rename a view, share it, or make it a role's default; returns what takes it back.

    Another default of the role is none any more. Who may change it: see `may_change`.
    """
    before = VIEWS.told(view)
    view.name = _name(reader, name)
    if default_for != view.default_for:
        reader.require(May.ADMINISTER)
    others = _no_default(reader, default_for, view) if default_for else []
    view.shared, view.default_for = shared or bool(default_for), default_for
    view.save()
    return [(before, VIEWS.told(view)), *others]


def _no_default(reader: Reader, role: str, but: SavedView) -> list[Pair]:
    """Let a role have no default."""
    pairs: list[Pair] = []
    others = SavedView.objects.filter(project=reader.project, default_for=role)
    for other in others.exclude(pk=but.pk).order_by("pk"):
        before = VIEWS.told(other)
        other.default_for = ""
        other.save(update_fields=["default_for"])
        pairs.append((before, VIEWS.told(other)))
    return pairs


@transaction.atomic
def view_delete(*, view: SavedView) -> Pair:
    """Delete a view; returns what takes it back."""
    before = VIEWS.told(view)
    view.delete()
    return before, None


def may_change(*, reader: Reader, view: SavedView) -> bool:
    """One's own views; an administrator also those that others share."""
    return view.user_id == reader.user.pk or (view.shared and reader.may(May.ADMINISTER))


def columns_of(*, reader: Reader) -> list[str]:
    """The columns that a reader chose, or those that everybody sees."""
    chosen = ColumnChoice.objects.filter(project=reader.project, user=reader.user).first()
    return known_columns(chosen.columns) if chosen else list(DEFAULT)


@transaction.atomic
def columns_choose(*, reader: Reader, columns: Iterable[str]) -> Pair:
    """Keep the columns that a reader sees; those of everybody again where none is known. Returns
    what takes it back.
    """
    own = ColumnChoice.objects.filter(project=reader.project, user=reader.user)
    before = CHOSEN.told(own.select_for_update().first())
    chosen, _ = ColumnChoice.objects.update_or_create(
        project=reader.project,
        user=reader.user,
        defaults={"columns": known_columns(columns) or list(DEFAULT)},
    )
    return before, CHOSEN.told(chosen)


@undoes(GONE, may=May.SEE_RUNS)
def _view_back(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Bring a deleted view back; not as the default of a role that has another one by now."""
    ((before, after),) = pairs_of(noted)
    assert before is not None  # it was there
    taken = SavedView.objects.filter(project=reader.project, default_for=before["default_for"])
    if before["default_for"] and taken.exists():
        before = {**before, "default_for": ""}
    _may_put_back(reader, [(before, after)])
    VIEWS.put_back(reader.project, [(before, after)])
    return f"“{before['name']}” is back."


@undoes(CHANGED, may=May.SEE_RUNS)
def _views_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Let a view be as it was, and the one whose place as a default it took."""
    pairs = pairs_of(noted)
    _may_put_back(reader, pairs)
    VIEWS.put_back(reader.project, pairs)
    before, after = pairs[0]
    if before is None:
        return f"“{after and after['name']}” is not saved after all."
    return f"“{before['name']}” is as before."


@undoes(COLUMNS, may=May.SEE_RUNS)
def _columns_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Show the columns of before."""
    CHOSEN.put_back(reader.project, pairs_of(noted))
    return "The columns are as before."


def _may_put_back(reader: Reader, pairs: Iterable[Pair]) -> None:
    """Whoever is no administrator any more has a say in their own views alone."""
    for before, after in pairs:
        told = before or after or {}
        other = told["user_id"] != reader.user.pk
        if other or (before and after and before["default_for"] != after["default_for"]):
            reader.require(May.ADMINISTER)


def _name(reader: Reader, name: str) -> MaskedText:
    plain = " ".join(name.replace("\0", "").split())[:LONGEST_NAME]
    if not plain:
        raise ViewError("A view needs a name.")
    return typed_masker(reader.project).text(plain)
