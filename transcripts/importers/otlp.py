"""OpenTelemetry traces: OTLP requests as JSON or protobuf, and what a file exporter writes.

A run is a trace; see `transcripts.importers.spans`. Source: opentelemetry-proto 1.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Document, Importer, ImportProblem, Read
from transcripts.importers.spans import json_form, protobuf
from transcripts.importers.spans.runs import run_key, runs_of, trace_of, without_echoes
from transcripts.importers.spans.span import BrokenError, Rejected, Span
from transcripts.record import count_by


def recognise(value: Any) -> bool:
    """Whether this is a request with spans, or a list of such."""
    if isinstance(value, list):
        return bool(value) and all(map(json_form.knows, value))
    return isinstance(value, protobuf.Request) or json_form.knows(value)


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """The runs of all traces in all lines together."""
    spans: list[Span] = []
    for document in documents:
        if not recognise(document.value):
            yield ImportProblem("this is no OTLP request", document.line)
            continue
        values = document.value if isinstance(document.value, list) else [document.value]
        try:
            found = [span for value in values for span in _spans_of(value)]
        except BrokenError as error:
            yield ImportProblem(str(error), document.line)
            continue
        spans += (span for span in found if isinstance(span, Span))
        rejected = count_by(span.why for span in found if isinstance(span, Rejected))
        for why, count in rejected.items():
            yield ImportProblem(f"{count} spans {why}", document.line)
    yield from runs_of_spans(spans)


def _spans_of(value: Any) -> Iterator[Span | Rejected]:
    if isinstance(value, protobuf.Request):
        return protobuf.read_spans(value.content)
    return json_form.read_spans(value)


def runs_of_spans(spans: list[Span]) -> Iterator[Read]:
    """The runs of spans that came together; says so where there is no model request among them."""
    by_run: dict[str, list[Span]] = {}
    for span in without_echoes(spans):
        by_run.setdefault(run_key(span), []).append(span)
    silent = 0
    for key, found in by_run.items():
        runs = list(runs_of(trace_of(found), key))
        silent += 0 if runs else len(found)
        yield from runs
    if silent and silent == len(spans):
        yield ImportProblem(
            f"none of the {silent} spans is a model request, so there is no run in them"
        )


IMPORTER = Importer(
    name="otlp", title="OpenTelemetry traces (OTLP)", recognise=recognise, read=read, priority=70
)
