"""Requests that repeat the conversation are read as if each were read whole, in time that grows
with what is new in them.
"""

import json
from pathlib import Path

import pytest

from transcripts.importers import read_runs
from transcripts.importers.providers import openai_chat
from transcripts.importers.requests import RequestReader

DATA = Path(__file__).parents[2] / "data"
START = [{"role": "system", "content": "Help."}, {"role": "user", "content": "My VPN drops."}]
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]


def openai(number, history):
    call = {"name": "look_up", "arguments": json.dumps({"employee": number})}
    reply = {
        "role": "assistant",
        "content": f"Looking, {number % 2}.",
        "tool_calls": [{"id": "c1", "type": "function", "function": call}],
    }
    result = {"role": "tool", "tool_call_id": "c1", "content": f"{number % 3}"}
    request = {"model": "m", "messages": [*START, *history], "tools": TOOLS}
    return request, {"choices": [{"message": reply}]}, [reply, result]


def anthropic(number, history):
    use = {"type": "tool_use", "id": f"c{number}", "name": "look_up", "input": {"n": number}}
    reply = {"role": "assistant", "content": [use]}
    given = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"{number % 3}"}
    request = {"model": "claude", "system": "Help.", "messages": [START[1], *history]}
    response = {"type": "message", "stop_reason": "tool_use", **reply}
    return request, response, [reply, {"role": "user", "content": [given]}]


def gemini(number, history):
    call = {"functionCall": {"name": "look_up", "args": {"n": number}}}
    reply = {"role": "model", "parts": [call]}
    answer = {"functionResponse": {"name": "look_up", "response": {"n": number % 3}}}
    contents = [{"role": "user", "parts": [{"text": "My VPN drops."}]}, *history]
    request = {"systemInstruction": {"parts": [{"text": "Help."}]}, "contents": contents}
    return (
        request,
        {"candidates": [{"content": reply}]},
        [reply, {"role": "user", "parts": [answer]}],
    )


def trimmed(history):
    """What an agent keeps that forgets from the middle."""
    return history if len(history) <= 8 else [*history[:2], *history[-4:]]


def recording(exchange, rounds, keep=lambda history: history):
    history, entries = [], []
    for number in range(1, rounds + 1):
        request, response, new = exchange(number, keep(history))
        entries.append({"round": number, "request": request, "response": response})
        history = [*history, *new]
    return {"rounds": entries}


def read(value):
    (run,) = read_runs(json.dumps(value).encode(), default_run_id="r")
    return run


def both(value, monkeypatch):
    run = read(value)
    with monkeypatch.context() as patch:
        patch.setattr(RequestReader, "_only_new", lambda *_: None)
        return run, read(value)


@pytest.mark.parametrize("keep", [lambda history: history, trimmed], ids=["all", "trimmed"])
@pytest.mark.parametrize("exchange", [openai, anthropic, gemini])
def test_reads_what_reading_each_request_whole_reads(exchange, keep, monkeypatch):
    run, whole = both(recording(exchange, 12, keep), monkeypatch)

    assert run == whole
    assert all(call.result is not None for round_ in run.rounds[:-1] for call in round_.calls)


@pytest.mark.parametrize("path", sorted(DATA.glob("recorded/*")), ids=lambda path: path.name)
def test_reads_each_test_file_as_whole(path, monkeypatch):
    found = list(read_runs(path.read_bytes(), default_run_id="r"))
    monkeypatch.setattr(RequestReader, "_only_new", lambda *_: None)

    assert list(read_runs(path.read_bytes(), default_run_id="r")) == found


def test_another_system_message_beside_the_messages_is_seen(monkeypatch):
    value = recording(anthropic, 4)
    value["rounds"][2]["request"]["system"] = "Be brief."

    run, whole = both(value, monkeypatch)

    assert run == whole
    assert "Be brief." in [message.content for message in run.messages]


def test_tools_that_come_later_are_seen():
    value = recording(openai, 3)
    other = {"type": "function", "function": {"name": "reset", "parameters": {}}}
    value["rounds"][2]["request"]["tools"] = [*TOOLS, other]

    assert [tool.name for tool in read(value).tools] == ["look_up", "reset"]


def test_a_request_of_another_provider_in_between_is_read(monkeypatch):
    value = recording(openai, 5)
    value["rounds"][2]["request"] = recording(anthropic, 5)["rounds"][2]["request"]

    run, whole = both(value, monkeypatch)

    assert run == whole


def test_messages_are_read_in_proportion_to_what_is_new(monkeypatch):
    counts = []
    for rounds in (20, 40):
        read_by = []
        original = openai_chat.read_message
        monkeypatch.setattr(
            openai_chat, "read_message", lambda m, f=original, r=read_by: r.append(1) or f(m)
        )
        read(recording(openai, rounds))
        monkeypatch.setattr(openai_chat, "read_message", original)
        counts.append(len(read_by))

    assert counts[1] <= 2.2 * counts[0]
