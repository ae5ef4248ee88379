from __future__ import annotations

import pytest

from analysis.detectors.limits import Limits
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord


def answers(*results: str, tool: str = "get_thing") -> RunRecord:
    return a_run(*([call(f"{tool}_{n}", {"n": n}, result)] for n, result in enumerate(results)))


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(answers("x", "x"), id="two"),
        pytest.param(answers("x", "x", "y", "x"), id="broken by another answer"),
        pytest.param(answers("ok", "ok", "ok", "ok", tool="set_thing"), id="acknowledgements"),
        pytest.param(
            a_run(*([call("think", {"thought": str(n)}, "")] for n in range(5))), id="silent tools"
        ),
        pytest.param(
            a_run(*([call("status", {}, s)] for s in ("1", "2", "3"))), id="a status that moves"
        ),
        pytest.param(
            a_run(*[[call("get", {}, "Error: busy")]] * 3), id="three tries of an open failure"
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("no_progress", run) == []


def test_polled_tools_are_passed_over() -> None:
    run = answers("x", "x", "x")

    assert rounds("no_progress", run, Limits(polled=frozenset({"get_*"}))) == []


def test_flags_the_third_same_answer_whatever_was_called() -> None:
    (draft,) = drafts(
        "no_progress", answers("a", "not signed in", "not signed in", "not signed in")
    )

    assert (draft.at.round, draft.values["same"]) == (4, 3)


def test_reports_a_long_stretch_once() -> None:
    (draft,) = drafts("no_progress", answers(*["x y z"] * 7))

    assert (draft.at.round, draft.to_round, draft.values["same"]) == (3, 7, 7)
