from __future__ import annotations

import pytest

from analysis.detectors.limits import Limits
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

A = call("reset", {"id": 1}, "")
B = call("check", {"id": 1}, "not reset")
C = call("test", {}, "1 failed")


def turns(*calls: object, times: int) -> RunRecord:
    return a_run(*([each] for _ in range(times) for each in calls))


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(turns(A, B, times=2), id="twice"),
        pytest.param(turns(A, times=9), id="one call over and over"),
        pytest.param(
            a_run(*([each] for n in range(4) for each in (A, call("check", {"id": n}, "x")))),
            id="the arguments differ",
        ),
        pytest.param(
            turns(A, B, C, call("d"), call("e"), call("f"), times=3), id="a pattern of six"
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("alternating_calls", run) == []


def test_polled_tools_may_take_turns() -> None:
    limits = Limits(polled=frozenset({"reset", "check"}))

    assert rounds("alternating_calls", turns(A, B, times=5), limits) == []


@pytest.mark.parametrize(
    "pattern", [(A, B), (A, B, C), (A, B, C, call("d")), (A, B, C, call("d"), call("e"))]
)
def test_flags_patterns_of_two_to_five_calls(pattern: tuple[object, ...]) -> None:
    (draft,) = drafts("alternating_calls", turns(*pattern, times=3))

    assert (draft.at.round, draft.to_round) == (1, 3 * len(pattern))
    assert draft.values["period"] == len(pattern)
    assert draft.values["times"] == 3


def test_spans_the_whole_stretch_and_no_more() -> None:
    run = a_run([call()], *([each] for _ in range(4) for each in (A, B)), [C])

    (draft,) = drafts("alternating_calls", run)

    assert (draft.at.round, draft.to_round) == (2, 9)
    assert draft.values["tools"] == ["reset", "check"]


def test_reports_two_stretches_as_two() -> None:
    stretch = [[each] for _ in range(3) for each in (A, B)]

    assert rounds("alternating_calls", a_run(*stretch, [C], *stretch)) == [1, 8]


def test_answers_that_change_each_time_are_a_lead() -> None:
    run = a_run(
        *(
            [each]
            for n in range(4)
            for each in (call("wait", {}, f"{n} s"), call("check", {}, f"{n} %"))
        )
    )

    (draft,) = drafts("alternating_calls", run)

    assert draft.severity == "lead"
