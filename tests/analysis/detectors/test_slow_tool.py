from __future__ import annotations

import pytest

from analysis.detectors.limits import Baseline, Limits
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

USUAL = Limits(baseline=Baseline(20, tool_ms_p95={"search": 1000.0}))


def took(ms: float | None, result: str = "found") -> RunRecord:
    return a_run([call()], [call("search", {"q": "vpn"}, result, duration_ms=ms)])


@pytest.mark.parametrize(
    ("run", "limits"),
    [
        pytest.param(a_run(), USUAL, id="empty run"),
        pytest.param(took(None), USUAL, id="duration unknown"),
        pytest.param(took(3000), USUAL, id="three times the usual"),
        pytest.param(took(90_000), Limits(), id="the usual is not known"),
        pytest.param(took(20_000, ""), Limits(), id="empty, at no round number"),
        pytest.param(took(30_000), Limits(), id="a round number, but something came back"),
    ],
)
def test_stays_silent(run: RunRecord, limits: Limits) -> None:
    assert rounds("slow_tool", run, limits) == []


def test_flags_more_than_three_times_the_usual() -> None:
    (draft,) = drafts("slow_tool", took(3001), USUAL)

    assert (draft.at.round, draft.at.call) == (2, 0)


@pytest.mark.parametrize("ms", [10_000, 30_012, 61_500])
def test_flags_silence_after_a_time_out(ms: float) -> None:
    (draft,) = drafts("slow_tool", took(ms, ""))

    assert "time-out" in draft.why
