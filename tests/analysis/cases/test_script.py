"""The scripted model and the recorded tools: what a loop gets, and what is told when it strays."""

from __future__ import annotations

import time
from typing import Any

import pytest

from analysis.cases.harness import (
    CaseError,
    ModelFailed,
    Replay,
    ToolFailed,
    example_agent,
    judge,
)
from tests.analysis.cases.small import a_case, here, plain_loop, says, shown, wants
from transcripts.endings import hands_off

POLLS = (wants("poll", "busy"), wants("poll", "busy"), wants("poll", "ready"), says())


def mock(answer: str, **more: Any) -> list[dict[str, Any]]:
    return [{"tool": "look", "answer": answer, **more}]


def test_replies_come_in_order_and_results_as_recorded() -> None:
    trace = here(a_case(*POLLS))

    assert [shown(trace, number) for number in (1, 2, 3)] == ["busy", "busy", "ready"]
    assert (trace.ending, trace.number, trace.final) == ("finished", 4, "Done.")
    assert trace.divergence is None


def test_keys_in_another_order_are_the_same_call() -> None:
    def turns_keys(replay: Replay) -> None:
        replay.ask(replay.start())
        answers.append(replay.call("look", {"b": {"d": 2, "c": 1}, "a": 1}))

    answers: list[str] = []
    trace = here(a_case(wants("look", "seen", a=1, b={"c": 1, "d": 2}), says()), turns_keys)

    assert answers == ["seen"]
    assert trace.divergence == {
        "round": 1,
        "what": "the loop ended the run",
        "expected": "round 2",
        "got": "stopped",
    }


def test_a_call_beyond_the_record_gets_the_last_answer_again() -> None:
    def polls_on(replay: Replay) -> None:
        replay.ask(replay.start())
        answers.extend(replay.call("poll") for _ in range(5))

    answers: list[str] = []
    here(a_case(*POLLS), polls_on)

    assert answers == ["busy", "busy", "ready", "ready", "ready"]


def test_a_call_that_was_not_recorded_fails_and_is_told() -> None:
    def guesses(replay: Replay) -> None:
        replay.ask(replay.start())
        replay.call("look", {"floor": 3})

    trace = here(a_case(wants("look", floor=2), says()), guesses)

    assert trace.ending == "error"
    assert 'not recorded: look with {"floor":3}; recorded with {"floor":2}' in trace.reason
    assert trace.divergence is not None
    assert trace.divergence["expected"] == "a recorded call"


def test_a_case_may_stop_at_a_call_that_was_not_recorded() -> None:
    def guesses(replay: Replay) -> None:
        replay.ask(replay.start())
        replay.call("erase")

    trace = here(a_case(wants("look"), says(), script={"unrecorded": "stop"}), guesses)

    assert trace.ending == "stopped"
    assert trace.reason == "not recorded: no call of erase; recorded tools: look"


def test_a_recorded_error_flag_reaches_the_model() -> None:
    failing = wants("look", "403")
    failing["calls"][0]["is_error"] = True

    trace = here(a_case(failing, says()))

    assert trace.rounds[0]["calls"][0]["shown"]["is_error"] is True


def test_a_failed_request_is_raised_as_it_was_recorded() -> None:
    def catches(replay: Replay) -> str:
        with pytest.raises(ModelFailed, match="529 overloaded"):
            replay.ask(replay.start())
        return replay.ask(replay.start()).text

    failed = {"stop": "error", "error": "529 overloaded"}
    trace = here(a_case(failed, says("Done at last.")), catches)

    assert (trace.number, trace.final) == (2, "Done at last.")


def test_the_first_way_off_is_told_with_expected_and_got() -> None:
    def shortens(replay: Replay) -> None:
        messages: list[Any] = list(replay.start())
        for _ in range(3):
            reply = replay.ask(messages)
            messages.append(reply.message)
            for call in reply.calls:
                messages.append(call.answer(replay.call(call.name)[:4]))

    trace = here(a_case(wants("poll", "busy"), wants("poll", "ready now"), says()), shortens)

    assert trace.divergence == {
        "round": 3,
        "what": "result of poll shown to the model",
        "expected": "ready now",
        "got": "read",
    }


def test_a_call_that_the_reply_did_not_ask_for_is_told() -> None:
    def meddles(replay: Replay) -> None:
        replay.ask(replay.start())
        replay.call("tidy", {"room": 2})

    trace = here(a_case(wants("look"), wants("tidy", room=2), says()), meddles)

    assert trace.divergence is not None
    assert (trace.divergence["expected"], trace.divergence["got"]) == ("look {}", 'tidy {"room":2}')


BRANCH = {
    "when": {"result_of": "look", "contains": "NO  PERMISSION"},
    "replies": [{"calls": [{"name": "escalate", "args": {}}]}, {"text": "Handed over."}],
}
TOOLS = [
    {"tool": "look", "answer": "error", "text": "403: no permission"},
    {"tool": "escalate", "answer": "result", "text": "taken"},
]


def asked(trace: Any) -> list[str]:
    return [call["name"] for entry in trace.rounds for call in entry["calls"]]


def test_a_branch_is_taken_where_its_condition_holds() -> None:
    case = a_case(wants("look"), wants("look"), says(), branches=[BRANCH], mocks=TOOLS)

    trace = here(case)

    assert asked(trace) == ["look", "escalate"]
    assert (trace.ending, trace.final) == ("finished", "Handed over.")
    assert [entry["source"] for entry in trace.rounds] == ["recorded", "branch", "branch"]


def test_a_branch_waits_for_its_condition() -> None:
    case = a_case(wants("look"), wants("look"), says(), branches=[BRANCH])

    assert asked(here(case)) == ["look", "look"]


def test_after_a_branch_the_script_is_over_or_goes_on() -> None:
    one_reply = {**BRANCH, "replies": [{"calls": [{"name": "wait", "args": {}}]}]}
    over = a_case(wants("look"), says(), branches=[one_reply], mocks=TOOLS)
    on = a_case(wants("look"), says(), branches=[{**one_reply, "then": "resume"}], mocks=TOOLS)

    assert here(over).reason == "still going at round 2: the branch has no further reply"
    assert (here(on).ending, here(on).number) == ("finished", 3)


@pytest.mark.parametrize(
    ("when", "taken"),
    [
        pytest.param({"round": 2}, True, id="round"),
        pytest.param({"round": 9}, False, id="another round"),
        pytest.param({"result_of": "look", "empty": True}, True, id="empty"),
        pytest.param({"result_of": "look", "empty": False}, False, id="not empty"),
        pytest.param({"result_of": "look", "matches": r"^\s*$"}, True, id="pattern"),
        pytest.param({"result_of": "look", "error": True}, False, id="no error flag"),
        pytest.param({"result_of": "other", "empty": True}, False, id="another tool"),
        pytest.param({"contains": "printer"}, True, id="text of the ticket"),
        pytest.param({"contains": "printer", "round": 2}, False, id="text before the reply"),
    ],
)
def test_conditions(when: dict[str, Any], taken: bool) -> None:
    branch = {"when": when, "replies": [{"text": "From the branch."}]}

    trace = here(a_case(wants("look", ""), says(), branches=[branch]))

    assert (trace.final == "From the branch.") is taken


def test_by_match_gives_the_reply_to_what_is_shown() -> None:
    """A loop that refreshes at once skips what the record shows in between."""

    def skips(replay: Replay) -> None:
        messages: list[Any] = list(replay.start())
        for result in ("ready", None):
            reply = replay.ask(messages)
            messages += [reply.message]
            if result:
                messages.append(reply.calls[0].answer(result))

    in_order = here(a_case(*POLLS), skips)
    by_match = here(a_case(*POLLS, script={"replies": "by_match"}), skips)

    assert in_order.ending == "stopped"
    assert by_match.ending == "finished"
    assert by_match.rounds[-1]["reply"] == "Done."


def test_by_match_stops_or_goes_on_where_nothing_matches() -> None:
    def invents(replay: Replay) -> None:
        reply = replay.ask(replay.start())
        replay.ask([*replay.start(), reply.message, reply.calls[0].answer("on fire")])

    stops = here(a_case(*POLLS, script={"replies": "by_match", "otherwise": "stop"}), invents)
    goes_on = here(a_case(*POLLS, script={"replies": "by_match"}), invents)

    assert stops.ending == "stopped"
    assert stops.reason == "no recorded reply matches what the model is shown"
    assert goes_on.number == 2
    assert goes_on.divergence is not None
    assert goes_on.divergence["got"] == "on fire"


@pytest.mark.parametrize(
    ("mocks", "text"),
    [
        pytest.param(mock("empty"), "", id="empty"),
        pytest.param(mock("result", text="other"), "other", id="result"),
        pytest.param(mock("error", text="403"), "failed: ToolFailedRuntimeError: 403", id="error"),
        pytest.param(
            mock("timeout"), "failed: ToolFailedTimeoutError: look timed out", id="time-out"
        ),
        pytest.param(
            mock("schema_error"),
            "failed: ToolFailedValueError: invalid arguments for look:"
            " they do not match its schema",
            id="schema error",
        ),
        pytest.param(mock("error", **{"as": "result"}, text="403"), "403", id="flagged result"),
        pytest.param(mock("error", args={"floor": 9}), "fine", id="other arguments"),
        pytest.param(mock("error", calls=[2]), "fine", id="another call"),
        pytest.param(mock("empty", args={"floor": 2}, calls=[1]), "", id="these arguments"),
    ],
)
def test_mocks(mocks: list[dict[str, Any]], text: str) -> None:
    trace = here(a_case(wants("look", "fine", floor=2), says(), mocks=mocks))

    assert shown(trace, 1) == text


def test_a_mock_raises_what_a_wrapper_would_catch() -> None:
    caught = []

    def wrapped(replay: Replay) -> None:
        replay.ask(replay.start())
        for kind in (PermissionError, ToolFailed):
            try:
                replay.call("look")
            except kind as error:
                caught.append(str(error))

    here(a_case(wants("look"), mocks=mock("error", text="403", raises="PermissionError")), wrapped)

    assert caught == ["403", "403"]


def test_a_slow_tool_is_slow_and_then_answers() -> None:
    started = time.monotonic()

    trace = here(a_case(wants("look", "fine"), says(), mocks=mock("slow", seconds=0.05)))

    assert time.monotonic() - started >= 0.05
    assert shown(trace, 1) == "fine"


def test_from_round_n_the_real_model_is_asked() -> None:
    def model(messages: list[Any], *, seed: int, temperature: float, round: int) -> dict[str, Any]:
        asked_with.append((seed, temperature, round, len(messages)))
        if round == 2:
            return {"calls": [{"name": "poll", "args": {}}], "model": "real-1", "cost": 0.5}
        return {"text": "Real end.", "model": "real-1"}

    asked_with: list[Any] = []
    case = a_case(*POLLS, branches=[{"when": {"round": 2}, "replies": [{"text": "no"}]}])
    trace = here(case, from_round=2, model=model, seed=5, temperature=0.2)

    assert [entry["source"] for entry in trace.rounds] == ["recorded", "model", "model"]
    assert asked_with == [(5, 0.2, 2, 4), (5, 0.2, 3, 6)]
    assert (trace.final, trace.rounds[1]["cost"]) == ("Real end.", 0.5)


def test_what_the_person_wrote_later_is_given_in_order() -> None:
    case = a_case(says("Which floor?"), says("Done."))
    case["run"]["messages"].append({"key": "later", "role": "user", "content": "Floor 2."})
    case["run"]["rounds"][1]["input"] = {"added": ["later"]}

    def talks(replay: Replay) -> None:
        heard.extend([replay.person(), replay.person()])

    heard: list[Any] = []
    here(case, talks)

    assert heard == ["Floor 2.", None]


def test_hard_stops_hold_where_a_loop_catches_everything() -> None:
    def stubborn(replay: Replay) -> None:
        for _ in range(100):
            try:
                replay.ask(replay.start())
            except BaseException:
                continue

    trace = here(a_case(*(wants("look") for _ in range(9))), stubborn, rounds=4)

    assert trace.reason == "still going at round 4: stopped at the limit of 4 rounds"


def test_tool_calls_without_end_are_stopped() -> None:
    def only_calls(replay: Replay) -> None:
        replay.ask(replay.start())
        while True:
            replay.call("look")

    trace = here(a_case(wants("look")), only_calls)

    assert trace.reason == "still going at round 1: stopped at the limit of 2000 tool calls"


def test_tools_by_name_are_those_that_can_answer() -> None:
    def registry(replay: Replay) -> None:
        names.extend(sorted(replay.tools))
        replay.ask(replay.start())
        answers.append(replay.tools["look"](floor=2))
        answers.append(replay.tools["look"]({"floor": 2}))
        with pytest.raises(KeyError):
            replay.tools["erase"]

    names: list[str] = []
    answers: list[str] = []
    here(a_case(wants("look", "fine", floor=2), branches=[BRANCH], mocks=TOOLS[1:]), registry)

    assert names == ["escalate", "look"]
    assert answers == ["fine", "fine"]


def test_plain_loop_ends_at_a_reply_without_calls() -> None:
    assert here(a_case(says("Hello.")), plain_loop).final == "Hello."


@pytest.mark.parametrize("entry", [{"mocks": [{"tool": "x", "answer": "explode"}]}])
def test_the_harness_alone_refuses_what_it_cannot_do(entry: dict[str, Any]) -> None:
    with pytest.raises(CaseError, match=r"mocks\[0\].answer: 'explode'"):
        a_case(says(), **entry)


@pytest.mark.parametrize(
    "name",
    [
        "escalate_to_it_team",
        "handOff",
        "transfer_to_human",
        "transfer_to_account",
        "look",
        "page_2",
    ],
)
def test_hand_offs_are_those_of_the_record(name: str) -> None:
    trace = here(a_case(wants(name)))

    assert (trace.ending == "handed_off") is hands_off(name)


def test_a_run_that_ended_by_its_last_call_is_replayed_to_that_end() -> None:
    """Many agents are finished when they call a tool of that meaning, answered or not."""
    ended = {"run_id": "r", "ending": "finished"}
    for answer in (None, "accepted"):
        case = a_case(wants("look"), wants("submit", answer), expect=[
            {"kind": "must_call", "tool": "submit"}, {"kind": "ending", "in": ["finished"]},
        ])  # fmt: skip
        case["run"] |= ended

        trace = here(case)

        assert (trace.ending, trace.reason) == ("finished", "as far as the recorded run went")
        assert trace.divergence is None
        assert [state for state, _ in judge(case, trace)] == ["passed", "passed"]


def test_a_run_that_was_stopped_is_still_going_where_its_record_ends() -> None:
    case = a_case(wants("look"), wants("submit", None))
    case["run"]["ending"] = "stopped"

    trace = here(case)

    assert trace.reason == (
        "still going at round 2: the record has no answer of submit, and no further reply"
    )


def test_a_conversation_goes_on_with_what_the_person_wrote() -> None:
    case = a_case(says("Which floor?"), wants("look"), says("Ordered."))
    case["run"]["messages"].append({"key": "later", "role": "user", "content": "Floor 2."})
    case["run"]["rounds"][1]["input"] = {"added": ["later"]}

    trace = here(case, example_agent)

    assert (trace.number, trace.final, trace.divergence) == (3, "Ordered.", None)
