from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.pages.folds import Fold
from analysis.pages.layout import Item, Kind, Layout, Sizes

END = ("rounds", 100, 100)
SMALL = Sizes(head=1, before=1, after=2, tail=1)


def a_fold(first: int, last: int) -> Fold:
    return Fold(first, last, "alternating_calls", ("a", "b"))


def a_layout(last: int, *folds: Fold, marks=(), missing=()) -> Layout:  # type: ignore[no-untyped-def]
    return Layout(last=last, folds=folds, marks=marks, missing=missing)


def told(items: list[Item]) -> list[tuple[str, int, int]]:
    return [(item.kind.value, item.first, item.last) for item in items]


def test_a_run_without_rounds_has_no_lines() -> None:
    assert a_layout(0).around(1) == []


@pytest.mark.parametrize(
    ("last", "anchor", "lines"),
    [
        pytest.param(1, 1, [("rounds", 1, 1)], id="one round"),
        pytest.param(7, 4, [("rounds", 1, 7)], id="holes too small to tell are loaded"),
        pytest.param(
            100,
            50,
            [("rounds", 1, 1), ("gap", 2, 48), ("rounds", 49, 52), ("gap", 53, 99), END],
            id="head, window and tail",
        ),
        pytest.param(100, 2, [("rounds", 1, 4), ("gap", 5, 99), END], id="at head"),
        pytest.param(
            100, 900, [("rounds", 1, 1), ("gap", 2, 98), ("rounds", 99, 100)], id="past it"
        ),
    ],
)  # fmt: skip
def test_lines_around_an_anchor(last: int, anchor: int, lines: list[tuple[str, int, int]]) -> None:
    assert told(a_layout(last).around(anchor, SMALL)) == lines


def test_a_fold_takes_one_line_however_long() -> None:
    items = a_layout(32_843, a_fold(5, 32_000)).around(4, SMALL)

    assert told(items) == [
        ("rounds", 1, 4),
        ("fold", 5, 32_000),
        ("rounds", 32_001, 32_001),
        ("gap", 32_002, 32_842),
        ("rounds", 32_843, 32_843),
    ]


def test_a_mark_stands_out_of_its_fold() -> None:
    items = a_layout(20, a_fold(3, 20), marks=[10]).around(1)

    assert told(items) == [
        ("rounds", 1, 2),
        ("fold", 3, 9),
        ("rounds", 10, 10),
        ("fold", 11, 20),
    ]


def test_what_is_left_of_a_fold_is_not_folded_when_it_is_short() -> None:
    assert told(a_layout(10, a_fold(3, 10), marks=[5]).around(1)) == [
        ("rounds", 1, 5),
        ("fold", 6, 10),
    ]


def test_missing_rounds_have_their_line_and_are_never_folded() -> None:
    items = a_layout(30, a_fold(3, 30), missing=[(10, 12)]).around(1)

    assert ("missing", 10, 12) in told(items)
    assert not any(item.kind is Kind.FOLD for item in items)


def test_a_part_covers_its_stretch_and_no_more() -> None:
    layout = a_layout(100)

    assert told(layout.part(10, 60, loaded=[(10, 21)])) == [("rounds", 10, 21), ("gap", 22, 60)]
    assert told(layout.part(10, 60, loaded=[(49, 60)])) == [("gap", 10, 48), ("rounds", 49, 60)]
    assert told(layout.part(10, 60, loaded=[])) == [("gap", 10, 60)]


@given(
    last=st.integers(1, 400),
    anchor=st.integers(-5, 500),
    spans=st.lists(st.tuples(st.integers(1, 400), st.integers(0, 60)), max_size=4),
    marks=st.lists(st.integers(1, 400), max_size=6),
    gaps=st.lists(st.tuples(st.integers(1, 400), st.integers(0, 9)), max_size=2),
)
def test_every_round_is_told_once(
    last: int,
    anchor: int,
    spans: list[tuple[int, int]],
    marks: list[int],
    gaps: list[tuple[int, int]],
) -> None:
    folds = [a_fold(first, min(first + more, last)) for first, more in spans if first <= last]
    missing = [(first, first + more) for first, more in gaps[:1] if first <= last]

    items = a_layout(last, *folds, marks=marks, missing=missing).around(anchor)

    numbers = [number for item in items for number in range(item.first, item.last + 1)]
    assert numbers == list(range(1, last + 1))
    assert sum(item.count for item in items if item.kind is Kind.ROUNDS) <= 40


@given(
    last=st.integers(1, 400),
    numbers=st.lists(st.integers(1, 400), max_size=8),
    spans=st.lists(st.tuples(st.integers(1, 400), st.integers(0, 60)), max_size=4),
)
def test_a_report_tells_every_round_and_shows_those_that_are_named(
    last: int, numbers: list[int], spans: list[tuple[int, int]]
) -> None:
    folds = [a_fold(first, min(first + more, last)) for first, more in spans if first <= last]
    named = sorted({min(number, last) for number in numbers})

    items = a_layout(last, *folds, marks=named).near(named)

    told_rounds = [number for item in items for number in range(item.first, item.last + 1)]
    shown = {
        number
        for item in items
        if item.kind is Kind.ROUNDS
        for number in range(item.first, item.last + 1)
    }
    assert told_rounds == list(range(1, last + 1))
    assert set(named) <= shown


@given(
    last=st.integers(1, 300),
    ends=st.lists(st.integers(1, 300), min_size=2, max_size=8, unique=True),
)
def test_exactly_what_fits_is_loaded(last: int, ends: list[int]) -> None:
    marks = sorted(end for end in ends if end <= last)
    spans = [(a, b) for a, b in zip(marks[::2], marks[1::2], strict=False)]

    items = a_layout(last).exactly(1, last, loaded=spans)

    shown = [(item.first, item.last) for item in items if item.kind is Kind.ROUNDS]
    assert sum(b - a + 1 for a, b in shown) == sum(b - a + 1 for a, b in spans)
    assert [number for item in items for number in range(item.first, item.last + 1)] == list(
        range(1, last + 1)
    )
