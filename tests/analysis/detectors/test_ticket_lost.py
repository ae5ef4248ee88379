from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import reading_run
from transcripts.record import RunRecord

TEXTS = {
    "goal": ("system", "You are the helpdesk agent. Solve the ticket."),
    "ticket": ("user", "Ticket 7: the badge reader on floor 3 refuses my badge"),
    "a1": ("assistant", "Looking."),
    "a2": ("assistant", "Looking on."),
    "summary": (
        "user",
        "So far: Ticket 7: the badge reader on floor 3 refuses my badge. Log read.",
    ),
    "poor": ("user", "So far the log was read."),
    "goal2": ("system", "You are the helpdesk agent. Solve the ticket. Today is Monday."),
    "as_user": ("user", "You are the helpdesk agent. Solve the ticket. Answer in English."),
    "helper": ("system", "Read the log and report."),
    "order": ("user", "Read page 2 of the log."),
}
HEAD = ["goal", "ticket"]


def run_of(*inputs: list[str], **fields: object) -> RunRecord:
    return reading_run(*inputs, texts=TEXTS, **fields)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(run_of(HEAD, [*HEAD, "a1"]), id="all kept"),
        pytest.param(run_of([*HEAD, "a1"], [*HEAD, "a2"]), id="only an answer is gone"),
        pytest.param(run_of(HEAD, ["goal", "summary"]), id="a summary holds it word for word"),
        pytest.param(run_of(HEAD, ["goal2", "ticket", "a1"]), id="the goal is sent anew"),
        pytest.param(run_of(HEAD, ["helper", "order"], [*HEAD, "a1"]), id="a sub-agent in between"),
        pytest.param(
            run_of(HEAD, ["order"], ["poor"], [*HEAD, "a1"]), id="requests of their own in between"
        ),
        pytest.param(run_of(HEAD, ["helper", "ticket", "a1"]), id="another agent takes over"),
        pytest.param(run_of(HEAD, ["as_user", "ticket", "a1"]), id="the goal is sent by a person"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("ticket_lost", run) == []


def test_points_at_the_first_round_without_it() -> None:
    (draft,) = drafts("ticket_lost", run_of(HEAD, [*HEAD, "a1"], ["goal", "a1", "a2"]))

    assert draft.at.round == 3
    assert draft.values["lost"] == "the ticket"
    assert "Ticket 7" in draft.why


def test_a_summary_in_other_words_does_not_hold_it() -> None:
    assert rounds("ticket_lost", run_of(HEAD, ["goal", "poor"])) == [2]


def test_says_when_goal_and_ticket_are_gone() -> None:
    (draft,) = drafts("ticket_lost", run_of(HEAD, ["a1"]))

    assert draft.values["lost"] == "the goal and the ticket"


def test_reports_once_and_says_when_it_is_back() -> None:
    run = run_of(HEAD, ["goal", "a1"], ["goal", "a1", "a2"], [*HEAD, "a1"])

    (draft,) = drafts("ticket_lost", run)

    assert (draft.at.round, draft.made_up_at) == (2, 4)


def test_a_log_that_holds_only_what_is_new_loses_nothing() -> None:
    """As many tokens were read as before, and nothing of what was read before is logged."""
    run = run_of(HEAD, ["a1"], ["a2"])
    counted = tuple(replace(each, tokens_in=100 * each.number) for each in run.rounds)
    fewer = tuple(replace(each, tokens_in=100 // each.number) for each in run.rounds)

    assert rounds("ticket_lost", replace(run, rounds=counted)) == []
    assert rounds("ticket_lost", replace(run, rounds=fewer)) == [2]


def test_a_run_that_comes_back_with_more_to_read_has_lost_nothing() -> None:
    run = run_of(HEAD, ["order"], [*HEAD, "a1"])
    counted = tuple(
        replace(r, tokens_in=n) for r, n in zip(run.rounds, (700, 90, 800), strict=True)
    )

    assert rounds("ticket_lost", replace(run, rounds=counted)) == []
