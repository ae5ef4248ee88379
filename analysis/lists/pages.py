"""Pages of the run list by key set: one far down costs no more than the first, and runs that come
in between shift nothing. What is ordered by merit is short, and paged by place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import urlencode

from django.db.models import Expression, F, Func, Q, QuerySet

from analysis.lists.filters import RunFilter, number_of
from analysis.lists.matching import runs_matching
from analysis.lists.searching import RANKED, Search, ranked, search_of
from analysis.models.verdicts import cost_within
from transcripts.access import Reader
from transcripts.key_sets import beyond
from transcripts.models import Project, Run

ROWS_PER_PAGE = 25


class CursorError(ValueError):
    """A cursor is none that `cursor_of` gave."""


@dataclass(frozen=True)
class RunPage:
    """One page of the list; `older` and `newer` are the query strings of the pages beside it.
    `cursor` goes on after the last run, None at the end. `capped`: no more than RANKED are ordered.
    """

    runs: list[Run] = field(default_factory=list)
    older: str = ""
    newer: str = ""
    cursor: str | None = None
    capped: bool = False


@dataclass(frozen=True)
class _Order:
    """An order by a number, the highest first, then by `ident`, the run's id in the table that has
    the number. `value` None: by id alone.
    """

    value: Expression | F | None = None
    of_run: str = ""
    ident: str = "pk"
    up: bool = False

    def runs(self, runs: QuerySet[Run], project: Project) -> QuerySet[Run]:
        if self.value is None:
            return runs
        if self.ident != "pk":
            runs = runs.filter(verdict__project=project)
        return runs.alias(order=self.value)

    def keys(self, *, back: bool) -> tuple[str, ...]:
        sign = "" if back != self.up else "-"
        return (f"{sign}pk",) if self.value is None else (f"{sign}order", f"{sign}pk")

    def beyond(self, place: tuple[Decimal | None, int], *, back: bool) -> Q | Func:
        """What comes after a place in the list, or before it."""
        value, pk = place
        up = back != self.up
        if self.value is None:
            return Q(**{f"pk__{'gt' if up else 'lt'}": pk})
        return beyond((self.value, F(self.ident)), (value, pk), up=up)

    def place_of(self, cursor: str) -> tuple[Decimal | None, int] | None:
        """The place that a cursor of this order says; None for that of another."""
        place = place_of(cursor)
        return place if place and (place[0] is None) == (self.value is None) else None

    def value_of(self, run: Run) -> str:
        if self.of_run == "round_count":
            return f"{run.round_count}_"
        verdict = getattr(run, "verdict", None)
        if self.of_run == "cost":
            cost = verdict.cost if verdict else None
            return f"{-1 if cost is None else cost}_"
        if self.of_run == "wasted":
            return f"{verdict.wasted_rounds if verdict else 0}_"
        return ""


ORDERS = {
    "newest": _Order(),
    "oldest": _Order(up=True),
    "cost": _Order(cost_within("verdict__"), "cost", "verdict__pk"),
    "rounds": _Order(F("round_count"), "round_count"),
    "wasted": _Order(F("verdict__wasted_rounds"), "wasted", "verdict__pk"),
}


def run_page(
    *,
    project: Project,
    wanted: RunFilter,
    reader: Reader | None,
    before: str = "",
    after: str = "",
    limit: int | None = None,
    search: Search | None = None,
) -> RunPage:
    """One page of `limit` runs or ROWS_PER_PAGE. `before` and `after` are cursors of `cursor_of`; a
    bad one is passed over. `search` is what `search_of` found, where the caller has asked already.
    """
    limit = limit or ROWS_PER_PAGE
    if wanted.searches and search is None:
        search = search_of(project=project, wanted=wanted, reader=reader)
    matching = runs_matching(project=project, wanted=wanted, reader=reader)
    if search is not None and wanted.order == "best":
        return _ranked_page(matching, wanted, search, place_of(before or after), limit)
    order = ORDERS.get(wanted.order, ORDERS["newest"])
    matching = order.runs(matching.select_related("verdict").defer("verdict__cells"), project)
    newer_than, older_than = order.place_of(after), order.place_of(before)
    back, place = newer_than is not None, newer_than or older_than
    if place is not None:
        matching = matching.filter(order.beyond(place, back=back))
    matching = matching.order_by(*order.keys(back=back))
    rows = _rows(matching, search, limit + 1, staged=wanted.order == "newest" and not back)
    more, rows = len(rows) > limit, rows[:limit]
    if back:
        rows.reverse()
    has_older, has_newer = (True, more) if back else (more, place is not None)
    cursor = cursor_of(rows[-1], wanted.order) if rows and has_older else None
    return RunPage(
        rows,
        older=_paged(wanted, "before", cursor) if cursor else "",
        newer=_paged(wanted, "after", cursor_of(rows[0], wanted.order))
        if rows and has_newer
        else "",
        cursor=cursor,
    )


def _rows(matching: QuerySet[Run], search: Search | None, limit: int, *, staged: bool) -> list[Run]:
    if search is None:
        return list(matching[:limit])
    rows: list[Run] = []
    for scope in search.scopes if staged else [None]:
        rows = list(search.narrow(matching, scope)[:limit])
        if len(rows) == limit:
            break
    return rows


def _ranked_page(
    matching: QuerySet[Run],
    wanted: RunFilter,
    search: Search,
    place: tuple[Decimal | None, int] | None,
    limit: int,
) -> RunPage:
    start = place[1] if place else 0
    pks = ranked(search=search, runs=matching)
    shown = pks[start : start + limit]
    found = Run.objects.select_related("verdict").in_bulk(shown)
    cursor = str(start + limit) if len(pks) > start + limit else None
    return RunPage(
        [found[pk] for pk in shown if pk in found],
        older=_paged(wanted, "before", cursor) if cursor else "",
        newer=_paged(wanted, "before", str(max(start - limit, 0))) if start else "",
        cursor=cursor,
        capped=len(pks) == RANKED,
    )


def neighbours(
    *, run: Run, project: Project, wanted: RunFilter, reader: Reader
) -> tuple[Run | None, Run | None]:
    """The run above and the run below `run` in the list."""
    search = search_of(project=project, wanted=wanted, reader=reader)
    matching = runs_matching(project=project, wanted=wanted, reader=reader)
    if search is not None and wanted.order == "best":
        return _beside(run, ranked(search=search, runs=matching))
    order = ORDERS.get(wanted.order, ORDERS["newest"])
    if search is not None:
        matching = search.narrow(matching)
    matching = order.runs(matching, project)
    place = place_of(cursor_of(run, wanted.order))
    assert place is not None
    above, below = (
        matching.filter(order.beyond(place, back=back))
        .order_by(*order.keys(back=back))
        .only("pk")
        .first()
        for back in (True, False)
    )
    return above, below


def _beside(run: Run, pks: list[int]) -> tuple[Run | None, Run | None]:
    if run.pk not in pks:
        return None, None
    at = pks.index(run.pk)
    above = Run(pk=pks[at - 1]) if at else None
    return above, Run(pk=pks[at + 1]) if at + 1 < len(pks) else None


def cursor_of(run: Run, order: str = "newest") -> str:
    """A run's place in the list: what it is ordered by, and its id."""
    return f"{ORDERS.get(order, ORDERS['newest']).value_of(run)}{run.pk}"


def cursor_check(cursor: str) -> None:
    """Raise CursorError for what `cursor_of` never gave; an empty one is the list's beginning."""
    if cursor and place_of(cursor) is None:
        raise CursorError("This is no cursor of this list.")


def place_of(cursor: str) -> tuple[Decimal | None, int] | None:
    """What a cursor says; None for none. Those of before there were orders have a time first."""
    value, mark, pk = cursor.rpartition("_" if "_" in cursor else "-")
    if not (pk.isascii() and pk.isdecimal() and len(pk) <= 18):
        return None
    number = number_of(value) if mark == "_" else None
    if mark == "_" and number is None:
        return None
    if mark == "-" and not (value.isascii() and value.isdecimal() and len(value) <= 17):
        return None
    return number, int(pk)


def _paged(wanted: RunFilter, name: str, cursor: str) -> str:
    return "&".join(filter(None, [wanted.text, urlencode({name: cursor})]))
