"""Plain readings of other people's files."""

import json
from pathlib import Path

import pytest

from bench.detect.corpus import chat_run
from bench.detect.corpus_shapes import Said, shape_of
from transcripts.record import Ending, Stop

CALL = {"id": "c1", "function": {"name": "find", "arguments": '{"id": 4}'}}
CHAT = [
    {"role": "user", "content": "Where is it?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "In row 4."},
    {"role": "assistant", "content": "It is in row 4."},
]
ATIF = [
    {"source": "user", "message": "Where is it?"},
    {
        "source": "agent",
        "message": "",
        "tool_calls": [{"tool_call_id": "c1", "function_name": "find", "arguments": {"id": 4}}],
        "observation": {"results": [{"source_call_id": "c1", "content": "In row 4."}]},
    },
    {"source": "agent", "message": "It is in row 4."},
]
EVENTS = [
    {"action": "message", "source": "user", "args": {"content": "Where is it?"}},
    {"action": "find", "args": {"id": 4, "thought": ""}},
    {"observation": "find", "content": "In row 4.", "extras": {"exit_code": 0}},
    {"action": "finish", "args": {"content": "It is in row 4."}},
]
SESSION = [
    {"type": "user", "message": {"content": "Where is it?"}},
    {
        "type": "assistant",
        "message": {
            "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {"id": 4}}]
        },
    },
    {
        "type": "user",
        "message": {
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "In row 4."}]
        },
    },
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "It is in row 4."}]}},
]


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param([[{"traj": CHAT}]], id="chat"),
        pytest.param([{"samples": [{"messages": CHAT}]}], id="samples"),
        pytest.param([{"steps": ATIF}], id="steps"),
        pytest.param([{"history": EVENTS}], id="events"),
        pytest.param(SESSION, id="session"),
    ],
)
def test_all_shapes_tell_the_same_run(documents: list):
    ((name, said, _),) = shape_of(documents, Path("log.json"))

    run = chat_run(name, said)

    first, last = run.rounds
    assert first.stop is Stop.WANTS_TOOL
    assert (first.calls[0].name, json.loads(first.calls[0].args)) == ("find", {"id": 4})
    assert first.calls[0].result == "In row 4."
    assert (last.stop, last.reply, last.calls) == (Stop.FINISHED, "It is in row 4.", ())


def test_a_submitted_shell_run_is_finished():
    steps = [{"action": "ls /tmp", "observation": "a", "thought": "Look."}]

    ((_, said, ending),) = shape_of(
        [{"trajectory": steps, "info": {"exit_status": "submitted"}}], Path("log.traj")
    )

    assert ending is Ending.FINISHED
    assert [one.role for one in said] == ["assistant", "tool"]


def test_an_answer_to_no_call_stays_a_message():
    run = chat_run("r", [Said("assistant", "Hello."), Said("tool", "?", answers="gone")])

    assert run.rounds[0].calls == ()
    assert [message.content for message in run.messages] == ["", "?"]


def test_other_shapes_give_nothing():
    assert list(shape_of([{"a": 1}, ["b"], 7], Path("x.json"))) == []
