from __future__ import annotations

import pytest

from analysis.detectors.limits import Limits, RepeatMode
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

SAME = call("reset", {"a": 1, "b": {"c": 2, "d": 3}}, "ok, queued")
REORDERED = call("reset", '{"b": {"d": 3, "c": 2}, "a": 1}', "ok, queued")
OTHER = call("reset", {"a": 2}, "ok, queued")
FAILED = call("reset", {"a": 1}, "Error: busy", is_error=True)


def poll(*states: str) -> RunRecord:
    return a_run(*([call("status", {"job": 7}, state)] for state in states))


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([SAME], [SAME]), id="one retry"),
        pytest.param(a_run([SAME], [SAME], [OTHER]), id="other arguments"),
        pytest.param(poll("1/40", "17/40", "33/40", "done"), id="a status that moves"),
        pytest.param(a_run(*([call("read", {"page": n}, "x")] for n in range(5))), id="pages"),
        pytest.param(a_run([FAILED], [FAILED], [FAILED]), id="three tries of an open failure"),
        pytest.param(
            a_run(*([call("get", {"id": n}, "active")] for n in range(5))), id="five customers"
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("repeated_call", run) == []


def test_polled_tools_may_be_asked_over_and_over() -> None:
    assert (
        rounds("repeated_call", poll("wait", "wait", "wait"), Limits(polled=frozenset({"status"})))
        == []
    )


def test_flags_the_third_identical_call_whatever_lies_between() -> None:
    (draft,) = drafts("repeated_call", a_run([SAME], [OTHER], [REORDERED], [call()], [SAME]))

    assert (draft.at.round, draft.tool) == (5, "reset")
    assert [place.round for place in draft.evidence] == [1, 3, 5]


def test_counts_in_all_in_a_row_and_in_a_window() -> None:
    run = a_run([SAME], [SAME], [OTHER], [SAME], [SAME], [SAME])

    (draft,) = drafts("repeated_call", run, Limits(repeat_window=4))

    values = draft.values
    assert (values["times"], values["in_a_row"], values["in_window"]) == (5, 3, 3)


def test_reports_a_long_streak_once() -> None:
    (draft,) = drafts("repeated_call", a_run(*[[SAME]] * 9))

    assert (draft.at.round, draft.to_round) == (3, 9)


def test_a_changed_answer_starts_anew() -> None:
    assert rounds("repeated_call", poll("a", "a", "b", "b")) == []
    assert rounds("repeated_call", poll("a", "a", "b", "b", "b")) == [5]


def test_a_time_stamp_or_request_id_is_no_change() -> None:
    run = poll(*(f"state ok, request_id: r-{n}9f2, checked at 10:0{n}:11" for n in range(3)))

    assert rounds("repeated_call", run) == [3]


def test_a_random_id_in_the_arguments_is_no_difference() -> None:
    calls = [[call("find", {"q": "vpn", "idempotency_key": f"k{n}"}, "none")] for n in range(3)]

    assert rounds("repeated_call", a_run(*calls)) == [3]


def test_the_fourth_try_of_an_open_failure_counts() -> None:
    assert rounds("repeated_call", a_run(*[[FAILED]] * 4)) == [4]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(RepeatMode.TOTAL, [4]), (RepeatMode.WINDOW, [4]), (RepeatMode.CONSECUTIVE, [])],
)
def test_modes(mode: RepeatMode, expected: list[int]) -> None:
    run = a_run([SAME], [SAME], [OTHER], [SAME])

    assert rounds("repeated_call", run, Limits(repeat_mode=mode)) == expected


def test_a_window_forgets() -> None:
    run = a_run([SAME], [OTHER], [OTHER], [SAME], [call()], [SAME])
    limits = Limits(repeat_mode=RepeatMode.WINDOW, repeat_window=5)

    assert rounds("repeated_call", run, limits) == []


def test_a_tool_may_have_a_limit_of_its_own() -> None:
    run = a_run(*[[SAME]] * 5)

    assert rounds("repeated_call", run, Limits(repeat_limits={"res*": 4})) == [5]


def test_looking_again_much_later_is_a_lead() -> None:
    others = [[call("step", {"n": n}, f"r{n}")] for n in range(20)]
    run = a_run([SAME], *others[:10], [SAME], *others[10:], [SAME])

    (draft,) = drafts("repeated_call", run)

    assert draft.severity == "lead"
