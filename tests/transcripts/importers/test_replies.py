"""One reply of each service, alone in its file: label, usage, and what only that service does."""

import json
from pathlib import Path

import pytest

from transcripts.importers import read_runs
from transcripts.record import Stop

DATA = Path(__file__).parents[2] / "data"


def read(name, change=None):
    value = json.loads((DATA / name).read_bytes())
    if change:
        change(value)
    (run,) = read_runs(json.dumps(value).encode(), default_run_id="r")
    (round_,) = run.rounds
    return round_


@pytest.mark.parametrize(
    ("name", "label", "tokens", "model"),
    [
        ("openai_chat/completion.json", "tool_calls", (20, 5, None), "gpt-4o"),
        ("mistral/completion.json", "tool_calls", (20, 5, None), "mistral-large-latest"),
        ("anthropic/message.json", "tool_use", (20, 5, 6), "claude-opus-5"),
        ("gemini/response.json", "STOP", (20, 8, 4), "gemini-3-pro"),
        ("bedrock/response.json", "tool_use", (20, 5, 6), ""),
        ("cohere/response.json", "TOOL_CALL", (20, 5, None), ""),
        ("ollama/response.json", "stop", (20, 5, None), "qwen3"),
    ],
)
def test_reads_a_reply(name, label, tokens, model):
    round_ = read(name)

    assert (round_.stop, round_.stop_raw) == (Stop.WANTS_TOOL, label)
    assert (round_.tokens_in, round_.tokens_out, round_.tokens_cached) == tokens
    assert (round_.model, round_.calls[0].name, round_.input) == (model, "look_up", None)


def test_responses_keeps_the_reason_of_an_incomplete_response():
    round_ = read("openai_responses/response.json")

    assert (round_.stop, round_.stop_raw) == (Stop.CUT_OFF, "max_output_tokens")
    assert (round_.tokens_cached, round_.tokens_reasoning) == (4, 1)


def test_responses_reads_calls_that_the_service_ran():
    mcp, function = read("openai_responses/response.json").calls

    assert (mcp.name, mcp.result, mcp.is_error) == ("look_up", "no permission", True)
    assert (function.args, function.result) == ('{"a":', None)


@pytest.mark.parametrize(
    ("fields", "stop", "raw"),
    [
        ({"status": "completed"}, Stop.WANTS_TOOL, "completed"),
        ({"status": "completed", "output": []}, Stop.FINISHED, "completed"),
        ({"status": "failed", "error": {"code": "server_error"}}, Stop.ERROR, "server_error"),
        ({"status": "failed", "error": {"code": "bio_policy"}}, Stop.BLOCKED, "bio_policy"),
        ({"status": "cancelled"}, Stop.CUT_OFF, "cancelled"),
        ({"status": "queued", "output": []}, Stop.UNKNOWN, "queued"),
    ],
)
def test_responses_has_no_label_for_a_wanted_tool(fields, stop, raw):
    round_ = read("openai_responses/response.json", lambda value: value.update(fields))

    assert (round_.stop, round_.stop_raw) == (stop, raw)


def test_responses_calls_of_the_service_alone_want_no_tool():
    round_ = read(
        "openai_responses/response.json",
        lambda value: value.update(status="completed", output=value["output"][:1]),
    )

    assert round_.stop == Stop.FINISHED


def test_responses_a_refusal_in_the_last_message_is_blocked():
    refusal = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "refusal", "refusal": "No."}],
    }
    round_ = read(
        "openai_responses/response.json",
        lambda value: value.update(status="completed", output=[refusal]),
    )

    assert (round_.stop, round_.reply) == (Stop.BLOCKED, "No.")


def test_gemini_a_blocked_prompt_has_no_candidates():
    round_ = read("gemini/blocked.json")

    assert (round_.stop, round_.stop_raw) == (Stop.BLOCKED, "PROHIBITED_CONTENT")


@pytest.mark.parametrize(
    ("label", "stop"),
    [
        ("MALFORMED_FUNCTION_CALL", Stop.ERROR),
        ("MAX_TOKENS", Stop.CUT_OFF),
        ("SAFETY", Stop.BLOCKED),
        (None, Stop.WANTS_TOOL),
    ],
)
def test_gemini_labels_win_over_calls(label, stop):
    round_ = read(
        "gemini/response.json", lambda value: value["candidates"][0].update(finishReason=label)
    )

    assert round_.stop == stop


def test_anthropic_joins_the_results_of_the_services_own_tools():
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": "vpn"}}
    error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": error}

    def change(value):
        value.update(content=[use, result], stop_reason="pause_turn")

    round_ = read("anthropic/message.json", change)

    (call,) = round_.calls
    assert (call.name, call.is_error, call.joined) == ("web_search", True, "id")
    assert round_.stop == Stop.CUT_OFF


def test_anthropic_keeps_why_it_refused():
    details = {"type": "refusal", "category": "cyber", "explanation": "…"}
    round_ = read(
        "anthropic/message.json",
        lambda value: value.update(content=[], stop_reason="refusal", stop_details=details),
    )

    assert round_.stop == Stop.BLOCKED
    assert [part.kind for part in round_.opaque] == ["stop_details"]


def test_bedrock_adds_the_cache_only_where_the_total_says_so():
    round_ = read("bedrock/response.json", lambda value: value["usage"].update(totalTokens=15))

    assert round_.tokens_in == 10


def test_ollama_counts_nanoseconds():
    assert read("ollama/response.json").duration_ms == 1.5


@pytest.mark.parametrize("count", [-1, 1.5, 10**30, "10", True, None])
def test_what_is_no_count_is_left_out(count):
    round_ = read(
        "openai_chat/completion.json",
        lambda value: value["usage"].update(prompt_tokens=count),
    )

    assert (round_.tokens_in, round_.tokens_out) == (None, 5)
