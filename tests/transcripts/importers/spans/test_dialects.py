"""One conversation in every dialect of spans gives one run; wire forms and double tellers too."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.transcripts.importers.spans.wire import protobuf_of
from transcripts.importers import read_runs
from transcripts.record import Stop

DATA = Path(__file__).parents[3] / "data/otlp"
DIALECTS = ("genai", "openinference", "openllmetry", "langfuse")
ROOT = Path(__file__).parents[4]
SAMPLES = Path(os.environ.get("AGENTDESK_SHARED", ROOT.parent / "shared")) / "reference/samples"


def value_of(dialect):
    return json.loads((DATA / f"dialect_{dialect}.json").read_text(encoding="utf-8"))


def run_of(value):
    (run,) = read_runs(json.dumps(value).encode())
    return run


def spans_in(value):
    return value["resourceSpans"][0]["scopeSpans"][0]["spans"]


def told(run):
    """What a run says, without how it was written down."""
    return replace(
        run,
        provider="",
        notes=(),
        rounds=tuple(
            replace(
                round_,
                stop_raw=None,
                calls=tuple(
                    replace(call, args=json.dumps(json.loads(call.args)), joined="")
                    for call in round_.calls
                ),
            )
            for round_ in run.rounds
        ),
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_tells_the_same_run(dialect):
    run = run_of(value_of(dialect))

    assert told(run) == told(run_of(value_of("genai")))
    assert (run.agent, run.labels, run.model) == ("helpdesk", {"service": "helpdesk"}, "gpt-4o")
    first = run.rounds[0]
    assert (first.tokens_in, first.tokens_out, first.tokens_cached) == (20, 5, 4)
    assert [(call.result, call.is_error, call.duration_ms) for call in first.calls] == [
        ("accountant", False, 1000.0),
        ("no permission", True, pytest.approx(2000.0)),
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_protobuf_and_json_say_the_same(dialect):
    value = value_of(dialect)

    assert list(read_runs(protobuf_of(value))) == list(read_runs(json.dumps(value).encode()))


def test_spans_of_several_dialects_make_one_run():
    mixed = value_of("genai")
    spans_in(mixed)[1:2] = [spans_in(value_of("openinference"))[1]]
    spans_in(mixed)[3:4] = [spans_in(value_of("langfuse"))[3]]

    assert told(run_of(mixed)) == told(run_of(value_of("genai")))


def test_a_request_that_two_instrumentations_tell_is_counted_once():
    value = value_of("genai")
    rich = spans_in(value)[0]
    keys = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.response.id")
    kept = [pair for pair in rich["attributes"] if pair["key"].startswith((*keys, "gen_ai.usage"))]
    label = {"key": "anthropic.message.stop_reason", "value": {"stringValue": "tool_use"}}
    bare = {**rich, "spanId": "00f067aa0ba902c1", "attributes": [*kept, label]}
    spans_in(value).append(bare)

    run = run_of(value)

    assert len(run.rounds) == 2
    assert run.rounds[0].stop_raw == "tool_use"
    assert run.rounds[0].tokens_in == 20


def test_a_bare_trace_that_repeats_a_request_makes_no_run():
    value = value_of("genai")
    rich = spans_in(value)[0]
    kept = [p for p in rich["attributes"] if p["key"] in ("gen_ai.system", "gen_ai.response.id")]
    kept.append({"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}})
    bare = {**rich, "traceId": "f" * 32, "spanId": "c" * 16, "parentSpanId": "", "attributes": kept}
    spans_in(value).append(bare)

    assert run_of(value) == run_of(value_of("genai"))


def test_tokens_told_apart_from_the_cache_are_added():
    value = value_of("genai")
    pairs = spans_in(value)[0]["attributes"]
    (said,) = (pair for pair in pairs if pair["key"].endswith("cache_read.input_tokens"))
    said["value"]["intValue"] = "100"

    assert run_of(value).rounds[0].tokens_in == 120


def test_an_agent_without_model_spans_shows_its_tools():
    value = value_of("genai")
    agent = spans_in(value)[4]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}]
    told = {"key": "gen_ai.output.messages", "value": {"stringValue": json.dumps(answer)}}
    agent["attributes"].append(told)
    del spans_in(value)[3], spans_in(value)[0]

    run = run_of(value)

    assert [round_.stop for round_ in run.rounds] == [Stop.WANTS_TOOL, Stop.FINISHED]
    assert [call.result for call in run.rounds[0].calls] == ["accountant", "no permission"]
    assert run.rounds[1].reply == "Done."
    assert any(note.startswith("No span tells of a model request") for note in run.notes)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="AGENTDESK_SHARED has no samples")
def test_recorded_requests_of_each_instrumentation_say_the_same():
    runs = {
        name: next(iter(read_runs((SAMPLES / f"otlp_{name}.json").read_bytes())))
        for name in ("otel", "openinference", "traceloop", "traceloop_legacy")
    }

    def said(run):
        (round_,) = run.rounds
        (call,) = round_.calls
        measures = (round_.tokens_in, round_.tokens_out, round_.tokens_cached)
        return run.messages, call.name, json.loads(call.args), call.id, round_.stop, measures

    assert all(said(run) == said(runs["otel"]) for run in runs.values())


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="AGENTDESK_SHARED has no samples")
@pytest.mark.parametrize("name", ["otel", "openinference", "traceloop", "traceloop_legacy"])
def test_recorded_protobuf_and_json_say_the_same(name):
    packed = list(read_runs((SAMPLES / f"otlp_{name}.pb").read_bytes()))

    assert packed == list(read_runs((SAMPLES / f"otlp_{name}.json").read_bytes()))
    assert all(run.rounds for run in packed)
