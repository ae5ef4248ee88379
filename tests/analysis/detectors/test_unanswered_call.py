from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import Orphan, RunRecord

ASKED = call("get_ticket", {"id": 5}, None)
ANSWERED = call("get_ticket", {"id": 5}, "printer")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([ANSWERED], "Done."), id="answered"),
        pytest.param(a_run([call("get_ticket", {}, "")], "Done."), id="empty is answered"),
        pytest.param(a_run([ANSWERED], [ASKED], live=True), id="the last round of a live run"),
        pytest.param(a_run([ANSWERED], [call("submit", {}, None)]), id="a tool that ends the run"),
        pytest.param(a_run([call("transfer_to_human", {}, None)]), id="a hand-off"),
        pytest.param(
            a_run("Hi.", a_round(reply="x", orphans=(Orphan("", "found"),))),
            id="a log of results alone",
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("unanswered_call", run) == []


def test_flags_the_one_of_two_that_is_missing() -> None:
    run = a_run([ANSWERED, call("get_attachments", {"id": 5}, None)], "It is a printer.")

    (draft,) = drafts("unanswered_call", run)

    assert (draft.at.round, draft.at.call, draft.tool) == (1, 1, "get_attachments")
    assert draft.why == "1 of the 2 requests of this round was never answered: get_attachments."
    assert draft.odd is None


def test_flags_an_earlier_round_of_a_live_run() -> None:
    assert rounds("unanswered_call", a_run([ASKED], [ANSWERED], live=True)) == [1]


def test_a_run_that_ends_with_the_request_is_a_lead() -> None:
    (draft,) = drafts("unanswered_call", a_run([ANSWERED], [ASKED]))

    assert (draft.severity, draft.odd) == ("lead", False)


def test_one_finding_a_round() -> None:
    assert rounds("unanswered_call", a_run([ASKED, ASKED], [ASKED], "Done.")) == [1, 2]


def test_flags_a_result_that_answers_nothing() -> None:
    run = a_run([ANSWERED], a_round(ANSWERED, orphans=(Orphan("call_9", "left over"),)), "Done.")

    (draft,) = drafts("unanswered_call", run)

    assert "call_9" in draft.why
    assert draft.at.call is None


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(
            a_run(a_round(ANSWERED, orphans=(Orphan("call_9", "x"),)), "Done."),
            id="from before the record begins",
        ),
        pytest.param(
            a_run([ANSWERED], a_round(ANSWERED, orphans=(Orphan("", "x"),)), "Done."), id="no id"
        ),
    ],
)
def test_a_result_that_the_record_could_not_match_is_a_lead(run: RunRecord) -> None:
    (draft,) = drafts("unanswered_call", run)

    assert (draft.severity, draft.odd) == ("lead", False)
