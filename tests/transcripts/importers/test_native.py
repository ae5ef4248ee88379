"""The native format and the minimal log."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from transcripts.importers import ImportProblem, read_runs
from transcripts.record import (
    Ending,
    InputChange,
    Message,
    Opaque,
    Placed,
    RunLimits,
    Stop,
    Tool,
    completeness,
)


def read(*values, lines=False):
    """Read one JSON value, or several as lines."""
    content = "\n".join(json.dumps(value) for value in values)
    return list(read_runs(content.encode(), default_run_id="r"))


def a_round(number=1, **fields):
    return {"round": number, "stop": "stop", **fields}


def test_reads_the_minimal_log():
    call = {"name": "look", "args": {"id": 4417}, "result": "", "is_error": False}
    (run,) = read(
        {"round": 1, "stop": "wants_tool", "calls": [call]}, {"round": 2, "stop": "finished"}
    )

    first, last = run.rounds
    assert (run.run_id, run.format) == ("r", "native")
    assert (first.stop, first.stop_raw, last.stop) == (Stop.WANTS_TOOL, "wants_tool", Stop.FINISHED)
    assert first.calls[0].args == '{"id":4417}'
    assert (first.calls[0].result, first.calls[0].is_error) == ("", False)


def test_reads_every_field_of_a_run():
    (run,) = read(
        {
            "format": "agentdesk.run/1",
            "run_id": "vpn",
            "ticket_id": "IT-1",
            "agent": "helpdesk",
            "provider": "anthropic",
            "model": "m",
            "prompt_version": "7",
            "code_version": "abc",
            "started_at": "2026-09-28T10:00:00+02:00",
            "ended_at": "2026-09-28T10:00:00",
            "ending": "round_limit",
            "currency": "INR",
            "context_window": 16000,
            "limits": {"rounds": 12, "seconds": 90.5, "cost": 1.25},
            "labels": {"team": "it", "shard": 3},
            "tools": [{"name": "look", "description": "Looks.", "schema": {"type": "object"}}],
            "rounds": [],
        }
    )

    assert (run.ticket_id, run.agent, run.provider, run.model) == (
        "IT-1",
        "helpdesk",
        "anthropic",
        "m",
    )
    assert run.started_at == datetime(2026, 9, 28, 8, tzinfo=UTC)
    assert run.ended_at == datetime(2026, 9, 28, 10, tzinfo=UTC)
    assert (run.ending, run.currency, run.context_window) == (Ending.ROUND_LIMIT, "INR", 16000)
    assert run.limits == RunLimits(12, 90.5, Decimal("1.25"))
    assert run.labels == {"team": "it", "shard": "3"}
    assert run.tools == (Tool("look", "Looks.", '{"type":"object"}'),)


def test_reads_every_field_of_a_round():
    (run,) = read(
        {
            "run_id": "r",
            "provider": "anthropic",
            "rounds": [
                a_round(
                    reply="Hm.",
                    reasoning="think",
                    stop="tool_use",
                    calls=[{"id": "c1", "name": "look", "args": "{broken", "duration_ms": 3}],
                    tokens_in=10,
                    tokens_out=2,
                    tokens_cached=4,
                    cost=0.10,
                    model="m2",
                    started_at="2026-09-28T10:00:00Z",
                    duration_ms=12.5,
                    error="late",
                )
            ],
        }
    )

    (round_,) = run.rounds
    assert (round_.stop, round_.stop_raw) == (Stop.WANTS_TOOL, "tool_use")
    assert (round_.reply, round_.reasoning, round_.error) == ("Hm.", "think", "late")
    assert (round_.tokens_in, round_.tokens_out, round_.tokens_cached) == (10, 2, 4)
    assert (round_.cost, round_.model, round_.duration_ms) == (Decimal("0.1"), "m2", 12.5)
    (call,) = round_.calls
    assert (call.id, call.args, call.result, call.duration_ms) == ("c1", "{broken", None, 3)


@pytest.mark.parametrize(
    ("fields", "stop", "raw"),
    [
        pytest.param({"stop": "end_turn"}, Stop.FINISHED, "end_turn", id="a service's label"),
        pytest.param({"stop": "cut_off"}, Stop.CUT_OFF, "cut_off", id="a plain label"),
        pytest.param(
            {"stop": "cut_off", "stop_raw": "length"}, Stop.CUT_OFF, "length", id="both labels"
        ),
        pytest.param({"stop_raw": "length"}, Stop.CUT_OFF, "length", id="the raw one alone"),
        pytest.param({"stop": None}, Stop.FINISHED, None, id="no label"),
        pytest.param({"stop": None, "error": "503"}, Stop.ERROR, None, id="an error, no label"),
        pytest.param({"stop": "gone fishing"}, Stop.UNKNOWN, "gone fishing", id="unknown"),
        pytest.param(
            {"stop": "stop", "calls": [{"name": "x"}]}, Stop.WANTS_TOOL, "stop", id="with a call"
        ),
    ],
)
def test_reads_the_stop_reason(fields, stop, raw):
    (run,) = read({"rounds": [{"round": 1, **fields}]})

    assert (run.rounds[0].stop, run.rounds[0].stop_raw) == (stop, raw)


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        pytest.param(None, None, id="unanswered"),
        pytest.param("", "", id="empty"),
        pytest.param({"a": [1.50]}, '{"a":[1.5]}', id="an object"),
        pytest.param([], "[]", id="an empty list"),
        pytest.param(False, "false", id="a truth value"),
    ],
)
def test_reads_a_result(result, kept):
    (run,) = read({"rounds": [a_round(calls=[{"name": "x", "result": result}])]})

    assert run.rounds[0].calls[0].result == kept


@pytest.mark.parametrize(
    "file",
    [
        pytest.param([[{"run_id": "a", "rounds": []}, {"run_id": "b", "rounds": []}]], id="list"),
        pytest.param(
            [{"runs": [{"run_id": "a", "rounds": []}, {"run_id": "b", "rounds": []}]}], id="runs"
        ),
        pytest.param(
            [{"run_id": "a", "rounds": []}, {"run_id": "b", "rounds": []}], id="a run a line"
        ),
        pytest.param(
            [{"run_id": "a"}, a_round(1), {"run_id": "b"}, a_round(1)], id="header and rounds"
        ),
        pytest.param(
            [a_round(1, run_id="a"), a_round(1, run_id="b"), a_round(2, run_id="a")],
            id="rounds of two runs in turns",
        ),
    ],
)
def test_reads_many_runs(file):
    assert [run.run_id for run in read(*file)] == ["a", "b"]


def test_a_header_line_gives_its_rounds_the_run_fields():
    (run,) = read({"run_id": "a", "ticket_id": "IT-9"}, a_round(1), a_round(2))

    assert (run.ticket_id, len(run.rounds)) == ("IT-9", 2)


def test_rounds_may_come_in_any_order_and_with_gaps():
    (run,) = read({"rounds": [a_round(4), a_round(1)]})

    assert [round_.number for round_ in run.rounds] == [1, 4]
    assert completeness(run).gaps == ((2, 3),)


def test_the_same_round_twice_is_folded_and_counted():
    (run,) = read({"rounds": [a_round(1), a_round(2), a_round(1)]})

    assert [round_.number for round_ in run.rounds] == [1, 2]
    assert run.received.folded == 1


def test_inputs_as_whole_lists_become_changes():
    sent = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "VPN drops."},
        {
            "role": "assistant",
            "content": "Hm.",
            "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "fine"},
    ]
    call = {"id": "c1", "name": "look", "result": "fine"}
    (run,) = read(
        {
            "rounds": [
                a_round(1, messages=sent[:2], reply="Hm.", calls=[call]),
                a_round(2, messages=sent),
                a_round(3, messages=sent[2:]),
            ]
        }
    )

    assert [list(keys) for _, keys in run.inputs()] == [
        ["m1.1", "m1.2"],
        ["m1.1", "m1.2", "reply:1", "result:1:0"],
        ["reply:1", "result:1:0"],
    ]
    assert run.message_by_key["reply:1"] == Message("reply:1", "assistant", reply_of=1)
    assert run.rounds[1].input.dropped == ()
    assert [placed.key for placed in run.rounds[2].input.dropped] == ["m1.1", "m1.2"]


def test_a_result_shortened_in_the_history_is_a_message_of_its_own():
    history = [{"role": "tool", "tool_call_id": "c1", "content": "fi…"}]
    call = {"id": "c1", "name": "look", "result": "fine"}

    (run,) = read({"rounds": [a_round(1, calls=[call]), a_round(2, messages=history)]})

    (message,) = run.messages
    assert (message.content, message.call_id, message.result_of) == ("fi…", "c1", None)


def test_inputs_as_changes_name_messages_by_key():
    (run,) = read(
        {
            "messages": [{"key": "goal", "role": "system", "content": "Help."}],
            "rounds": [
                a_round(1, input={"added": ["goal"]}),
                a_round(2, input={"added": ["reply:1", {"key": "result:1:0", "at": 1}]}),
                a_round(3, input={"dropped": [{"key": "goal", "at": 0}]}),
            ],
        }
    )

    assert run.message_by_key["goal"] == Message("goal", "system", "Help.", named=True)
    assert run.message_by_key["result:1:0"].result_of == (1, 0)
    assert [list(keys) for _, keys in run.inputs()] == [
        ["goal"],
        ["goal", "result:1:0", "reply:1"],
        ["result:1:0", "reply:1"],
    ]


def test_an_append_may_name_messages_that_came_before():
    (run,) = read({"rounds": [a_round(7, input={"dropped": ["old"]})]})

    assert run.rounds[0].input == InputChange(dropped=(Placed("old"),))


def test_the_whole_input_of_an_append_counts_from_nothing():
    (run,) = read({"rounds": [a_round(7, messages=[{"role": "user", "content": "VPN"}])]})

    assert run.rounds[0].input == InputChange((Placed("m7.1"),), whole=True)


def test_unknown_fields_are_kept():
    (run,) = read(
        {
            "colour": "red",
            "messages": [{"key": "k", "role": "user", "content": "a", "mood": "good"}],
            "rounds": [a_round(1, weather=[1], calls=[{"name": "x", "taste": "sweet"}])],
        }
    )

    assert run.notes == ('Unknown field colour: "red"',)
    assert run.messages[0].opaque == (Opaque("mood", "good"),)
    assert run.rounds[0].opaque == (Opaque("weather", "[1]"), Opaque("calls[0].taste", "sweet"))


@pytest.mark.parametrize(
    ("run", "says"),
    [
        pytest.param(
            {"rounds": [a_round(0)]},
            "$.rounds[0].round: expected a whole number of 1 or more",
            id="0",
        ),
        pytest.param(
            {"rounds": [a_round(1), a_round(1, reply="b")]},
            "$.rounds[1].round: round 1 is there twice, with different content",
            id="a number twice",
        ),
        pytest.param(
            {"rounds": [a_round("1")]}, "$.rounds[0].round: expected a whole number, got", id="text"
        ),
        pytest.param(
            {"rounds": [a_round(True)]},
            "$.rounds[0].round: expected a whole number, got",
            id="bool",
        ),
        pytest.param(
            {"rounds": [a_round(calls=[{"args": {}}])]},
            '$.rounds[0].calls[0]: the field "name" is missing',
            id="a call without name",
        ),
        pytest.param(
            {"rounds": [a_round(calls=[{"name": 3}])]}, "$.rounds[0].calls[0].name", id="a number"
        ),
        pytest.param(
            {"rounds": [a_round(calls={})]},
            "$.rounds[0].calls: expected a list, got an object",
            id="{}",
        ),
        pytest.param({"rounds": [a_round(tokens_in=-1)]}, "$.rounds[0].tokens_in", id="negative"),
        pytest.param({"rounds": [a_round(tokens_in=1e30)]}, "$.rounds[0].tokens_in", id="1e30"),
        pytest.param({"rounds": [a_round(tokens_in=2**40)]}, "$.rounds[0].tokens_in", id="2^40"),
        pytest.param({"rounds": [a_round(cost=-0.1)]}, "$.rounds[0].cost: expected an", id="debt"),
        pytest.param({"rounds": [a_round(cost=1e13)]}, "$.rounds[0].cost: expected an", id="10^13"),
        pytest.param({"rounds": [a_round(duration_ms=-1)]}, "$.rounds[0].duration_ms", id="-1 ms"),
        pytest.param({"rounds": [a_round(started_at="soon")]}, "$.rounds[0].started_at", id="soon"),
        pytest.param(
            {"rounds": [a_round(started_at="0001-01-01T00:00:00+14:00")]},
            "$.rounds[0].started_at: outside the years 1 to 9999 in UTC",
            id="a year before 1",
        ),
        pytest.param(
            {"rounds": [], "ended_at": "9999-12-31T23:00:00-02:00"},
            "$.ended_at: outside the years 1 to 9999 in UTC",
            id="a year after 9999",
        ),
        pytest.param(
            {"rounds": [3]}, "$.rounds[0]: expected an object, got a whole number", id="no round"
        ),
        pytest.param({"ending": "bored", "rounds": []}, '$.ending: "bored" is not one', id="end"),
        pytest.param(
            {"rounds": [a_round(input={"added": ["x"]})]},
            '$.rounds[0].input.added[0]: no message has the key "x"',
            id="no such message",
        ),
        pytest.param(
            {"rounds": [a_round(input={}, messages=[])]},
            "$.rounds[0].messages: a round has either messages or input",
            id="two inputs",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": "a"}], "rounds": []},
            "$.messages[0].key: a message of a run needs a key",
            id="no key",
        ),
        pytest.param(
            {"messages": [{"role": "u", "key": "k"}, {"role": "u", "key": "k"}], "rounds": []},
            '$.messages[1].key: the key "k" is there twice',
            id="a key twice",
        ),
    ],
)
def test_refuses_a_run_and_says_where(run, says):
    (problem,) = read({"format": "agentdesk.run/1", "run_id": "vpn", **run})

    assert isinstance(problem, ImportProblem)
    assert str(problem).startswith(f"run vpn, {says}")


def test_one_bad_run_leaves_the_others():
    good = {"run_id": "b", "rounds": [a_round(1)]}
    problem, run = read({"runs": [{"run_id": "a", "rounds": [a_round(0)]}, good]})

    assert problem.field == "$.runs[0].rounds[0].round"
    assert (run.run_id, len(run.rounds)) == ("b", 1)


def test_says_the_line_of_a_bad_round():
    same = a_round(1, reply="x")
    problems = [
        found
        for found in read(a_round(1), {"round": 2, "calls": 5}, same)
        if isinstance(found, ImportProblem)
    ]

    assert [(p.line, p.field) for p in problems] == [(2, "$.calls"), (3, "$.round")]


def test_names_runs_without_id_apart():
    runs = read([{"rounds": [a_round(1)]}, {"rounds": [a_round(1)]}])

    assert [run.run_id for run in runs] == ["r", "r-2"]
