"""One conversation in every message format: the same two rounds, and what each format can carry.

In `tests/data/<format>/two_tools*`: a system message, a ticket, a reply that asks for two tools
(one works, one fails), and a last reply.
"""

import json
from pathlib import Path

import pytest

from transcripts.importers import importer_for, read_runs
from transcripts.importers.building import NO_ERROR_FLAG, NO_STOP_LABEL
from transcripts.record import Stop, completeness

DATA = Path(__file__).parents[2] / "data"
FILES = sorted(DATA.glob("*/two_tools*"))
IDS = [f"{path.parent.name}/{path.name}" for path in FILES]

NO_FLAG = {
    "atif",
    "codex",
    "cohere",
    "mistral",
    "ollama",
    "openai_chat",
    "openai_responses",
    "recorded",
    "swe_agent",
    "tau_bench/two_tools.json",
}
NO_IDS = {"ollama/two_tools.json", "gemini/two_tools.json"}
NO_SYSTEM = {
    "autogen/two_tools.json",
    "claude_code/two_tools.jsonl",
    "claude_stream/two_tools.jsonl",
    "gemini/two_tools_snake_case.json",
}
NO_THOUGHT = {"openai_chat", "phoenix", "tau_bench"}
NO_TEXT_BESIDE_CALLS = {"autogen"}
LABELS = {
    "claude_code": ["tool_use", "end_turn"],
    "claude_stream": [None, "end_turn"],
    "inspect_ai": ["tool_calls", "stop"],
    "langfuse": ["tool_calls", None],
    "langsmith": ["tool_calls", "STOPSTOP"],
    "mini_swe_agent": ["tool_calls", None],
    "openhands": ["tool_calls", "stop"],
    "otlp": ["tool_calls", "stop"],
    "native": ["tool_use", "end_turn"],
    "phoenix": ["tool_calls", "stop"],
    "recorded": ["tool_calls", "stop"],
    "langchain": ["tool_calls", "STOPSTOP"],
    "pydantic_ai": ["tool_calls", "stop"],
    "google_interactions": [None, "completed"],
}
TOKENS = {
    "langchain": (20, 5, 4),
    "pydantic_ai": (20, 5, 4),
    "atif": (20, 5, 4),
    "autogen/two_tools.json": (20, 5, None),
    "claude_code": (20, 5, 6),
    "claude_stream": (20, 5, 6),
    "codex": (20, 5, 4),
    "inspect_ai": (20, 5, 6),
    "langfuse": (20, 5, 4),
    "langsmith": (20, 5, 4),
    "mini_swe_agent": (20, 5, 4),
    "openhands": (20, 5, 4),
    "otlp": (20, 5, 4),
    "native": (20, 5, 4),
    "phoenix": (20, 5, 4),
    "recorded": (20, 5, 4),
    "tau_bench/two_tools_tau2.json": (20, 5, None),
}

every_file = pytest.mark.parametrize("path", FILES, ids=IDS)


def read(path):
    (run,) = read_runs(path.read_bytes(), default_run_id="r")
    return run


def name_of(path):
    return f"{path.parent.name}/{path.name}"


@every_file
def test_is_recognised_by_content(path):
    assert read(path).format == path.parent.name


@every_file
def test_has_the_two_rounds(path):
    run = read(path)

    first, last = run.rounds
    reply = "" if run.format in NO_TEXT_BESIDE_CALLS else "Looking."
    thought = "" if run.format in NO_THOUGHT else "Look first."
    assert (first.stop, first.reply, first.reasoning) == (Stop.WANTS_TOOL, reply, thought)
    assert (last.stop, last.reply, last.calls) == (Stop.FINISHED, "I cannot reset it.", ())
    assert completeness(run).complete


@every_file
def test_joins_each_result_to_its_call(path):
    run = read(path)

    one, two = run.rounds[0].calls
    assert (one.name, json.loads(one.args), one.result) == (
        "look_up",
        {"employee": 4417},
        "accountant",
    )
    assert (two.name, json.loads(two.args), two.result) == (
        "reset",
        {"employee": 4417, "force": True},
        "no permission",
    )
    if name_of(path) in NO_IDS:
        assert (one.joined, two.joined) == ("name", "name")
        assert "Results joined to their calls by the tool's name, for want of ids: 2." in run.notes
    else:
        assert {one.joined, two.joined} <= {"id", ""}
        assert (one.id, two.id) == ("c1", "c2")


@every_file
def test_carries_the_error_flag_or_says_that_there_is_none(path):
    run = read(path)

    flags = [call.is_error for call in run.rounds[0].calls]
    if {run.format, name_of(path)} & NO_FLAG:
        assert flags == [None, None]
        assert NO_ERROR_FLAG in run.notes
    else:
        assert flags == [False, True]
        assert NO_ERROR_FLAG not in run.notes


@every_file
def test_carries_the_stop_labels_or_says_that_there_are_none(path):
    run = read(path)

    labels = [round_.stop_raw for round_ in run.rounds]
    assert labels == LABELS.get(run.format, [None, None])
    assert (NO_STOP_LABEL in run.notes) == (labels == [None, None])


@every_file
def test_knows_what_each_round_read(path):
    run = read(path)

    texts = [
        [run.message_by_key[key].content or key for key in keys]
        for _, keys in map(copied, run.inputs())
    ]
    start = (
        ["My VPN drops."]
        if name_of(path) in NO_SYSTEM
        else [
            "Help people with their VPN.",
            "My VPN drops.",
        ]
    )
    assert texts[0] == start
    assert texts[1] == [*start, "reply:1", "result:1:0", "result:1:1"]


def copied(pair):
    round_, keys = pair
    return round_, list(keys)


@every_file
def test_carries_tokens_where_the_format_does(path):
    run = read(path)

    first = run.rounds[0]
    expected = TOKENS.get(run.format, TOKENS.get(name_of(path), (None, None, None)))
    assert (first.tokens_in, first.tokens_out, first.tokens_cached) == expected


@every_file
def test_is_still_read_with_an_unknown_part(path):
    """A field that nobody knows, added at every level, changes no round."""

    def with_extra(value):
        if isinstance(value, list):
            return [with_extra(entry) for entry in value]
        if isinstance(value, dict) and value.keys() & {"role", "type", "kind", "part_kind"}:
            return {**{k: with_extra(v) for k, v in value.items()}, "x_new": {"a": 1}}
        if isinstance(value, dict):
            return {k: with_extra(v) for k, v in value.items()}
        return value

    lines = path.read_text("utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    changed = "\n".join(json.dumps(with_extra(json.loads(line))) for line in lines)
    (run,) = read_runs(changed.encode(), default_run_id="r")

    assert [r.reply for r in run.rounds] == [r.reply for r in read(path).rounds]
    assert [len(r.calls) for r in run.rounds] == [2, 0]


def test_every_message_format_is_tried():
    assert {path.parent.name for path in FILES} >= {
        "anthropic",
        "autogen",
        "bedrock",
        "cohere",
        "gemini",
        "google_interactions",
        "langchain",
        "mistral",
        "ollama",
        "openai_chat",
        "openai_responses",
        "pydantic_ai",
        "vercel",
    }


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"values": [1, 2]}, id="values of something else"),
        pytest.param([{"type": "ai"}], id="a type without content"),
        pytest.param([{"kind": "request"}], id="a kind without parts"),
        pytest.param({"contents": [{"parts": "text"}]}, id="parts that are none"),
        pytest.param({"steps": [1], "status": "ok"}, id="steps that are none"),
        pytest.param({"output": [], "id": "x"}, id="some output"),
        pytest.param({"done": True}, id="done without message"),
        pytest.param({"llm_context": {"messages": []}}, id="an agent without messages"),
        pytest.param([{"id": 1, "name": "x"}], id="rows"),
    ],
)
def test_leaves_what_only_looks_alike(value):
    assert importer_for(value) is None
