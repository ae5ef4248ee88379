"""Langfuse: exported traces, the observations of its API, and ingestion batches.

Source: langfuse 5.0.4 (and 4.18.0 for ingestion), and traces of twenty frameworks. Inputs and
outputs hold whatever the framework recorded; many frameworks log tools as spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Document, Importer, ImportProblem, Read
from transcripts.importers.fields import (
    as_cost,
    as_count,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_text,
    value_of,
)
from transcripts.importers.observations import Observation, run_of_observations

_KINDS = {"GENERATION": "llm", "TOOL": "tool"}
_CACHE_KEYS = (
    "input_cache_read",
    "cache_read_input_tokens",
    "prompt_details.cache_read",
    "input_cached_tokens",
)
_REASONING_KEYS = ("output_reasoning", "completion_details.reasoning", "output_reasoning_tokens")
_TOOL_NAME_KEYS = ("gen_ai.tool.name", "ai.toolCall.name", "tool.name")
_PARAMETER_KEYS = ("tool.parameters",)
_CALL_ID_KEYS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id")


def recognise(value: Any) -> bool:
    """Whether this is a trace, a list of traces, a page of observations, or a batch of events."""
    if isinstance(value, list):
        return bool(value) and all(recognise(entry) for entry in value)
    return bool(_observations_of(value))


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """A run a trace; pages and lines of observations are put together by their trace."""
    observations: dict[str, dict[str, dict[str, Any]]] = {}
    traces: dict[str, dict[str, Any]] = {}
    for document in documents:
        values = document.value if isinstance(document.value, list) else [document.value]
        for value in values:
            found = _observations_of(value)
            if not found and not _trace_of(value):
                yield ImportProblem("this is no Langfuse trace or observation", document.line)
            for trace in _trace_of(value):
                traces.setdefault(as_name(trace.get("id")), {}).update(trace)
            for entry in found:
                trace_id = as_name(entry.get("traceId")) or as_name(as_dict(value).get("id"))
                known = observations.setdefault(trace_id, {})
                known.setdefault(as_name(entry.get("id")), {}).update(entry)
    for trace_id, entries in observations.items():
        yield _run(traces.get(trace_id, {}), list(entries.values()), trace_id or default_run_id)


def _run(trace: dict[str, Any], entries: list[dict[str, Any]], run_id: str) -> Read:
    labels = {
        key: as_text(trace[key])
        for key in ("userId", "sessionId", "environment", "release", "version")
        if trace.get(key) and trace[key] != "default"
    }
    costs = any(as_dict(entry.get("costDetails")) for entry in entries)
    return run_of_observations(
        [_observation(entry) for entry in entries],
        run_id,
        agent=as_name(trace.get("name")),
        labels=labels,
        currency="USD" if costs else "",
    )


def _observation(entry: dict[str, Any]) -> Observation:
    metadata = as_dict(value_of(entry.get("metadata")))
    attributes = {**metadata, **as_dict(value_of(metadata.get("attributes")))}
    usage = as_dict(value_of(entry.get("usageDetails"))) or as_dict(entry.get("usage"))
    costs = as_dict(value_of(entry.get("costDetails")))
    kind = _KINDS.get(as_text(entry.get("type")).upper(), "")
    named = next((as_name(attributes[k]) for k in _TOOL_NAME_KEYS if attributes.get(k)), "")
    given = _first_of(entry.get("input"), *(attributes.get(k) for k in _PARAMETER_KEYS))
    told = (named and (given, entry.get("output")) != (None, None)) or entry.get("level") == "ERROR"
    if not kind and ((told and named) or (entry.get("type") == "span" and _is_tool_span(entry))):
        kind = "tool"
    level = entry.get("level")
    return Observation(
        id=as_name(entry.get("id")),
        parent=as_name(entry.get("parentObservationId")),
        kind=kind,
        name=named or as_name(entry.get("name")),
        started_at=as_moment(entry.get("startTime")),
        ended_at=as_moment(entry.get("endTime")),
        input=given,
        output=entry.get("output"),
        failed=level == "ERROR" if level is not None else None,
        error=as_text(entry.get("statusMessage")),
        call_id=next((as_name(attributes[k]) for k in _CALL_ID_KEYS if attributes.get(k)), ""),
        stop_raw=_label(attributes),
        model=as_name(entry.get("model") or entry.get("providedModelName")),
        tokens_in=as_count(usage.get("input", usage.get("promptTokens"))),
        tokens_out=as_count(usage.get("output", usage.get("completionTokens"))),
        tokens_cached=_first_count(usage, _CACHE_KEYS),
        tokens_reasoning=_first_count(usage, _REASONING_KEYS),
        cost=as_cost(costs.get("total")),
        event=bool(attributes.get("name"))
        and as_text(attributes.get("target")).endswith(f".{attributes['name']}"),
    )


def _is_tool_span(entry: dict[str, Any]) -> bool:
    """A span below a generation is a tool that the generation asked for."""
    return bool(entry.get("belowGeneration"))


def _label(attributes: dict[str, Any]) -> str | None:
    for key in ("gen_ai.response.finish_reasons", "ai.response.finishReason", "llm.finish_reason"):
        value = value_of(attributes.get(key))
        label = value[0] if isinstance(value, list) and value else value
        if isinstance(label, str) and label:
            return label
    return None


def _first_of(*values: Any) -> Any:
    return next((value for value in map(value_of, values) if value not in (None, "null")), None)


def _first_count(usage: dict[str, Any], keys: tuple[str, ...]) -> int | None:
    return next((as_count(usage[key]) for key in keys if key in usage), None)


def _observations_of(value: Any) -> list[dict[str, Any]]:
    """The observations that a value holds, or none where it is something else."""
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("batch"), list):
        return _of_batch(value["batch"])
    found = value.get("observations", value.get("data"))
    if _is_observation(value):
        return [value]
    entries = [entry for entry in as_list(found) if _is_observation(entry)]
    return entries if len(entries) == len(as_list(found)) else []


def _of_batch(batch: list[Any]) -> list[dict[str, Any]]:
    """Creations and updates of observations; a span below a generation is marked as its tool."""
    entries: list[dict[str, Any]] = []
    generations: set[str] = set()
    for event in map(as_dict, batch):
        kind, _, what = as_text(event.get("type")).partition("-")
        body = event.get("body")
        if not isinstance(body, dict) or what not in ("create", "update"):
            continue
        if kind in ("span", "generation", "observation", "tool", "agent"):
            entry = {**body, "type": body.get("type") or kind}
            if kind == "generation":
                generations.add(as_name(body.get("id")))
            elif as_name(body.get("parentObservationId")) in generations:
                entry["belowGeneration"] = True
            entries.append(entry)
    return entries


def _is_observation(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and "startTime" in entry
        and ("traceId" in entry or "parentObservationId" in entry)
        and isinstance(entry.get("type"), str)
    )


def _trace_of(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("trace"), dict):
        return [value["trace"]]
    if isinstance(value.get("batch"), list):
        events = map(as_dict, value["batch"])
        return [as_dict(e.get("body")) for e in events if e.get("type") == "trace-create"]
    return [value] if isinstance(value.get("observations"), list) else []


IMPORTER = Importer(
    name="langfuse",
    title="Langfuse traces",
    recognise=recognise,
    read=read,
    priority=65,
    one_by_one=True,
)
