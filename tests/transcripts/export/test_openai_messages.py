"""Export as OpenAI messages: openai."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests import strategies
from transcripts.export.openai_messages import EXPORTER, chat_request
from transcripts.importers import read_runs

DATA = Path(__file__).parents[2] / "data"
CHAT = json.loads((DATA / "openai_chat/two_tools.json").read_bytes())


def read(name):
    (run,) = read_runs((DATA / name).read_bytes(), default_run_id="r")
    return run


@pytest.mark.parametrize(
    "name",
    ["openai_chat/two_tools.json", "recorded/two_tools.json", "anthropic/two_tools.json"],
)
def test_gives_the_conversation_as_it_was(name):
    assert normal(chat_request(read(name))["messages"]) == normal(CHAT["messages"])


def normal(messages):
    """Arguments by what they say; ids as they are."""
    copied = json.loads(json.dumps(messages))
    for call in (call for message in copied for call in message.get("tool_calls", ())):
        call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return copied


def test_names_calls_without_ids():
    calls = chat_request(read("ollama/two_tools.json"))["messages"]

    assert [m["tool_call_id"] for m in calls if m["role"] == "tool"] == ["call_1_0", "call_1_1"]


def test_says_what_it_cannot_hold():
    assert EXPORTER.lost(read("openai_chat/two_tools.json")) == (
        "stop reasons and their labels",
        "ticket, agent, versions, limits, labels, ending and notes",
    )
    assert "error flags of tool results" in EXPORTER.lost(read("anthropic/two_tools.json"))
    assert "tokens, costs, times and durations" in EXPORTER.lost(read("native/two_tools.json"))


@given(strategies.runs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_run_can_be_written_and_read_again(run):
    written = chat_request(run)

    if not written["messages"]:
        return
    known = {"system", "developer", "user", "assistant", "tool", "function"}
    if all(message["role"] in known for message in written["messages"]):
        (read_again,) = read_runs(json.dumps(written).encode(), default_run_id="r")
        names = [call.name for round_ in read_again.rounds for call in round_.calls]
        assert names == [call.name for round_ in run.rounds for call in round_.calls]
