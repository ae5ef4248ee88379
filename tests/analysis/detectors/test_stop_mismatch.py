from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import RunRecord

UNRUN = call("get_user", {"id": 7}, None)


def labelled(label: str, *calls: object, reply: str = "") -> object:
    return a_round(*calls, reply=reply, stop_raw=label)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(
            a_run(labelled("tool_calls", call()), labelled("stop", reply="Done.")), id="both agree"
        ),
        pytest.param(a_run(labelled("stop", call())), id="the tool was run all the same"),
        pytest.param(a_run([UNRUN], "Done."), id="no label"),
        pytest.param(a_run(labelled("stop", UNRUN), live=True), id="the last round of a live run"),
        pytest.param(
            a_run(labelled("STOP", call()), labelled("STOP", UNRUN), "Done.", provider="gemini"),
            id="a service with no label for tools",
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("stop_mismatch", run) == []


def test_flags_requests_under_a_finished_label() -> None:
    run = a_run(
        labelled("tool_calls", call()), labelled("stop", UNRUN), labelled("stop", reply="Done.")
    )

    (draft,) = drafts("stop_mismatch", run)

    assert (draft.at.round, draft.tool) == (2, "get_user")


def test_flags_a_wanted_tool_that_is_not_named() -> None:
    run = a_run([call()], labelled("tool_use", reply="I will look."))

    (draft,) = drafts("stop_mismatch", run)

    assert draft.at.round == 2
    assert "asks for none" in draft.why
