"""The work of a pass grows with the run and no faster, counted in lines run and not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from analysis.suite import analyse
from tests.builders import a_round, a_run, call
from transcripts.record import Call, RunRecord

ROUNDS = 60
# What twice the rounds more may cost, as a multiple: 2 is linear, a square would be 4.
GENEROUS = 2.25

# What the n-th call of so many is.
HOSTILE: dict[str, Callable[[int, int], Call]] = {
    "one call for ever": lambda n, of: call("get_state", {"id": 7}, "state: waiting"),
    "two calls by turns": lambda n, of: call(f"get_{n % 2}", {}, f"answer {n % 2}"),
    "a change and a read that shows none": lambda n, of: (
        call("update_item", {"id": 7, "size": n}, "ok")
        if n % 2
        else call("get_item", {"id": 7}, {"id": 7, "size": 0})
    ),
    "a change and a read that shows another": lambda n, of: (
        call("update_item", {"id": 7, "size": n}, "ok")
        if n % 2
        else call("get_item", {"id": 7}, {"id": 7, "size": -n})
    ),
    "changes that nobody looks at": lambda n, of: call("update_item", {"id": n}, "ok"),
    "every call fails with its own words": lambda n, of: call("get_item", {"id": n}, f"Error: {n}"),
    "every call fails, flagged": lambda n, of: call(
        "get_item", {"id": n}, "timed out", is_error=True
    ),
    "every call fails until the last": lambda n, of: call(
        "get_item", {"id": n}, "Error: no" if n < of else "item"
    ),
    "all tools fail by turns": lambda n, of: call(f"get_item_{n % 9}", {"id": n}, f"Error: {n}"),
    "nothing comes back": lambda n, of: call("get_item", {"id": n}, ""),
    "pages without end": lambda n, of: call("list_items", {"page": n}, f"rows of {n}"),
    "guesses": lambda n, of: call("search", {"q": f"red door {n}"}, "See the handbook."),
    "never answered": lambda n, of: call("get_item", {"id": n}, None),
    "nothing but a placeholder": lambda n, of: call("get_item", {"id": "<item_id>"}, f"no {n}"),
    "a circle of many calls": lambda n, of: call("get_item", {"id": n % (of // 4)}, "item"),
    "a circle of many tools": lambda n, of: call(f"get_{n % (of // 4)}", {"page": n}, f"row {n}"),
    "another tool each time": lambda n, of: call(f"tool_{n}", {"id": 1}, f"Error: {n}"),
}


def run_of(shape: Callable[[int, int], Call], rounds: int) -> RunRecord:
    return a_run(
        *(a_round(shape(n, rounds), reply="Once more, with care.") for n in range(1, rounds + 1))
    )


def lines_run(run: RunRecord) -> int:
    """Lines of `analysis` that one pass over the run executes."""
    counted = 0

    def count(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal counted
        if "analysis" not in frame.f_code.co_filename:
            return None
        counted += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        analyse(run)
    finally:
        sys.settrace(before)
    return counted


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_rounds_cost_twice_the_work(name: str) -> None:
    lines_run(run_of(HOSTILE[name], 8))  # what is read once for all runs

    small, middle, large = (
        lines_run(run_of(HOSTILE[name], rounds)) for rounds in (ROUNDS, 2 * ROUNDS, 4 * ROUNDS)
    )

    assert small > 100 * ROUNDS
    assert large - middle < GENEROUS * (middle - small)
