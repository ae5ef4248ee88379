from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from analysis.pages.fit import Line, kept

WEIGHTS = st.lists(st.integers(1, 120), min_size=1, max_size=40)


def lines_of(weights: list[int]) -> list[Line]:
    return [Line(number, number, weight) for number, weight in enumerate(weights, 1)]


def test_all_that_fits_is_kept() -> None:
    assert kept(lines_of([10] * 9), anchor=4, room=90) == [(1, 9)]


def test_the_ends_and_the_rounds_about_the_anchor_come_first() -> None:
    assert kept(lines_of([10] * 30), anchor=15, room=60) == [(1, 1), (14, 17), (30, 30)]


def test_what_follows_is_worth_more_than_what_was_before() -> None:
    assert kept(lines_of([10] * 30), anchor=15, room=90) == [(1, 1), (13, 19), (30, 30)]


def test_no_line_is_jumped_over() -> None:
    weights = [10] * 20
    weights[10] = 1_000

    assert kept(lines_of(weights), anchor=9, room=150) == [(1, 10), (20, 20)]


def test_the_line_that_was_asked_for_is_there_whatever_it_holds() -> None:
    assert kept(lines_of([10, 5_000, 10]), anchor=2, room=100) == [(2, 2)]


def test_lines_of_several_rounds_stay_whole() -> None:
    lines = [Line(1, 3, 10), Line(4, 900, 12), Line(901, 901, 10)]

    assert kept(lines, anchor=500, room=22) == [(4, 901)]


def test_nothing_is_kept_of_nothing() -> None:
    assert kept([], anchor=1, room=100) == []


@given(WEIGHTS, st.integers(1, 40), st.integers(0, 2_000))
def test_what_is_kept_fits_and_is_in_order(weights: list[int], anchor: int, room: int) -> None:
    lines = lines_of(weights)
    anchor = min(anchor, len(lines))

    spans = kept(lines, anchor=anchor, room=room)

    numbers = [number for first, last in spans for number in range(first, last + 1)]
    assert numbers == sorted(set(numbers))
    assert anchor in numbers
    taken = sum(weights[number - 1] for number in numbers)
    assert taken <= room or numbers == [anchor]
    assert all(b > a + 1 for (_, a), (b, _) in pairwise(spans))
