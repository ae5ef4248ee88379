"""Replies recorded as streams, and cassettes that hold them."""

import gzip
import json

import pytest
import yaml

from transcripts.importers import UnreadableError, cassettes, read_runs
from transcripts.importers.streams import whole_reply
from transcripts.record import Stop


def sse(*events, named=False):
    lines = []
    for event in events:
        if named:
            lines.append(f"event: {event['type']}")
        lines += [f"data: {json.dumps(event)}", ""]
    return "\n".join(lines)


def a_chunk(delta, finish=None, **fields):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": "gpt", "choices": [choice], **fields}


def a_call_piece(index, arguments, id=None, name=None):
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"tool_calls": [{"index": index, "function": function} | ({"id": id} if id else {})]}


CHAT = sse(
    a_chunk({"role": "assistant", "content": "Loo"}),
    a_chunk({"content": "king."}),
    a_chunk(a_call_piece(0, "", "c1", "look_up")),
    a_chunk(a_call_piece(0, '{"a"')),
    a_chunk(a_call_piece(1, "{}", "c2", "reset")),
    a_chunk(a_call_piece(0, ":1}")),
    a_chunk({}, "tool_calls"),
    {"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 9}},
)
RESPONSES = sse(
    {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
    {
        "type": "response.completed",
        "response": {
            "id": "resp_1",
            "object": "response",
            "model": "gpt",
            "status": "completed",
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Looking."}],
                },
                {
                    "type": "function_call",
                    "call_id": "c1",
                    "name": "look_up",
                    "arguments": '{"a":1}',
                },
                {"type": "function_call", "call_id": "c2", "name": "reset", "arguments": "{}"},
            ],
            "usage": {"input_tokens": 9},
        },
    },
    named=True,
)
ANTHROPIC = sse(
    {
        "type": "message_start",
        "message": {
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [],
            "usage": {"input_tokens": 9, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "Looking."},
    },
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "c1", "name": "look_up", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"a"'},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": ":1}"},
    },
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "c2", "name": "reset", "input": {}},
    },
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    named=True,
)
GEMINI = sse(
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "Loo"}]}}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "king."}]}}]},
    {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"functionCall": {"id": "c1", "name": "look_up", "args": {"a": 1}}},
                        {"functionCall": {"id": "c2", "name": "reset", "args": {}}},
                    ]
                },
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"promptTokenCount": 9},
    },
)


@pytest.mark.parametrize(
    "stream", [CHAT, RESPONSES, ANTHROPIC, GEMINI], ids=["chat", "responses", "anthropic", "gemini"]
)
def test_puts_a_stream_together(stream):
    (run,) = read_runs(json.dumps([{"request": {}, "response": {"body": stream}}]).encode())

    (round_,) = run.rounds
    assert (round_.reply, round_.stop, round_.tokens_in) == ("Looking.", Stop.WANTS_TOOL, 9)
    assert [(c.id, c.name, c.args) for c in round_.calls] == [
        ("c1", "look_up", '{"a":1}'),
        ("c2", "reset", "{}"),
    ]


def test_a_stream_that_was_cut_gives_what_came():
    cut = CHAT[: CHAT.index('{\\"a\\"')]

    whole = whole_reply(cut)

    assert whole["choices"][0]["message"]["content"] == "Looking."
    assert whole["choices"][0]["finish_reason"] is None


def test_a_cut_responses_stream_has_the_finished_items():
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "a"}],
    }
    stream = sse(
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "item": item},
    )

    (run,) = read_runs(json.dumps([{"request": {}, "response": stream}]).encode())

    assert (run.rounds[0].reply, run.rounds[0].stop) == ("a", Stop.CUT_OFF)


def test_leaves_a_stream_that_nobody_knows():
    assert whole_reply('data: {"x": 1}') == 'data: {"x": 1}'


def a_cassette(*responses):
    request = {"messages": [{"role": "user", "content": "VPN drops."}], "model": "gpt"}
    return yaml.safe_dump(
        {
            "interactions": [
                {
                    "request": {
                        "body": json.dumps(request),
                        "headers": {"authorization": ["Bearer secret"]},
                        "uri": "https://example.com/v1/chat/completions",
                    },
                    "response": {"body": {"string": response}, "status": {"code": 200}},
                }
                for response in responses
            ],
            "version": 1,
        }
    ).encode()


def test_reads_a_cassette_with_streams_and_packed_bodies():
    (run,) = read_runs(a_cassette(CHAT, gzip.compress(CHAT.encode())))

    assert run.format == "recorded"
    assert [round_.reply for round_ in run.rounds] == ["Looking.", "Looking."]
    assert "secret" not in repr(run)


def test_an_exchange_without_an_answer_is_no_round():
    (run,) = read_runs(a_cassette(CHAT, ""))

    assert len(run.rounds) == 1


def test_refuses_a_cassette_with_aliases():
    bomb = b"interactions:\n- &a [x, x]\n- [*a, *a, *a, *a]\n"

    with pytest.raises(UnreadableError, match="has aliases"):
        list(read_runs(bomb))


def test_says_where_a_cassette_breaks():
    with pytest.raises(UnreadableError, match="cannot be read in line 4"):
        list(read_runs(b"interactions:\n- request:\n  [oops: {\n"))


def test_refuses_a_giant_cassette(monkeypatch):
    monkeypatch.setattr(cassettes, "MAX_CASSETTE", 10)

    with pytest.raises(UnreadableError, match="is not read"):
        list(read_runs(a_cassette(CHAT)))


def test_runs_no_python_of_a_cassette():
    hostile = b'interactions:\n- !!python/object/apply:os.system ["touch evil"]\n'

    with pytest.raises(UnreadableError, match="cannot be read"):
        list(read_runs(hostile))


def test_reads_cohere_v1():
    """Of the format cohere_v1: a message, a history in capitals, results by the tool's name."""
    call = {"name": "look_up", "parameters": {"a": 1}}
    reply = {
        "response_id": "x",
        "generation_id": "y",
        "text": "Looking.",
        "finish_reason": "COMPLETE",
        "tool_calls": [call],
        "meta": {"tokens": {"input_tokens": 9, "output_tokens": 2}},
    }
    request = {
        "model": "command-r",
        "preamble": "Help.",
        "message": "VPN drops.",
        "chat_history": [],
    }
    second = {
        **request,
        "message": "",
        "chat_history": [
            {"role": "USER", "message": "VPN drops."},
            {"role": "CHATBOT", "message": "Looking.", "tool_calls": [call]},
        ],
        "tool_results": [{"call": call, "outputs": [{"text": "6 drops"}]}],
    }
    last = {**reply, "text": "Done.", "tool_calls": None}

    (run,) = read_runs(
        json.dumps(
            [{"request": request, "response": reply}, {"request": second, "response": last}]
        ).encode()
    )

    first, end = run.rounds
    assert (run.provider, first.stop, first.tokens_in) == ("cohere.v1", Stop.WANTS_TOOL, 9)
    assert (first.calls[0].result, first.calls[0].joined) == ('[{"text":"6 drops"}]', "name")
    assert end.stop == Stop.FINISHED
    assert [list(keys) for _, keys in run.inputs()][1] == [
        "m1.1",
        "m1.2",
        "reply:1",
        "result:1:0",
    ]
