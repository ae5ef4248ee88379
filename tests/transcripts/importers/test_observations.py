"""Traces as frameworks leave them: what is left out, told twice, or written in another shape."""

import json
from pathlib import Path

import pytest

from transcripts.importers import read_runs
from transcripts.importers.building import REPLY_LEFT_OUT
from transcripts.importers.literals import printed_fields
from transcripts.record import Stop

DATA = Path(__file__).parents[2] / "data/langfuse"


def read(name):
    return read_value(json.loads((DATA / f"{name}.json").read_bytes()))


def read_value(value):
    (run,) = read_runs(json.dumps(value).encode(), default_run_id="r")
    return run


def inputs(run):
    """Per round the texts read, or the keys of replies and results; None where unknown."""
    return [
        None if keys is None else [run.message_by_key[key].content or key for key in keys]
        for _, keys in run.inputs()
    ]


def calls(run):
    return [
        [(call.name, json.loads(call.args), call.result) for call in r.calls] for r in run.rounds
    ]


LOOKED_UP = [[("look_up", {"employee": 4417}, "accountant")], []]
START = ["Help people with their VPN.", "My VPN drops."]


@pytest.mark.parametrize("name", ["result_left_out", "role_of_tool"])
def test_a_result_is_what_the_next_request_says_it_was(name):
    run = read(name)

    assert calls(run) == LOOKED_UP
    assert inputs(run) == [START, [*START, "reply:1", "result:1:0"]]


def test_a_result_that_a_span_holds_is_not_replaced():
    trace = json.loads((DATA / "result_left_out.json").read_bytes())
    trace["observations"][1]["output"] = {"job": "accountant"}

    run = read_value(trace)

    assert run.rounds[0].calls[0].result == '{"job":"accountant"}'
    assert inputs(run)[1] == [*START, "reply:1", "accountant"]


def test_a_flag_of_the_span_stays_with_the_result_of_the_request():
    assert read("result_left_out").rounds[0].calls[0].is_error is False


def test_listed_keys_are_no_message():
    assert inputs(read("listed_keys")) == [["My VPN drops."], None, None]


def test_an_execution_finds_its_call_in_an_earlier_round_by_its_arguments():
    run = read("listed_keys")

    assert calls(run) == [
        [("look_up", {"employee": 4417}, "accountant")],
        [("look_up", {"employee": 4418}, "driver")],
        [],
    ]


def test_results_alone_continue_the_request_before():
    run = read("only_what_is_new")

    assert inputs(run)[1] == ["My VPN drops.", "reply:1", "result:1:0"]
    assert run.rounds[0].calls[0].result == 'an "accountant"'


def test_events_of_one_execution_are_one_call():
    run = read("events")

    assert calls(run) == LOOKED_UP
    assert "Spans that only group others or say no more, not shown: 3." in run.notes


def test_the_same_call_made_twice_is_two_calls_where_spans_are_no_events():
    trace = json.loads((DATA / "events.json").read_bytes())
    for entry in trace["observations"]:
        entry.get("metadata", {}).get("attributes", {}).pop("target", None)

    assert [call[0] for call in calls(read_value(trace))[0]] == ["look_up", "look_up"]


def test_a_reply_that_was_not_recorded_is_taken_from_the_next_request():
    run = read("events")

    assert run.rounds[0].reply == "Thought: look them up.\nFunction Name: look_up"
    assert inputs(run)[1] == ["Help people.", "My VPN drops.", "reply:1"]
    assert REPLY_LEFT_OUT in run.notes


def test_an_empty_reply_stays_empty():
    trace = json.loads((DATA / "events.json").read_bytes())
    trace["observations"][0]["usageDetails"] = {"input": 9, "output": 0}
    trace["observations"][0]["metadata"]["attributes"]["gen_ai.response.finish_reasons"] = ["stop"]

    run = read_value(trace)

    assert run.rounds[0].reply == ""
    assert REPLY_LEFT_OUT not in run.notes


def test_a_trace_of_requests_that_say_nothing_still_has_its_rounds():
    trace = json.loads((DATA / "events.json").read_bytes())
    trace["observations"] = trace["observations"][-1:]

    assert len(read_value(trace).rounds) == 1


def test_the_request_around_another_is_the_round_where_it_tells_more():
    run = read("printed_messages")

    assert [round_.stop for round_ in run.rounds] == [Stop.WANTS_TOOL, Stop.FINISHED]
    assert [round_.reply for round_ in run.rounds] == ["", "Reset your profile."]
    assert (run.rounds[0].tokens_in, run.rounds[0].tokens_out) == (20, 5)


def test_messages_that_python_printed_are_messages():
    run = read("printed_messages")

    start = ['Help people with "their" VPN.', "It's my VPN\nthat drops."]
    assert inputs(run) == [start, [*start, "reply:1", "result:1:0"]]


def test_tool_requests_that_stand_in_a_text_are_requests():
    run = read("calls_as_text")

    (call,) = run.rounds[0].calls
    assert (run.rounds[0].reply, call.id, call.result) == ("", "c1", "accountant")
    assert inputs(run)[1] == [*START, "reply:1", "result:1:0"]


def test_a_text_that_goes_on_from_the_one_before_repeats_it():
    assert inputs(read("growing_text")) == [
        ["Human: My VPN drops.\n"],
        ["Human: My VPN drops.\n", "Thought: look.\nObservation: fine\n"],
    ]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param(
            "a='x y' b=[1, {'c': 'd=e'}]", {"a": "x y", "b": [1, {"c": "d=e"}]}, id="plain"
        ),
        pytest.param("a=Time(at=2, b='c') b=None", {"b": None}, id="an object is left out"),
        pytest.param("a='it\\'s' b=\"it's\"", {"a": "it's", "b": "it's"}, id="quotes"),
        pytest.param("a='x", {}, id="no end"),
        pytest.param("a=[1 b=2", {}, id="no closing bracket"),
        pytest.param("a=__import__('os').getcwd() b=1", {"b": 1}, id="nothing is run"),
        pytest.param("", {}, id="empty"),
    ],
)
def test_printed_fields(text, fields):
    assert printed_fields(text) == fields
