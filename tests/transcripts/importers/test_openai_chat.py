"""OpenAI chat messages, completions and lists of them: openai_chat."""

import json

import pytest

from transcripts.importers import importer_for, read_runs
from transcripts.importers.building import NO_ERROR_FLAG, NO_STOP_LABEL
from transcripts.record import Opaque, Stop, Tool, completeness

SYSTEM = {"role": "system", "content": "Help."}
USER = {"role": "user", "content": "VPN drops."}


def asks(*names, text=None, ids=True):
    calls = [
        {"id": f"c-{name}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in names
    ]
    if not ids:
        for call in calls:
            del call["id"]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def says(text, **fields):
    return {"role": "assistant", "content": text, **fields}


def result(content, call_id=None, **fields):
    return {"role": "tool", "content": content, **fields} | (
        {"tool_call_id": call_id} if call_id else {}
    )


def a_completion(message, finish="stop", **fields):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion", "model": "gpt", "choices": [choice], **fields}


def read(value):
    (run,) = read_runs(json.dumps(value).encode(), default_run_id="r")
    return run


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: {"messages": m}], ids=["list", "object"])
def test_each_assistant_message_is_a_round(wrap):
    run = read(wrap([SYSTEM, USER, asks("look"), result("6", "c-look"), says("Fixed.")]))

    assert run.format == "openai_chat"
    assert [round_.stop for round_ in run.rounds] == [Stop.WANTS_TOOL, Stop.FINISHED]
    assert (run.rounds[0].calls[0].name, run.rounds[0].calls[0].result) == ("look", "6")
    assert [list(keys) for _, keys in run.inputs()] == [
        ["m1.1", "m1.2"],
        ["m1.1", "m1.2", "reply:1", "result:1:0"],
    ]
    assert run.notes == (NO_ERROR_FLAG, NO_STOP_LABEL)


def test_the_file_around_the_messages_says_more():
    run = read(
        {
            "id": "vpn",
            "model": "gpt",
            "temperature": 0.2,
            "response_format": {"type": "json"},
            "tools": [
                {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
            ],
            "messages": [USER, says("Hi.")],
        }
    )

    assert (run.run_id, run.model, run.labels) == ("vpn", "gpt", {"temperature": "0.2"})
    assert run.tools == (Tool("look", "", '{"type":"object"}'),)
    assert 'Not read: field "response_format" (15 characters of JSON).' in run.notes


def test_a_user_may_speak_many_times():
    run = read([USER, says("Which?"), {"role": "user", "content": "Cisco."}, says("Done.")])

    assert [list(keys) for _, keys in run.inputs()][1] == ["m1.1", "reply:1", "m2.1"]


def test_a_message_after_the_last_reply_is_kept():
    run = read([USER, says("Done."), {"role": "user", "content": "No!"}])

    assert [message.content for message in run.messages] == ["VPN drops.", "No!"]


def test_results_without_ids_are_joined_by_name_then_order():
    named = read([USER, asks("a", "b", ids=False), result("B", name="b"), result("A", name="a")])
    ordered = read([USER, asks("a", "b", ids=False), result("A"), result("B")])

    for run, how in ((named, "name"), (ordered, "order")):
        assert [(c.result, c.joined) for c in run.rounds[0].calls] == [("A", how), ("B", how)]
    assert "Results joined to their calls by the tool's name, for want of ids: 2." in named.notes


def test_one_of_two_parallel_calls_stays_unanswered():
    run = read([USER, asks("a", "b"), result("A", "c-a"), says("Done.")])

    assert [call.result for call in run.rounds[0].calls] == ["A", None]


def test_a_result_of_no_call_is_an_orphan():
    run = read([USER, asks("a"), result("A", "c-a"), result("?", "c-zz"), says("Done.")])

    assert completeness(run).orphan_results == 1
    assert run.rounds[0].orphans[0].content == "?"


def test_reads_content_parts_and_keeps_others():
    image = {"type": "image_url", "image_url": {"url": "data:…"}}
    text = [{"type": "text", "text": "See"}, image, {"type": "text", "text": "this."}]
    run = read([{"role": "user", "content": text}, says([{"type": "text", "text": "Ok."}])])

    assert run.messages[0].content == "See\nthis."
    assert run.messages[0].opaque[0].kind == "image_url"
    assert run.rounds[0].reply == "Ok."


def test_a_result_of_parts_that_are_no_text_is_kept_as_json():
    run = read([USER, asks("a"), result([{"type": "image", "data": "…"}], "c-a")])

    assert json.loads(run.rounds[0].calls[0].result) == [{"type": "image", "data": "…"}]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(says(None, refusal="I can't."), id="field"),
        pytest.param(says([{"type": "refusal", "refusal": "I can't."}]), id="part"),
    ],
)
def test_a_refusal_is_blocked(message):
    run = read([USER, message])

    assert (run.rounds[0].stop, run.rounds[0].reply) == (Stop.BLOCKED, "I can't.")


def test_reads_the_old_function_call():
    call = {"name": "look", "arguments": '{"a":1}'}
    run = read(
        [USER, says(None, function_call=call), {"role": "function", "name": "look", "content": "6"}]
    )

    assert run.rounds[0].calls[0].args == '{"a":1}'
    assert run.rounds[0].calls[0].result == "6"


def test_reads_a_custom_tool():
    call = {"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    run = read([USER, {"role": "assistant", "content": None, "tool_calls": [call]}])

    assert (run.rounds[0].calls[0].name, run.rounds[0].calls[0].args) == ("sh", "ls -l")


@pytest.mark.parametrize(
    ("content", "flag"),
    [
        pytest.param('{"content": [], "isError": true}', True, id="MCP says error"),
        pytest.param('{"content": [], "is_error": false}', False, id="MCP says none"),
        pytest.param(
            '{"jsonrpc": "2.0", "id": 4, "result": {"content": [], "isError": true}}',
            True,
            id="MCP says error, in its envelope",
        ),
        pytest.param(
            '{"jsonrpc": "2.0", "id": 4, "result": {"content": [], "isError": false}}',
            False,
            id="MCP says none, in its envelope",
        ),
        pytest.param(
            '{"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "Unknown tool: x"}}',
            True,
            id="MCP refused the call",
        ),
        pytest.param('{"jsonrpc": "2.0", "result": {}}', None, id="an envelope of something else"),
        pytest.param('{"jsonrpc": "2.0", "error": "no"}', None, id="no JSON-RPC error"),
        pytest.param('{"isError": true}', None, id="no MCP result"),
        pytest.param('{"content": [], "isError": tr', None, id="broken"),
        pytest.param("isError", None, id="text"),
    ],
)
def test_an_mcp_result_carries_its_error_flag(content, flag):
    run = read([USER, asks("a"), result(content, "c-a")])

    assert run.rounds[0].calls[0].is_error is flag
    assert run.rounds[0].calls[0].result == content


def test_reads_a_completion():
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    run = read(a_completion(asks("look"), "tool_calls", created=1796035999, usage=usage))

    (round_,) = run.rounds
    assert (round_.stop, round_.stop_raw, round_.model) == (Stop.WANTS_TOOL, "tool_calls", "gpt")
    assert (round_.tokens_in, round_.tokens_out) == (10, 5)
    assert (round_.tokens_cached, round_.tokens_reasoning) == (2, 3)
    assert round_.started_at.year == 2026
    assert round_.input is None


def test_reads_a_list_of_completions():
    run = read([a_completion(asks("look")), a_completion(says("Done."), "length")])

    assert [round_.stop for round_ in run.rounds] == [Stop.WANTS_TOOL, Stop.CUT_OFF]


def test_further_choices_are_kept():
    completion = a_completion(says("a"))
    completion["choices"].append({"index": 1, "message": says("b"), "finish_reason": "stop"})

    assert [part.kind for part in read(completion).rounds[0].opaque] == ["choice"]


def test_unknown_fields_of_a_message_are_kept():
    run = read([{**USER, "mood": "bad"}, says("Hi.", audio={"id": "a"}, annotations=[])])

    assert run.messages[0].opaque == (Opaque("mood", "bad"),)
    assert run.rounds[0].opaque == (Opaque("audio", '{"id":"a"}'),)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param([{"role": "robot", "content": "x"}], id="unknown role"),
        pytest.param([{"content": "x"}], id="no role"),
        pytest.param([{"role": "user"}], id="no content"),
        pytest.param([USER, 3], id="no object"),
        pytest.param({"messages": []}, id="no messages"),
        pytest.param({"messages": {"role": "user"}}, id="no list"),
        pytest.param({"choices": [{"text": "old"}]}, id="text completion"),
    ],
)
def test_leaves_other_shapes(value):
    found = importer_for(value)

    assert found is None or found.name != "openai_chat"
