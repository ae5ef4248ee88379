from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import InputChange, Message, Placed, RunRecord

FAILED = call("reset_profile", {"id": 4417}, "permission denied", is_error=True)
WORKED = call("reset_profile", {"id": 4417}, "profile 4417 reset at 10:02")
READ = call("check_profile", {"id": 4417}, "last reset: 9 days ago")
CLAIM = "All done: your profile has been reset."


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([WORKED], CLAIM), id="it worked"),
        pytest.param(a_run([FAILED], [WORKED], CLAIM), id="it worked in the end"),
        pytest.param(a_run([FAILED], "I could not reset it."), id="the failure is admitted"),
        pytest.param(a_run([FAILED], "Is there anything else?"), id="nothing is claimed"),
        pytest.param(
            a_run([call("get_user", {}, "no", is_error=True)], "Done."), id="only a read failed"
        ),
        pytest.param(
            a_run([FAILED], [call("replace_profile", {"id": 4417}, "profile 4417 is new")], CLAIM),
            id="another change of the thing worked",
        ),
        pytest.param(a_run([FAILED], [call()]), id="no last reply"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("claimed_success", run) == []


@pytest.mark.parametrize(
    "claim", [CLAIM, "Erledigt, das Profil wurde zurückgesetzt.", "已经处理完毕。"]
)
def test_points_at_the_last_reply_and_at_the_tool(claim: str) -> None:
    (draft,) = drafts("claimed_success", a_run([call()], [FAILED], claim))

    assert (draft.at.round, draft.tool) == (3, "reset_profile")
    assert [place.round for place in draft.evidence] == [2]


def test_an_empty_answer_and_a_change_without_effect_are_no_success() -> None:
    nothing = call("reset_profile", {"id": 4417}, "")
    ok = call("reset_profile", {"id": 4417}, "ok")

    assert rounds("claimed_success", a_run([nothing], CLAIM)) == [2]
    assert rounds("claimed_success", a_run([READ], [ok], [READ], CLAIM)) == [4]


def test_that_a_note_was_written_makes_up_for_nothing() -> None:
    note = call("add_ticket_note", {"text": "reset"}, "note 7 written")

    assert rounds("claimed_success", a_run([FAILED], [note], CLAIM)) == [3]


def test_a_claim_after_the_person_spoke_may_be_about_something_else() -> None:
    last = replace(a_round(reply=CLAIM), input=InputChange(added=(Placed("u"),)))
    run = a_run([FAILED], last, messages=(Message("u", "user", "Never mind. Anything new?"),))

    assert rounds("claimed_success", run) == []
