"""Phoenix spans, as `GET /v1/projects/{id}/spans` gives them: OpenInference attributes under flat
keys.

Source: arize-phoenix-client 3.5.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers import openinference
from transcripts.importers.base import Document, Importer, ImportProblem, Read
from transcripts.importers.fields import as_dict, as_list, as_name, as_text
from transcripts.importers.observations import Observation, run_of_observations


def recognise(value: Any) -> bool:
    """Whether this is a page of spans, a list of spans, or one span."""
    spans = _spans_of(value)
    return bool(spans) and all(map(_is_span, spans))


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """A run a trace, of all pages and lines together."""
    traces: dict[str, dict[str, dict[str, Any]]] = {}
    for document in documents:
        for span in _spans_of(document.value):
            if not _is_span(span):
                yield ImportProblem("this is no Phoenix span", document.line)
                continue
            context = as_dict(span["context"])
            trace = traces.setdefault(as_name(context.get("trace_id")), {})
            trace[as_name(context.get("span_id"))] = span
    for trace_id, spans in traces.items():
        observations = [_observation(span) for span in spans.values()]
        roots = [span for span in spans.values() if not span.get("parent_id")]
        agent = as_name(roots[0].get("name")) if roots else ""
        priced = any(o.cost is not None for o in observations)
        yield run_of_observations(
            observations, trace_id or default_run_id, agent=agent, currency="USD" if priced else ""
        )


def _observation(span: dict[str, Any]) -> Observation:
    context = as_dict(span["context"])
    found = openinference.observation(
        as_dict(span.get("attributes")),
        id=as_name(context.get("span_id")),
        parent=as_name(span.get("parent_id")),
        name=as_name(span.get("name")),
        start=span.get("start_time"),
        end=span.get("end_time"),
        kind=as_text(span.get("span_kind")),
    )
    status = as_text(span.get("status_code")).upper()
    found.failed = {"ERROR": True, "OK": False}.get(status)
    found.error = as_text(span.get("status_message")) or _exception(span)
    return found


def _exception(span: dict[str, Any]) -> str:
    for event in map(as_dict, as_list(span.get("events"))):
        if event.get("name") == "exception":
            return as_text(as_dict(event.get("attributes")).get("exception.message"))
    return ""


def _spans_of(value: Any) -> list[Any]:
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        return list(value["data"])
    return value if isinstance(value, list) else [value]


def _is_span(span: Any) -> bool:
    return (
        isinstance(span, dict)
        and "span_kind" in span
        and isinstance(span.get("context"), dict)
        and "span_id" in span["context"]
    )


IMPORTER = Importer(
    name="phoenix",
    title="Phoenix spans",
    recognise=recognise,
    read=read,
    priority=66,
    one_by_one=True,
)
