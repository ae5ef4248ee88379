from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from analysis.pages.folds import Fold, folds_of


def a_finding(
    detector: str, first: int, last: int | None, tool: str = "a", **values: Any
) -> SimpleNamespace:
    return SimpleNamespace(
        detector=detector, round=first, to_round=last, tool=tool, values=dict(values)
    )


@pytest.mark.parametrize(
    "finding",
    [
        pytest.param(a_finding("empty_result", 3, 50), id="not about repeats"),
        pytest.param(a_finding("alternating_calls", 3, None, tools=["a", "b"]), id="one place"),
        pytest.param(a_finding("alternating_calls", 3, 7, tools=["a", "b"]), id="too short"),
        pytest.param(
            a_finding("repeated_call", 3, 50, in_a_row=2, same_answer=9), id="others between"
        ),
    ],
)
def test_folds_nothing(finding: Any) -> None:
    assert folds_of([finding]) == []


def test_the_first_turn_stays_in_sight() -> None:
    (fold,) = folds_of([a_finding("alternating_calls", 3, 52, tools=["reset", "check"])])

    assert (fold.first, fold.last) == (5, 52)
    assert fold.words(5, 51) == "reset and check take turns, 23 more times"


def test_calls_in_a_row_fold() -> None:
    (fold,) = folds_of([a_finding("repeated_call", 3, 50, in_a_row=48, same_answer=48)])

    assert fold.words(4, 50) == "a again with the same arguments and answer, 47 more times"


def test_the_longer_of_two_that_overlap_wins() -> None:
    folds = folds_of(
        [
            a_finding("no_progress", 10, 20),
            a_finding("alternating_calls", 3, 52, tools=["a", "b"]),
            a_finding("no_progress", 60, 70),
        ]
    )

    assert [(fold.first, fold.last) for fold in folds] == [(5, 52), (61, 70)]


def test_three_tools_are_listed() -> None:
    fold = Fold(1, 9, "alternating_calls", ("a", "b", "c"))

    assert fold.words(1, 9) == "a, b and c take turns, 3 more times"
