"""How a run ended, its ticket and its heading, where the sender does not say."""

from dataclasses import replace

import pytest

from transcripts.endings import TITLE_LENGTH, hands_off, ticket_keys, title, with_ending
from transcripts.record import (
    Call,
    Ending,
    InputChange,
    Message,
    Placed,
    Round,
    RunRecord,
    Stop,
)


def a_run(*rounds, messages=()):
    return RunRecord("r", rounds=rounds, messages=messages)


def wants(*names, number=1, result="ok", is_error=None):
    calls = tuple(Call(name, result=result, is_error=is_error) for name in names)
    return Round(number, Stop.WANTS_TOOL, calls=calls)


def finished(number):
    return Round(number, Stop.FINISHED, reply="Done.")


@pytest.mark.parametrize(
    ("run", "ending"),
    [
        pytest.param(a_run(wants("look"), finished(2)), Ending.FINISHED, id="finished"),
        pytest.param(a_run(wants("look")), Ending.STOPPED, id="still wanted a tool"),
        pytest.param(a_run(), Ending.STOPPED, id="no round"),
        pytest.param(a_run(Round(1, Stop.CUT_OFF)), Ending.CUT_OFF, id="cut off"),
        pytest.param(a_run(Round(1, Stop.BLOCKED)), Ending.BLOCKED, id="blocked"),
        pytest.param(a_run(Round(1, Stop.ERROR)), Ending.ERROR, id="error"),
        pytest.param(a_run(Round(1, Stop.UNKNOWN)), Ending.STOPPED, id="unknown"),
        pytest.param(a_run(wants("escalate_to_it")), Ending.HANDED_OFF, id="handed off last"),
        pytest.param(
            a_run(wants("escalate_to_it"), finished(2)), Ending.HANDED_OFF, id="and said so"
        ),
        pytest.param(
            a_run(wants("escalate_to_it"), wants("look", number=2), finished(3)),
            Ending.FINISHED,
            id="went on after handing off",
        ),
        pytest.param(
            a_run(wants("escalate_to_it", is_error=True), finished(2)),
            Ending.FINISHED,
            id="handing off failed",
        ),
        pytest.param(
            a_run(wants("escalate_to_it", result=None)), Ending.STOPPED, id="nobody answered"
        ),
        pytest.param(
            a_run(wants("look"), wants("submit", number=2, result=None)),
            Ending.FINISHED,
            id="ended by a tool",
        ),
        pytest.param(
            a_run(wants("submit", is_error=True)), Ending.STOPPED, id="ending by a tool failed"
        ),
        pytest.param(a_run(wants("submit_order")), Ending.STOPPED, id="only sounds like an end"),
    ],
)
def test_reads_the_ending_of_a_run_that_is_over(run, ending):
    assert with_ending(run, live=False).ending == ending


def test_a_live_run_is_open_until_a_reply_finishes():
    assert with_ending(a_run(wants("look")), live=True).ending == Ending.OPEN
    assert with_ending(a_run(), live=True).ending == Ending.OPEN
    assert with_ending(a_run(finished(1)), live=True).ending == Ending.FINISHED


def test_what_the_sender_said_stays():
    run = replace(a_run(finished(1)), ending=Ending.ROUND_LIMIT, title="Mine")

    read = with_ending(run, live=False)

    assert (read.ending, read.title) == (Ending.ROUND_LIMIT, "Mine")


@pytest.mark.parametrize(
    "name",
    [
        "escalate",
        "escalate_to_it_team",
        "ticket.escalate",
        "transfer_to_human_agents",
        "transferToHuman",
        "transfer_to_billing_agent",
        "handoff",
        "hand_over_ticket",
        "request_human_review",
        "create_escalation",
    ],
)
def test_knows_a_tool_that_hands_off(name):
    assert hands_off(name)


@pytest.mark.parametrize(
    "name",
    [
        "search_escalations",
        "set_escalation_flag",
        "transfer_funds",
        "transfer_to_account",
        "transfer_to_bank",
        "handle_request",
        "deescalate",
        "",
    ],
)
def test_leaves_a_tool_that_does_not(name):
    assert not hands_off(name)


def with_messages(*messages):
    added = tuple(Placed(message.key) for message in messages)
    return a_run(replace(finished(1), input=InputChange(added)), messages=messages)


def test_the_ticket_is_the_first_user_message_that_was_read():
    unread = Message("u0", "user", "never sent")
    goal, ticket = Message("s", "system", "Help."), Message("u", "user", "VPN drops.")
    run = with_messages(goal, ticket, Message("u2", "user", "Hurry."))
    run = replace(run, messages=(unread, *run.messages))

    assert ticket_keys(run) == ("s", "u")
    assert title(run) == "VPN drops."


def test_goal_and_ticket_may_be_missing():
    assert ticket_keys(with_messages(Message("d", "developer", "Help."))) == ("d",)
    assert ticket_keys(with_messages(Message("u", "user", "VPN"))) == ("u",)
    assert ticket_keys(a_run(finished(1))) == ()
    assert title(a_run(finished(1))) == ""


@pytest.mark.parametrize(
    ("content", "heading"),
    [
        pytest.param("\n\n  VPN   drops. \nLong story", "VPN drops.", id="first line with text"),
        pytest.param("x" * 200, "x" * (TITLE_LENGTH - 1) + "…", id="one long word"),
    ],
)
def test_the_title_is_one_line(content, heading):
    assert title(with_messages(Message("u", "user", content))) == heading


def test_a_long_title_is_cut_after_a_word():
    heading = title(with_messages(Message("u", "user", "word, " * 40)))

    assert len(heading) <= TITLE_LENGTH
    assert heading.endswith("word…")
