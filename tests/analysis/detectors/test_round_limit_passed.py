from __future__ import annotations

import pytest

from analysis.detectors.limits import Baseline, Limits
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunLimits, RunRecord


def long(count: int, **fields: object) -> RunRecord:
    return a_run(*([call("step", {"n": n}, f"r{n}")] for n in range(count)), **fields)


@pytest.mark.parametrize(
    ("run", "limits"),
    [
        pytest.param(a_run(), Limits(), id="empty run"),
        pytest.param(long(12), Limits(), id="the default is kept"),
        pytest.param(long(30), Limits(rounds=30), id="the set limit is kept"),
        pytest.param(
            long(30, limits=RunLimits(rounds=40)), Limits(), id="the run's own limit is kept"
        ),
        pytest.param(
            long(30), Limits(baseline=Baseline(20, rounds_p95=15)), id="twice the usual is kept"
        ),
    ],
)
def test_stays_silent(run: RunRecord, limits: Limits) -> None:
    assert rounds("round_limit_passed", run, limits) == []


def test_a_budget_of_12_is_passed_at_round_13() -> None:
    (draft,) = drafts("round_limit_passed", long(20), Limits(rounds=12))

    assert (draft.at.round, draft.to_round) == (13, 20)
    assert draft.severity is None


def test_the_default_that_nobody_chose_is_a_lead() -> None:
    (draft,) = drafts("round_limit_passed", long(13))

    assert (draft.at.round, draft.severity) == (13, "lead")


def test_what_is_set_goes_before_what_the_run_says_and_what_was_learned() -> None:
    learned = Baseline(50, rounds_p95=4)

    run = long(20, limits=RunLimits(rounds=10))

    assert rounds("round_limit_passed", run, Limits(rounds=5, baseline=learned)) == [6]
    assert rounds("round_limit_passed", run, Limits(baseline=learned)) == [11]
    assert rounds("round_limit_passed", long(20), Limits(baseline=learned)) == [9]


def test_too_few_runs_teach_nothing() -> None:
    assert rounds("round_limit_passed", long(12), Limits(baseline=Baseline(19, rounds_p95=2))) == []
