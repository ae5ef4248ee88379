"""Each kind of expectation, where it holds and where it does not."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.cases.harness import KINDS, Replay, told
from tests.analysis.cases.small import TICKET, a_case, judged, says, state, wants

LOOK = wants("look")


def swallows(replay: Replay) -> None:
    messages: list[Any] = list(replay.start())
    while True:
        reply = replay.ask(messages)
        messages.append(reply.message)
        if not reply.calls:
            return
        for call in reply.calls:
            try:
                messages.append(call.answer(replay.call(call.name, call.args)))
            except Exception:
                messages.append(call.answer("ok"))


def loses_the_ticket(replay: Replay) -> None:
    messages: list[Any] = list(replay.start())
    while True:
        reply = replay.ask(messages[-2:])
        messages.append(reply.message)
        if not reply.calls:
            return
        messages += [call.answer(replay.call(call.name, call.args)) for call in reply.calls]


ERROR = [{"tool": "look", "answer": "error", "text": "403 no permission"}]


@pytest.mark.parametrize(
    ("wanted", "rounds", "entries"),
    [
        pytest.param({"kind": "ending", "in": ["finished"]}, [says()], {}, id="ending"),
        pytest.param(
            {"kind": "ending", "in": ["handed_off"]}, [wants("escalate_to_it")], {}, id="hand-off",
        ),
        pytest.param({"kind": "max_rounds", "rounds": 2}, [LOOK, says()], {}, id="rounds"),
        pytest.param({"kind": "max_cost", "cost": 3}, [{**says(), "cost": 3}], {}, id="cost"),
        pytest.param(
            {"kind": "max_seconds", "seconds": 3}, [{**says(), "duration_ms": 2000}], {}, id="time",
        ),
        pytest.param(
            {"kind": "no_identical_call"}, [LOOK, LOOK, says()], {}, id="two identical calls",
        ),
        pytest.param(
            {"kind": "no_identical_call"},
            [wants("poll", "1"), wants("poll", "2"), wants("poll", "3"), says()],
            {},
            id="polls that change",
        ),
        pytest.param(
            {"kind": "no_identical_call"},
            [wants("look", n=n) for n in range(5)] + [says()],
            {},
            id="other arguments",
        ),
        pytest.param(
            {"kind": "no_identical_call", "except": ["look"]},
            [LOOK] * 4 + [says()],
            {},
            id="exempt",
        ),
        pytest.param(
            {"kind": "no_empty_result", "except": ["rm"]},
            [wants("rm", ""), says()],
            {},
            id="silent",
        ),
        pytest.param({"kind": "no_empty_result"}, [LOOK, says()], {"mocks": ERROR}, id="told"),
        pytest.param({"kind": "must_call", "tool": "look"}, [LOOK, says()], {}, id="called"),
        pytest.param(
            {"kind": "must_call", "tool": "look", "args": {"n": 1}},
            [wants("look", n=1, m=2), says()],
            {},
            id="called with these",
        ),
        pytest.param({"kind": "must_not_call", "tool": "rm"}, [LOOK, says()], {}, id="not called"),
        pytest.param(
            {"kind": "must_not_call", "tool": "rm", "args": {"path": "/"}},
            [wants("rm", path="/tmp/x"), says()],
            {},
            id="called with others",
        ),
        pytest.param(
            {"kind": "no_retry_after_failure", "tool": "look"},
            [LOOK, says()],
            {"mocks": ERROR},
            id="no retry",
        ),
        pytest.param(
            {"kind": "no_retry_after_failure", "tool": "look"},
            [wants("look", n=1), wants("look", n=2), says()],
            {"mocks": ERROR},
            id="other arguments are no retry",
        ),
        pytest.param(
            {"kind": "final_reply", "contains": "YOUR  toner"},
            [says("I ordered your toner.")],
            {},
            id="contains",
        ),
        pytest.param(
            {"kind": "final_reply", "matches": r"IT-\d+", "lacks": "sorry"},
            [says("Taken as IT-88.")],
            {},
            id="matches",
        ),
        pytest.param({"kind": "ticket_in_every_input"}, [LOOK, says()], {}, id="ticket"),
        pytest.param(
            {"kind": "ticket_in_every_input", "text": "You  order\nthings"},
            [LOOK, says()],
            {},
            id="another text",
        ),
    ],
)  # fmt: skip
def test_holds(wanted: dict[str, Any], rounds: list[Any], entries: dict[str, Any]) -> None:
    assert state(wanted, *rounds, **entries) == "passed"


@pytest.mark.parametrize(
    ("wanted", "rounds", "entries", "why"),
    [
        pytest.param(
            {"kind": "ending", "in": ["finished"]},
            [LOOK],
            {},
            "still going at round 1: the script has no further reply",
            id="ending",
        ),
        pytest.param({"kind": "max_rounds", "rounds": 1}, [LOOK, says()], {}, "2 rounds", id="l"),
        pytest.param(
            {"kind": "max_cost", "cost": 1}, [{**says(), "cost": 1.5}], {}, "1.5", id="cost",
        ),
        pytest.param(
            {"kind": "max_seconds", "seconds": 1},
            [{**says(), "duration_ms": 2000}],
            {},
            "2.0 s, of them 2.0 s as recorded",
            id="time",
        ),
        pytest.param(
            {"kind": "no_identical_call"},
            [LOOK, wants("other"), LOOK, LOOK, says()],
            {},
            "round 4: look {}, call 3 with the same arguments and an unchanged result",
            id="third call",
        ),
        pytest.param(
            {"kind": "no_empty_result"},
            [wants("look", '{"status": "success", "content": []}'), says()],
            {},
            "round 1: an empty result of look reached the model",
            id="empty envelope",
        ),
        pytest.param(
            {"kind": "no_empty_result"},
            [LOOK, says()],
            {"mocks": ERROR, "agent": swallows},
            "round 1: look failed (403 no permission) and the model read: ok",
            id="swallowed",
        ),
        pytest.param(
            {"kind": "must_call", "tool": "look", "args": {"n": 1}},
            [wants("look", n=2), says()],
            {},
            "look was not called",
            id="called with others",
        ),
        pytest.param(
            {"kind": "must_not_call", "tool": "look"},
            [LOOK, says()],
            {},
            "look called in round 1",
            id="called",
        ),
        pytest.param(
            {"kind": "no_retry_after_failure", "tool": "look"},
            [LOOK, wants("other"), LOOK, says()],
            {"mocks": ERROR},
            "round 3: look again after it failed in round 1",
            id="retry",
        ),
        pytest.param(
            {"kind": "no_retry_after_failure", "tool": "look", "any_args": True},
            [wants("look", n=1), wants("look", n=2), says()],
            {"mocks": ERROR},
            "round 2: look again after it failed in round 1",
            id="retry with others",
        ),
        pytest.param(
            {"kind": "final_reply", "contains": "toner"},
            [says("Done.")],
            {},
            "the final reply is: Done.",
            id="words",
        ),
        pytest.param(
            {"kind": "final_reply", "lacks": "done"},
            [says("Done.")],
            {},
            "the final reply is: Done.",
            id="lacks",
        ),
        pytest.param(
            {"kind": "final_reply", "matches": "x"}, [LOOK], {}, "I call look.", id="no end",
        ),
        pytest.param(
            {"kind": "ticket_in_every_input"},
            [LOOK, LOOK, says()],
            {"agent": loses_the_ticket},
            "round 2: the ticket is not in what the model reads",
            id="ticket",
        ),
    ],
)  # fmt: skip
def test_does_not_hold(
    wanted: dict[str, Any], rounds: list[Any], entries: dict[str, Any], why: str
) -> None:
    agent = entries.pop("agent", None)
    case = a_case(*rounds, expect=[wanted], **entries)

    ((word, said),) = judged(case, agent) if agent else judged(case)

    assert word == "failed"
    assert why in said


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        pytest.param({"kind": "max_cost", "cost": 5}, "rounds 1 carry no cost", id="cost"),
        pytest.param(
            {"kind": "detectors_silent", "detectors": ["repeated_call"]},
            "needs Agentdesk's detectors (repeated_call)",
            id="detectors",
        ),
    ],
)
def test_says_what_it_cannot_judge(wanted: dict[str, Any], why: str) -> None:
    ((word, said),) = judged(a_case(says(), expect=[wanted]))

    assert word == "not_judged"
    assert why in said


def test_a_run_that_does_not_say_its_ticket_is_not_judged_for_it() -> None:
    case = a_case(says(), expect=[{"kind": "ticket_in_every_input"}])
    case["run"]["messages"] = []

    ((word, why),) = judged(case)

    assert (word, "set the expectation's text" in why) == ("not_judged", True)


def test_two_texts_are_looked_for_apart() -> None:
    case = a_case(
        LOOK,
        says(),
        expect=[
            {"kind": "ticket_in_every_input", "text": "nowhere"},
            {"kind": "ticket_in_every_input", "text": TICKET},
        ],
    )

    assert [word for word, _ in judged(case)] == ["failed", "passed"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_told_in_words(kind: str) -> None:
    wanted = {
        "kind": kind,
        "in": ["handed_off"],
        "tool": "look",
        "contains": "x",
        "detectors": ["a"],
    }

    assert told(wanted).strip()
    assert "handed off" in told({"kind": "ending", "in": ["handed_off"]})
