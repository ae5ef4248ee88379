from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import RunRecord, Stop


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([call()], "Done."), id="finished"),
        pytest.param(a_run(a_round(stop=Stop.BLOCKED)), id="blocked"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("cut_off_reply", run) == []


def test_flags_the_round_with_its_label() -> None:
    run = a_run(
        [call()], a_round(reply="The", stop=Stop.CUT_OFF, stop_raw="length", tokens_out=4096)
    )

    (draft,) = drafts("cut_off_reply", run)

    assert draft.at.round == 2
    assert draft.why == "The reply was cut off before its end after 4,096 tokens (length)."


def test_is_worse_when_a_half_written_request_was_run() -> None:
    run = a_run(a_round(call("write_file", '{"path": "a', "saved"), stop=Stop.CUT_OFF))

    (draft,) = drafts("cut_off_reply", run)

    assert "write_file was run with what may be half of its arguments" in draft.why
    assert draft.values["run"] == 1


def test_one_finding_a_round() -> None:
    cut = a_round(reply="x", stop=Stop.CUT_OFF)

    assert rounds("cut_off_reply", a_run(cut, cut)) == [1, 2]
