from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import InputChange, Message, Placed, RunRecord

LONG = "I am still working on your request and will report back as soon as there is something new."


def said(text: str, n: int = 0) -> object:
    return a_round(call("look", {"n": n}, f"r{n}"), reply=text)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run(said(LONG), said(LONG)), id="twice"),
        pytest.param(
            a_run(*(said("Let me check.", n) for n in range(5))), id="short words, other calls"
        ),
        pytest.param(a_run(*(said("", n) for n in range(5))), id="no words"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("repeated_reply", run) == []


def test_flags_the_third_same_reply() -> None:
    (draft,) = drafts(
        "repeated_reply", a_run(said(LONG, 1), said("x", 2), said(LONG, 3), said(LONG, 4))
    )

    assert draft.at.round == 4


def test_numbers_spaces_and_punctuation_make_no_difference() -> None:
    run = a_run(*(said(f"{LONG}  Try {n}!", n) for n in range(3)))

    assert rounds("repeated_reply", run) == [3]


def test_short_words_with_the_same_call_count() -> None:
    assert rounds("repeated_reply", a_run(*(said("Let me check.") for _ in range(3)))) == [3]


def test_with_a_person_in_between_it_is_a_lead() -> None:
    asks = a_round(reply="Is there anything else that I can help you with today, dear customer?")
    heard = replace(asks, input=InputChange(added=(Placed("u"),)))
    run = a_run(asks, heard, asks, messages=(Message("u", "user", "Yes."),))

    (draft,) = drafts("repeated_reply", run)

    assert draft.severity == "lead"


def test_another_text_comes_and_others_come_again() -> None:
    other = LONG.replace("request", "ticket")
    one = a_run(*(said(text, n) for n, text in enumerate([LONG, other] * 3)))

    (draft,) = drafts("repeated_reply", one)

    assert "; 1 other reply comes again as often, up to round 6" in draft.why
