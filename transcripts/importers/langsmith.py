"""LangSmith runs: chains, model calls and tools of a trace, as sent by the tracer or read from the
API.

Source: langsmith 0.15.1 and langchain-core 1.8.3. Chains repeat the messages of the runs below
them.
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
)
from transcripts.importers.observations import Observation, run_of_observations
from transcripts.importers.providers.base import read_tools

_KINDS = {"llm": "llm", "tool": "tool"}


def recognise(value: Any) -> bool:
    """Whether this is a run, or a list of runs."""
    runs = value if isinstance(value, list) else [value]
    return bool(runs) and all(map(_is_run, runs))


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """A run a trace, of all documents together."""
    traces: dict[str, dict[str, dict[str, Any]]] = {}
    for document in documents:
        values = document.value if isinstance(document.value, list) else [document.value]
        for value in values:
            if not _is_run(value):
                yield ImportProblem("this is no LangSmith run", document.line)
                continue
            for run in _with_children(value):
                trace = as_name(run.get("trace_id")) or default_run_id
                traces.setdefault(trace, {}).setdefault(as_name(run.get("id")), {}).update(run)
    for trace_id, runs in traces.items():
        yield _run(trace_id, list(runs.values()))


def _run(trace_id: str, runs: list[dict[str, Any]]) -> Read:
    root = next((run for run in runs if not run.get("parent_run_id")), runs[0])
    metadata = _metadata(root)
    labels = {
        key: as_text(found)
        for key, found in (
            ("thread_id", metadata.get("thread_id")),
            ("session_name", root.get("session_name")),
        )
        if found
    }
    observations = [_observation(run) for run in runs]
    priced = any(o.cost is not None for o in observations)
    return run_of_observations(
        observations,
        trace_id,
        agent=as_name(root.get("name")),
        labels=labels,
        currency="USD" if priced else "",
    )


def _observation(run: dict[str, Any]) -> Observation:
    extra = as_dict(run.get("extra"))
    metadata = _metadata(run)
    usage = as_dict(metadata.get("usage_metadata"))
    details = as_dict(usage.get("input_token_details"))
    error = as_text(run.get("error"))
    params = as_dict(extra.get("invocation_params"))
    return Observation(
        id=as_name(run.get("id")),
        parent=as_name(run.get("parent_run_id")),
        kind=_KINDS.get(as_text(run.get("run_type")), ""),
        name=as_name(run.get("name")),
        started_at=as_moment(run.get("start_time")),
        ended_at=as_moment(run.get("end_time")),
        input=run.get("inputs"),
        output=_output(as_dict(run.get("outputs"))),
        failed=bool(error),
        error=error,
        call_id=as_name(extra.get("tool_call_id")),
        model=as_name(metadata.get("ls_model_name")),
        tokens_in=as_count(run.get("prompt_tokens", usage.get("input_tokens"))),
        tokens_out=as_count(run.get("completion_tokens", usage.get("output_tokens"))),
        tokens_cached=as_count(details.get("cache_read")),
        cost=as_cost(run.get("total_cost")),
        tools=read_tools(params.get("tools")),
    )


def _output(outputs: dict[str, Any]) -> Any:
    """A model call's message out of its generations; a tool's message or value."""
    generations = as_list(outputs.get("generations"))
    while generations and isinstance(generations[0], list):
        generations = generations[0]
    if generations:
        first = as_dict(generations[0])
        return first.get("message") or first.get("text")
    return outputs.get("output", outputs or None)


def _metadata(run: dict[str, Any]) -> dict[str, Any]:
    return as_dict(as_dict(run.get("extra")).get("metadata"))


def _with_children(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    waiting = [run]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += [child for child in as_list(found.get("child_runs")) if isinstance(child, dict)]


def _is_run(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("run_type"), str)
        and "inputs" in value
        and ("trace_id" in value or "dotted_order" in value)
    )


IMPORTER = Importer(
    name="langsmith",
    title="LangSmith runs",
    recognise=recognise,
    read=read,
    priority=66,
    one_by_one=True,
)
