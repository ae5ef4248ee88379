from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord


def failing(pattern: str, *last: object) -> RunRecord:
    """`x` fails, `.` works."""
    calls = [
        call(f"tool_{n}", {"n": n}, "no" if mark == "x" else f"r{n}", is_error=mark == "x")
        for n, mark in enumerate(pattern)
    ]
    return a_run(*([each] for each in calls), *last)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(failing("xxx"), id="three calls"),
        pytest.param(failing("xx..."), id="fewer than half"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("high_error_rate", run) == []


def test_flags_half_of_four_at_the_first_failure() -> None:
    (draft,) = drafts("high_error_rate", failing(".x.x"))

    assert (draft.at.round, draft.values["failed"], draft.values["calls"]) == (2, 2, 4)


def test_a_run_that_worked_in_the_end_made_up_for_it() -> None:
    (draft,) = drafts("high_error_rate", failing("xxx.", "Done."))

    assert draft.made_up_at == 4
