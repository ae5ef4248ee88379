"""How findings are judged against what was broken."""

from typing import Any

import pytest

from analysis.choices import Severity
from analysis.detectors.base import Finding
from bench.detect.breaking import Expected
from bench.detect.inject import Case
from bench.detect.score import Share, at_place, is_right
from bench.detect.speed import ROUND_CHARACTERS, long_run
from transcripts.record import RunRecord, completeness


def a_finding(detector: str, round_: int, call: int | None = None) -> Finding:
    return Finding(
        detector=detector,
        version=1,
        title="",
        severity=Severity.FAULT,
        odd=True,
        round=round_,
        to_round=None,
        call=call,
        tool="",
        why="",
        cause="",
        fix="",
        evidence=(),
        values={},
    )


def a_case(**expected: Any) -> Case:
    told = {"detector": "empty_result", "places": ((3, 1),), **expected}
    return Case(
        "kind", RunRecord("r"), Expected(**told), (("failed_result", 2),), frozenset({(3, 1)})
    )


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [(0, 100, 0.0, 0.037), (100, 100, 0.963, 1.0), (50, 100, 0.404, 0.596)],
)
def test_intervals_are_those_of_wilson(hits: int, total: int, low: float, high: float):
    assert Share(hits, total).interval == pytest.approx((low, high), abs=0.001)


def test_no_run_says_nothing_about_a_rate():
    assert Share(0, 0).interval == (0.0, 1.0)


@pytest.mark.parametrize(
    ("finding", "held"),
    [
        pytest.param(a_finding("empty_result", 3, 1), True, id="the call"),
        pytest.param(a_finding("empty_result", 3), True, id="the whole round"),
        pytest.param(a_finding("empty_result", 3, 0), False, id="another call"),
        pytest.param(a_finding("empty_result", 4, 1), False, id="another round"),
    ],
)
def test_a_place_is_a_round_and_a_call(finding: Finding, held: bool):
    assert at_place(finding, Expected("empty_result", ((3, 1),))) is held


def test_without_a_place_any_is_right():
    assert at_place(a_finding("never_finished", 9), Expected("never_finished"))


@pytest.mark.parametrize(
    ("finding", "right"),
    [
        pytest.param(a_finding("empty_result", 3, 1), True, id="the fault"),
        pytest.param(a_finding("empty_result", 5, 0), False, id="a call that is not broken"),
        pytest.param(a_finding("failed_result", 2, 0), True, id="an older trouble"),
        pytest.param(a_finding("failed_result", 4, 0), False, id="a trouble that is not there"),
        pytest.param(a_finding("no_progress", 6), False, id="what does not follow"),
        pytest.param(a_finding("claimed_success", 6), True, id="what follows"),
    ],
)
def test_what_is_right_to_say(finding: Finding, right: bool):
    case = a_case(also=frozenset({"claimed_success"}))

    assert is_right(finding, case) is right


def test_a_loop_may_be_told_again_later_and_not_before():
    case = a_case(detector="repeated_call", places=((5, 0),))

    assert is_right(a_finding("repeated_call", 8, 0), case)
    assert not is_right(a_finding("repeated_call", 4, 0), case)


def test_long_runs_are_of_the_size_that_is_measured():
    run = long_run(40)
    sizes = [len(call.result or "") for round_ in run.rounds for call in round_.calls]

    assert completeness(run).complete
    assert 0.7 * ROUND_CHARACTERS < sum(sizes) / 40 <= ROUND_CHARACTERS
    assert len(list(run.inputs())[-1][1] or []) == 2 + 2 * 39
