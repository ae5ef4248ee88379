"""What a worker does with spans: keep them by trace, put runs together, mask, store, analyse."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

import msgspec
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from analysis.services.incident_arrivals import grouped_together
from transcripts.importers import ImportProblem, UnreadableError
from transcripts.importers.parsing import ParseError, parse
from transcripts.importers.spans import json_form, protobuf
from transcripts.importers.spans.runs import run_key, without_echoes
from transcripts.importers.spans.span import BROKEN, BrokenError, Rejected, Span
from transcripts.models import OpenTrace, Project
from transcripts.queueing import enqueue
from transcripts.record import RunRecord, count_by
from transcripts.services.content import HALF_PAIRS, NO_CHARACTER
from transcripts.services.traces import (
    spans_take,
    trace_assembled,
    trace_close,
    trace_give_up,
    trace_locked,
    trace_order,
    trace_runs,
    trace_spans,
)

logger = logging.getLogger(__name__)

TRACE_ASSEMBLE = "agentdesk.tasks.trace_assemble"


class Store(Protocol):
    """Stores and analyses one run; tells what cannot be, and leaves the others alone."""

    def __call__(self, project: Project, record: RunRecord, live: bool) -> None: ...


def spans_process(*, project: Project, content: bytes, store: Store) -> list[ImportProblem]:
    """Take a request's spans into the runs that they belong to.

    Returns what is wrong with those that cannot be read; those without ids were told to the sender
    when they came. Raises `UnreadableError` where none can.
    """
    by_run: dict[str, list[Span]] = {}
    found = list(_spans_of(content))
    broken = [span.why for span in found if isinstance(span, Rejected)]
    spans = [span for span in found if isinstance(span, Span)]
    for span in without_echoes(spans):
        by_run.setdefault(run_key(span), []).append(span)
    for key in trace_order(project, by_run):
        taken = spans_take(project=project, key=key, spans=by_run[key])
        if taken.spans is not None:
            _assemble(taken.trace, taken.spans, store)
        elif taken.due is not None:
            transaction.on_commit(partial(_queue, taken.trace.pk, taken.due))
    return [
        ImportProblem(f"{count} of {len(found)} spans not taken, {why}")
        for why, count in count_by(broken).items()
    ]


def trace_process(*, pk: int, store: Store) -> bool:
    """Put the runs of a trace together that is due or idle; False where there is nothing to do.

    Needs a transaction. Safe to do twice. A trace that fails for a cause of its own is left as it
    was, until more of it comes.
    """
    trace = trace_locked(pk=pk)
    if trace is None:
        return False
    idle = timedelta(seconds=settings.AGENTDESK_TRACE_IDLE_SECONDS)
    is_idle = trace.closed_at is None and trace.seen_at < timezone.now() - idle
    if trace.due_at is None and not is_idle:
        return False
    if is_idle:
        trace_close(trace=trace)
    try:
        with transaction.atomic(), grouped_together():
            _assemble(trace, trace_spans(trace=trace), store)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        # It would fail at each sweep. The text of an unforeseen error may quote the content.
        logger.error("trace %d was not put together: %s", pk, type(error).__name__)
        trace_give_up(trace=trace)
    return True


def _assemble(trace: OpenTrace, spans: list[Span], store: Store) -> None:
    began = time.perf_counter()
    for run in trace_runs(trace=trace, spans=spans):
        store(trace.project, run, trace.closed_at is None)
    trace_assembled(trace=trace, took_ms=(time.perf_counter() - began) * 1000)


def _queue(pk: int, due: datetime) -> None:
    enqueue(TRACE_ASSEMBLE, pk, countdown=max(0.0, (due - timezone.now()).total_seconds()))


def _spans_of(content: bytes) -> Iterator[Span | Rejected]:
    """The spans of a request in either form, without those that have no ids."""
    try:
        is_json = content.lstrip()[:1] == b"{"
        found = json_form.read_spans(_json_of(content)) if is_json else protobuf.read_spans(content)
        for span in found:
            if isinstance(span, Span) or span.why.startswith(BROKEN):
                yield span
    except (BrokenError, ParseError) as error:
        raise UnreadableError(ImportProblem(str(error))) from None


def _json_of(content: bytes) -> dict[str, object]:
    try:
        return msgspec.json.decode(content, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Says where, and reads half characters and Python's own numbers where it can.
        value = _whole(parse(content.decode("utf-8", "replace")).value)
        return value if isinstance(value, dict) else {}


def _whole(value: Any) -> Any:
    """A JSON value without halves of characters, which nothing can keep."""
    if isinstance(value, str):
        return HALF_PAIRS.sub(NO_CHARACTER, value)
    if isinstance(value, list):
        return [_whole(part) for part in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(part) for name, part in value.items()}
    return value
