from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import RunRecord, Stop


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([call()], "I cannot do that."), id="a refusal in words alone"),
        pytest.param(a_run(a_round(reply="x", stop=Stop.CUT_OFF)), id="cut off"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("blocked_reply", run) == []


def test_flags_each_blocked_round() -> None:
    blocked = a_round(stop=Stop.BLOCKED, stop_raw="content_filter")

    found = drafts("blocked_reply", a_run([call()], blocked, blocked))

    assert [draft.at.round for draft in found] == [2, 3]
    assert found[0].why == "The reply was blocked (content_filter)."
