"""Export as spans of OpenTelemetry: our own importer reads them back as the same run."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests import strategies
from transcripts.export import losses, otlp
from transcripts.export.otlp import EXPORTER, otlp_request
from transcripts.importers import read_runs
from transcripts.importers.fields import json_text
from transcripts.importers.spans import json_form
from transcripts.importers.spans.span import Span
from transcripts.record import (
    Call,
    Ending,
    InputChange,
    Message,
    Opaque,
    Placed,
    Round,
    RunRecord,
    Stop,
    diff_inputs,
    reply_message,
    result_message,
)

DATA = Path(__file__).parents[2] / "data"
FILES = sorted(path for path in DATA.glob("*/*.json*") if path.suffix in (".json", ".jsonl"))
BEGAN = datetime(2026, 11, 30, 10, tzinfo=UTC)


# Of semantic-conventions-genai, but for the cost, which has no name there.
ATTRIBUTES = frozenset(
    {
        "gen_ai.operation.name",
        "gen_ai.agent.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.conversation.id",
        "gen_ai.response.model",
        "gen_ai.response.finish_reasons",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.tool.definitions",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.tool.name",
        "gen_ai.tool.call.id",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.usage.cost",
        "error.type",
        "user.id",
    }
)


def records(path: Path) -> list[RunRecord]:
    try:
        found = list(read_runs(path.read_bytes(), default_run_id="r"))
    except ValueError:
        return []
    return [run for run in found if isinstance(run, RunRecord) and run.rounds]


def back(run: RunRecord) -> RunRecord:
    (read,) = read_runs(json_text(otlp_request(run)).encode())
    assert isinstance(read, RunRecord)
    return read


def normal(run: RunRecord) -> dict[str, Any]:
    """What the format can hold of a run, each thing in one spelling."""
    kept = {name: getattr(run, name) for name in ("run_id", "ticket_id", "agent", "code_version")}
    return {
        **kept,
        "labels": {k: v for k, v in run.labels.items() if k in losses.TOLD_LABELS},
        "tools": run.tools,
        "failed": run.ending == Ending.ERROR,
        "rounds": [
            (_normal_round(round_, run), _normal_input(keys, run)) for round_, keys in run.inputs()
        ],
    }


def _normal_round(round_: Round, run: RunRecord) -> dict[str, Any]:
    timed = losses.has_times(run)
    found = {field.name: getattr(round_, field.name) for field in fields(round_)}
    for name in ("number", "key", "input", "orphans"):
        del found[name]
    if round_.stop_raw is None:
        del found["stop"]
    found["model"] = round_.model or run.model
    found["opaque"] = [_normal_part(part) for part in round_.opaque]
    found["calls"] = [
        (
            call.name,
            call.args,
            call.result,
            bool(call.is_error),
            call.id or f"call_{round_.number}_{i}",
        )
        for i, call in enumerate(round_.calls)
    ]
    found["cost"] = round_.cost if run.currency in ("", "USD") else None
    found["duration_ms"] = round_.duration_ms if timed and round_.started_at else None
    found["started_at"] = round_.started_at if timed else None
    return found


def _normal_part(part: Opaque) -> tuple[str, Any]:
    try:
        value = json.loads(part.body)
    except ValueError:
        value = part.body
    if isinstance(value, dict) and value.keys() == {"type", "content"}:
        value = value["content"]
    return part.kind, value


def _normal_input(keys: list[str] | None, run: RunRecord) -> Any:
    found = []
    for key in keys or ():
        message = run.message_by_key[key]
        if message.reply_of is not None:
            message = replace(
                reply_message(run.round_by_number[message.reply_of]), role="assistant"
            )
        elif message.result_of is not None:
            number, index = message.result_of
            call = run.round_by_number[number].calls[index]
            call = replace(call, id=call.id or f"call_{number}_{index}")
            message = replace(result_message(call), role=message.role)
        opaque = () if message.role == "assistant" else tuple(map(_normal_part, message.opaque))
        found.append((message.role, message.content, message.call_id, opaque))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_format_comes_back_as_the_same_run(path: Path) -> None:
    for run in records(path):
        assert normal(back(run)) == normal(run)


def a_run(*rounds: Round, **values: Any) -> RunRecord:
    return RunRecord("r", rounds=rounds, **values)


@pytest.mark.parametrize(
    ("result", "is_error"),
    [
        ("", None), ("", True), ("", False), ('"quoted"', None), ('{"output": 1}', True),
        ('{"role": "tool", "content": "x"}', None), ("{broken", False), ("null", None),
        ("[]", None), ("\u202e\r\n", True),
    ],
)  # fmt: skip
def test_a_result_comes_back_to_the_character(result: str, is_error: bool | None) -> None:
    call = Call("look", '{"a":1.10}', result, is_error, "c1", joined="id")
    round_ = Round(
        1, Stop.WANTS_TOOL, "tool_use", calls=(call, replace(call, id="c2", result=None))
    )

    (read,) = back(a_run(round_)).rounds

    assert [(c.result, c.args) for c in read.calls] == [(result, call.args), (None, call.args)]
    assert read.calls[0].is_error is is_error


def test_trimmed_inputs_come_back() -> None:
    texts = [Message(f"m{n}", "user", f"text {n}") for n in range(6)]
    inputs = [["m0", "m1"], ["m0", "m1", "m2"], ["m2", "m3"], ["m4", "m2", "m3", "m5"]]
    before: list[str] = []
    rounds = []
    for number, keys in enumerate(inputs, 1):
        rounds.append(
            Round(number, Stop.FINISHED, "stop", f"r{number}", input=diff_inputs(before, keys))
        )
        before = keys
    run = a_run(*rounds, messages=tuple(texts))

    assert normal(back(run)) == normal(run)


def test_times_costs_and_who_come_back() -> None:
    rounds = [
        Round(
            n, Stop.FINISHED, "stop", f"reply {n}", started_at=BEGAN + timedelta(seconds=n),
            duration_ms=250.5, cost=Decimal("0.0012"), tokens_in=9, tokens_out=3, tokens_cached=4,
            tokens_reasoning=1, reasoning="hm",
        )
        for n in (1, 2)
    ]  # fmt: skip
    run = a_run(
        *rounds, agent="helpdesk", ticket_id="IT-1", provider="openai", model="gpt-x",
        currency="USD", code_version="v9", started_at=BEGAN, ended_at=BEGAN + timedelta(minutes=1),
        labels={"service": "desk", "user": "u", "environment": "test", "team": "x"},
    )  # fmt: skip

    read = back(run)

    assert normal(read) == normal(run)
    assert (read.started_at, read.ended_at) == (run.started_at, run.ended_at)
    assert (read.provider, read.model) == ("openai", "gpt-x")


@given(strategies.runs())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_run_is_a_request_that_is_valid_and_read_again(run: RunRecord) -> None:
    request = json.loads(json_text(otlp_request(run)))

    spans = list(json_form.read_spans(request))
    assert all(isinstance(span, Span) for span in spans)
    assert len({span.span_id for span in spans if isinstance(span, Span)}) == len(spans)
    found = list(read_runs(json_text(request).encode()))
    runs = [read for read in found if isinstance(read, RunRecord)]
    assert len(runs) == (1 if run.rounds else 0)
    if runs:
        assert len(runs[0].rounds) <= len(run.rounds)


def test_times_that_some_rounds_lack_are_left_out_and_said() -> None:
    run = a_run(
        Round(1, Stop.FINISHED, "stop", "a", started_at=BEGAN), Round(2, Stop.FINISHED, "stop", "b")
    )

    assert [round_.reply for round_ in back(run).rounds] == ["a", "b"]
    assert any("does not say when it began" in words for words in EXPORTER.lost(run))


def test_inputs_beyond_the_limit_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty rounds that read ever more; of 20 times the text, half is written."""
    monkeypatch.setattr(losses, "MAX_INPUT", 10_000)
    monkeypatch.setattr(otlp, "MAX_INPUT", 10_000)
    message = Message("m", "user", "x" * 900)
    first = InputChange(added=(Placed("m", 0),))
    rounds = [
        Round(n, Stop.FINISHED, "stop", f"r{n}", input=first if n == 1 else InputChange())
        for n in range(1, 21)
    ]
    run = a_run(*rounds, messages=(message,))

    known = [round_.input is not None for round_ in back(run).rounds]

    assert known == sorted(known, reverse=True)
    assert 5 < sum(known) < 15
    assert any("later rounds go without" in words for words in EXPORTER.lost(run))


def test_says_nothing_is_lost_where_nothing_is() -> None:
    run = a_run(Round(1, Stop.FINISHED, "stop", "Done."), agent="helpdesk")

    assert EXPORTER.lost(run) == ()


def test_names_are_those_of_the_conventions() -> None:
    """Every attribute is a GenAI one of the conventions' own list, or one of ours by its prefix."""
    (run,) = records(DATA / "anthropic" / "two_tools.json")
    scopes = otlp_request(run)["resourceSpans"][0]["scopeSpans"]
    spans = scopes[0]["spans"]

    assert [span["name"] for span in spans][:2] == ["invoke_agent", "chat claude-opus-5"]
    assert {span["name"] for span in spans[2:]} >= {"execute_tool look_up"}
    for span in spans:
        assert all(
            pair["key"] in ATTRIBUTES or pair["key"].startswith("agentdesk.")
            for pair in span["attributes"]
        )
