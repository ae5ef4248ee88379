"""Pages of a list by key set: rows are ordered by a time and their id, and a page begins after a
row that a cursor names, so that page 400 costs what page 1 costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from django.db.models import BooleanField, Expression, F, Func, Model, QuerySet, Value

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class KeySetPage(Generic[Row]):
    """Rows, latest first; `older` and `newer` are cursors of the pages beside, empty for none."""

    rows: list[Row]
    older: str = ""
    newer: str = ""


def key_set_page(
    matching: QuerySet[Row], *, by: str, before: str, after: str, limit: int
) -> KeySetPage[Row]:
    """The page of `matching` before or after a cursor, ordered by the time `by`. One query. A bad
    cursor is passed over.
    """
    place_before, place_after = place_of(before), place_of(after)
    if place_after is not None:
        above = matching.filter(beyond((F(by), F("pk")), place_after, up=True))
        rows = list(above.order_by(by, "pk")[: limit + 1])
        more_newer, more_older = len(rows) > limit, True
        rows = rows[:limit][::-1]
    else:
        if place_before is not None:
            matching = matching.filter(beyond((F(by), F("pk")), place_before, up=False))
        rows = list(matching.order_by(f"-{by}", "-pk")[: limit + 1])
        more_newer, more_older = place_before is not None, len(rows) > limit
        rows = rows[:limit]
    return KeySetPage(
        rows,
        older=_cursor(rows[-1], by) if rows and more_older else "",
        newer=_cursor(rows[0], by) if rows and more_newer else "",
    )


def beyond(columns: tuple[Expression | F, ...], place: tuple[object, ...], *, up: bool) -> Func:
    """The condition of rows that come after a place in ascending (`up`) or descending order.

    Compared as rows, so that an index on the columns begins there: none before the place is read,
    nor of those that are equal in the first column.
    """
    here, there = _row(*columns), _row(*(Value(part) for part in place))
    return Func(
        here,
        there,
        template="%(expressions)s",
        arg_joiner=" > " if up else " < ",
        output_field=BooleanField(),
    )


def _row(*parts: Expression | F) -> Func:
    # Of no type that Django knows; it is never read.
    return Func(*parts, template="(%(expressions)s)", output_field=BooleanField())


def place_of(cursor: str) -> tuple[datetime, int] | None:
    """What a page's cursor says; None for an empty one, and for any other text."""
    micros, dash, pk = cursor.partition("-")
    if not (dash and _is_number(micros, 17) and _is_number(pk, 18)):
        return None
    return EPOCH + timedelta(microseconds=int(micros)), int(pk)


def _cursor(row: Model, by: str) -> str:
    """A row's place: microseconds since 1970, and its id."""
    return f"{(getattr(row, by) - EPOCH) // timedelta(microseconds=1)}-{row.pk}"


def _is_number(text: str, length: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= length
