"""OpenAI Agents SDK traces: a trace and its spans, as the exporter posts them.

Source: openai-agents 0.24.0 agents/tracing. With the default Responses model a trace holds no
messages: ask for `result.to_input_list()` too, which is read as OpenAI Responses items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from transcripts.importers.base import Document, Importer, ImportProblem, Read
from transcripts.importers.fields import as_count, as_dict, as_list, as_moment, as_name, as_text
from transcripts.importers.observations import Observation, run_of_observations
from transcripts.record import RunRecord

NO_MESSAGES = "This trace holds no messages: the SDK does not export those of the Responses API."
_KINDS = {"response": "llm", "generation": "llm", "function": "tool"}


def recognise(value: Any) -> bool:
    """Whether these are traces and spans of the SDK."""
    entries = _entries_of(value)
    return bool(entries) and all(
        isinstance(e, dict) and e.get("object") in ("trace", "trace.span") for e in entries
    )


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    traces: dict[str, dict[str, Any]] = {}
    spans: dict[str, list[dict[str, Any]]] = {}
    for document in documents:
        if not recognise(document.value):
            yield ImportProblem("this is no trace of the OpenAI Agents SDK", document.line)
            continue
        for entry in _entries_of(document.value):
            if entry["object"] == "trace":
                traces[as_name(entry.get("id"))] = entry
            else:
                spans.setdefault(as_name(entry.get("trace_id")), []).append(entry)
    for trace_id, found in spans.items():
        yield _run(trace_id or default_run_id, traces.get(trace_id, {}), found)


def _run(run_id: str, trace: dict[str, Any], spans: list[dict[str, Any]]) -> Read:
    agents = [s for s in spans if as_dict(s.get("span_data")).get("type") == "agent"]
    name = as_name(as_dict(agents[0].get("span_data")).get("name")) if agents else ""
    labels = {key: as_text(trace[key]) for key in ("workflow_name", "group_id") if trace.get(key)}
    run = run_of_observations([_observation(s) for s in spans], run_id, agent=name, labels=labels)
    if isinstance(run, RunRecord) and not any(round_.reply for round_ in run.rounds):
        return replace(run, notes=(*run.notes, NO_MESSAGES))
    return run


def _observation(span: dict[str, Any]) -> Observation:
    data = as_dict(span.get("span_data"))
    turn = as_dict(data.get("data")) if data.get("type") == "custom" else {}
    usage = as_dict(data.get("usage") or turn.get("usage"))
    error = span.get("error")
    kind = _KINDS.get(as_text(data.get("type")), "")
    if turn.get("sdk_span_type") == "turn":
        # One turn is one model request; a response or generation below it says more.
        kind = "llm"
    return Observation(
        id=as_name(span.get("id")),
        parent=as_name(span.get("parent_id")),
        kind=kind,
        name=as_name(data.get("name")),
        started_at=as_moment(span.get("started_at")),
        ended_at=as_moment(span.get("ended_at")),
        input=data.get("input"),
        output=data.get("output"),
        failed=error is not None,
        error=as_text(as_dict(error).get("message")),
        model=as_name(data.get("model")),
        tokens_in=as_count(usage.get("input_tokens")),
        tokens_out=as_count(usage.get("output_tokens")),
        tokens_cached=as_count(
            usage.get("cached_input_tokens")
            or as_dict(usage.get("input_tokens_details")).get("cached_tokens")
        ),
    )


def _entries_of(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return as_list(value["data"]) if isinstance(value.get("data"), list) else [value]
    return as_list(value)


IMPORTER = Importer(
    name="openai_agents",
    title="OpenAI Agents SDK traces",
    recognise=recognise,
    read=read,
    priority=66,
)
