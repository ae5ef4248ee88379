from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import Ending, RunRecord, Stop


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([call()], "Done."), id="finished"),
        pytest.param(a_run([call()], live=True), id="live"),
        pytest.param(a_run([call()], [call("escalate_to_it_team", {}, "ok")]), id="handed off"),
        pytest.param(a_run([call()], [call("submit", {}, "")]), id="ended by a tool"),
        pytest.param(a_run("Which one?", [call()]), id="a reply was finished"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("never_finished", run) == []


def test_says_that_every_round_wanted_a_tool() -> None:
    (draft,) = drafts("never_finished", a_run([call()], [call()]))

    assert draft.at.round == 2
    assert (
        draft.why == "The run never finished: every one of its 2 rounds ended with “wants a tool”."
    )


def test_says_the_longest_stretch() -> None:
    cut = a_round(reply="x", stop=Stop.CUT_OFF)
    run = replace(a_run([call()], [call()], [call()], cut), ending=Ending.STOPPED)

    (draft,) = drafts("never_finished", run)

    assert (draft.values["stretch"], draft.values["from"], draft.values["to"]) == (3, 1, 3)
