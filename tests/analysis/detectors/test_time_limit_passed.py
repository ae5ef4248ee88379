from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from analysis.detectors.limits import Baseline, Limits
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import RunLimits, RunRecord

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def lasting(*minutes: float, **fields: object) -> RunRecord:
    return a_run(
        *(
            a_round(call("look", {"n": n}, "x"), duration_ms=m * 60_000)
            for n, m in enumerate(minutes)
        ),
        **fields,
    )


@pytest.mark.parametrize(
    ("run", "limits"),
    [
        pytest.param(a_run(), Limits(seconds=1), id="empty run"),
        pytest.param(lasting(5, 5), Limits(), id="no limit"),
        pytest.param(lasting(5, 5), Limits(seconds=600), id="kept"),
        pytest.param(a_run([call()]), Limits(seconds=1), id="times unknown"),
        pytest.param(
            lasting(5), Limits(baseline=Baseline(20, seconds_p95=100)), id="three times the usual"
        ),
    ],
)
def test_stays_silent(run: RunRecord, limits: Limits) -> None:
    assert rounds("time_limit_passed", run, limits) == []


def test_points_at_the_round_in_which_it_passed() -> None:
    (draft,) = drafts("time_limit_passed", lasting(4, 4, 4), Limits(seconds=450))

    assert (draft.at.round, draft.to_round) == (2, 3)
    assert draft.why == "The run took 12 min, past the limit of 7 min 30 s (as set)."


def test_the_wall_clock_counts_where_it_is_known() -> None:
    first = a_round(call(), started_at=START)
    second = a_round(call("b"), started_at=START + timedelta(hours=2))
    run = a_run(first, second, started_at=START, limits=RunLimits(seconds=3600))

    assert rounds("time_limit_passed", run) == [2]


def test_the_end_of_the_run_counts_too() -> None:
    run = a_run([call()], started_at=START, ended_at=START + timedelta(hours=1))

    assert rounds("time_limit_passed", run, Limits(seconds=60)) == [1]
