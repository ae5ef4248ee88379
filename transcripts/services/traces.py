"""Keeps the spans of traces, sealed, while more may come, and puts their runs together.

A run is made of all its spans at once, so that it does not matter in which order, in how many
requests or how often they came. A trace that is often added to is put together no more often than
every second, and never for more than a tenth of the time; what has come since stays due.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import msgspec
from django.db import connection
from django.utils import timezone

from transcripts.importers.spans.runs import is_root, run_key, runs_of, trace_of
from transcripts.importers.spans.span import Span
from transcripts.keys import content_digest, content_key, run_digest
from transcripts.models import OpenTrace, Project, SpanChunk
from transcripts.record import Message, Received, Round, RunRecord
from transcripts.sealing import seal, unseal
from transcripts.services import rows
from transcripts.services.span_texts import Packer, unpacked

REST_MS = 1000.0
REST_FACTOR = 10
# Chunks are made one when there are so many, and when all but the largest are half of its size.
MANY_CHUNKS = 8
# Bytes of spans within which compression alone finds what they repeat.
LITTLE = 256 * 1024
SWEPT_AT_ONCE = 200
CHANGED = ("assembled_at", "took_ms", "due_at", "closed_at", "has_root", "late", "bases")

_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(list[Span]).decode


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of spans that came: their trace, locked, and all of its spans where it is to be
    put together now; else when it is due, if this is the first time since.
    """

    trace: OpenTrace
    spans: list[Span] | None
    due: datetime | None = None


def spans_take(*, project: Project, key: str, spans: list[Span]) -> Taken:
    """Keep spans of one run. Needs a transaction; the trace is locked until it ends.

    The same spans in the same request again count as folded. Several traces are to be taken in the
    order of `trace_order`, or two workers wait for each other.
    """
    trace, is_new = _locked(project, run_digest(project.pk, key), len(spans))
    if not _add_chunk(trace, spans, is_new=is_new):
        trace.folded += len(spans)
        trace.span_count -= len(spans)
        _save(trace, "folded", "span_count")
        return Taken(trace, None)
    if trace.closed_at is not None:
        trace.late += len(spans)
    ends = not trace.has_root and any(is_root(span, key) for span in spans)
    trace.has_root = trace.has_root or ends
    trace.closed_at = timezone.now() if trace.has_root else None
    rests_until = _rests_until(trace)
    if ends or rests_until is None or rests_until <= timezone.now():
        return Taken(trace, spans if is_new else trace_spans(trace=trace))
    first = trace.due_at is None
    trace.due_at = trace.due_at or rests_until
    _save(trace, *CHANGED)
    return Taken(trace, None, trace.due_at if first else None)


def trace_order(project: Project, keys: Iterable[str]) -> list[str]:
    """Run ids in the order in which every worker takes their locks."""
    return sorted(keys, key=lambda key: run_digest(project.pk, key))


def trace_locked(*, pk: int) -> OpenTrace | None:
    """An open trace, locked until the transaction ends; None where it was put away, or is in other
    hands.
    """
    found = OpenTrace.objects.select_for_update(skip_locked=True, of=("self",))
    return found.select_related("project").filter(pk=pk).first()


def trace_spans(*, trace: OpenTrace) -> list[Span]:
    """All spans that came of a trace; raises `transcripts.sealing.SealError`."""
    chunks = list(SpanChunk.objects.filter(trace=trace).exclude(body=b"").order_by("id"))
    bodies = {chunk.pk: unseal(bytes(chunk.body), name=chunk.pk.bytes) for chunk in chunks}
    packed = [bodies[chunk.pk] for chunk in chunks if chunk.known is not None]
    spans = unpacked(packed, key=content_key(), salt=bytes(trace.digest)) if packed else []
    for chunk in chunks:
        if chunk.known is None:
            spans += _decode(bodies[chunk.pk])
    sizes = sorted(len(chunk.body) for chunk in chunks)
    if len(chunks) >= MANY_CHUNKS and sum(sizes[:-1]) * 2 >= sizes[-1]:
        id_ = uuid4()
        body, known = _packer(trace, ()).pack(spans)
        SpanChunk.objects.filter(pk__in=[chunk.pk for chunk in chunks]).update(body=b"", known=b"")
        _insert_chunk(id_, trace, id_.bytes, body, known, len(spans))
    return spans


def trace_runs(*, trace: OpenTrace, spans: list[Span]) -> list[RunRecord]:
    """The runs of a trace as they stand, those within it after the one that they belong to."""
    if not spans:
        return []
    key = run_key(spans[0])
    received = Received(folded=trace.folded, late=trace.late)
    found = list(runs_of(trace_of(spans), key))
    _note_bases(trace, found)
    return [_after(replace(run, received=received), _base(trace, run)) for run in found]


def trace_close(*, trace: OpenTrace) -> None:
    """Nothing came for a while: the runs are over, until more comes. The caller assembles them."""
    trace.closed_at = timezone.now()


def trace_give_up(*, trace: OpenTrace) -> None:
    """The runs of a trace cannot be put together: they stay as they are until more comes."""
    trace.due_at, trace.closed_at = None, timezone.now()
    _save(trace, "due_at", "closed_at")


def trace_assembled(*, trace: OpenTrace, took_ms: float) -> None:
    """The runs of a trace are stored with all that came of it."""
    trace.assembled_at, trace.took_ms, trace.due_at = timezone.now(), took_ms, None
    _save(trace, *CHANGED)


def traces_due(*, older_than: timedelta, idle: timedelta) -> list[int]:
    """Traces that are to be put together: overdue ones, and open ones to which nothing came for
    `idle`.
    """
    now = timezone.now()
    overdue = OpenTrace.objects.filter(due_at__lt=now - older_than)
    silent = OpenTrace.objects.filter(closed_at=None, seen_at__lt=now - idle)
    found = [*overdue.order_by("due_at", "pk").values_list("pk", flat=True)[:SWEPT_AT_ONCE]]
    found += silent.order_by("seen_at", "pk").values_list("pk", flat=True)[:SWEPT_AT_ONCE]
    return list(dict.fromkeys(found))


def traces_put_away(*, kept: timedelta) -> int:
    """Delete the spans of traces that are over, and to which nothing came for so long; returns how
    many traces. Their runs stay.
    """
    over = OpenTrace.objects.filter(
        closed_at__isnull=False, due_at=None, seen_at__lt=timezone.now() - kept
    )
    pks = list(over.order_by("seen_at", "pk").values_list("pk", flat=True)[:SWEPT_AT_ONCE])
    SpanChunk.objects.filter(trace__in=pks).delete()
    return OpenTrace.objects.filter(pk__in=pks).delete()[0] if pks else 0


_LAST_ROUNDS = """
SELECT digest, last_round FROM transcripts_run WHERE project_id = %s AND digest = ANY(%s)
"""
_LOCK = """
INSERT INTO transcripts_opentrace
    (project_id, digest, seen_at, took_ms, span_count, folded, late, has_root, bases)
VALUES (%s, %s, now(), 0, %s, 0, 0, false, '{}')
ON CONFLICT (project_id, digest) DO UPDATE
SET seen_at = now(), span_count = transcripts_opentrace.span_count + EXCLUDED.span_count
RETURNING id, span_count
"""
_CHUNK = """
INSERT INTO transcripts_spanchunk (id, trace_id, digest, body, known, span_count)
VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (trace_id, digest) DO NOTHING
"""


def _locked(project: Project, digest: bytes, count: int) -> tuple[OpenTrace, bool]:
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, (project.pk, digest, count))
        pk, total = cursor.fetchone()
    if total == count:
        new = OpenTrace(pk=pk, project=project, digest=digest, span_count=count)
        new._state.adding = False
        return new, True
    return OpenTrace.objects.get(pk=pk), False


def _add_chunk(trace: OpenTrace, spans: list[Span], *, is_new: bool) -> bool:
    """Keep spans; False where the same ones came together before."""
    plain = _encode(spans)
    digest = content_digest(plain, salt=bytes(trace.digest))
    if is_new and len(plain) <= LITTLE:
        # Most traces come whole: there is nothing that they could repeat.
        return _insert_chunk(uuid4(), trace, digest, plain, None, len(spans))
    chunks = SpanChunk.objects.filter(trace=trace).order_by("id").values_list("known", flat=True)
    body, known = _packer(trace, filter(None, chunks)).pack(spans)
    return _insert_chunk(uuid4(), trace, digest, body, known, len(spans))


def _packer(trace: OpenTrace, known: Iterable[bytes | memoryview]) -> Packer:
    return Packer(key=content_key(), salt=bytes(trace.digest), known=map(bytes, known))


def _insert_chunk(
    id_: UUID, trace: OpenTrace, digest: bytes, content: bytes, known: bytes | None, count: int
) -> bool:
    body = seal(content, name=id_.bytes)
    with connection.cursor() as cursor:
        cursor.execute(_CHUNK, (id_, trace.pk, digest, body, known, count))
        added: bool = cursor.rowcount == 1
    return added


def _rests_until(trace: OpenTrace) -> datetime | None:
    if trace.assembled_at is None:
        return None
    return trace.assembled_at + timedelta(milliseconds=max(REST_MS, trace.took_ms * REST_FACTOR))


def _save(trace: OpenTrace, *fields: str) -> None:
    trace.save(update_fields=fields)


def _note_bases(trace: OpenTrace, runs: list[RunRecord]) -> None:
    """How many rounds each run has before this trace adds to it: none, but where its spans were put
    away.
    """
    digests = {run_digest(trace.project_id, run.run_id) for run in runs}
    new = [digest for digest in digests if digest.hex() not in trace.bases]
    if new:
        found = rows.fetch(_LAST_ROUNDS, (trace.project_id, new))
        there = {bytes(digest): last for digest, last in found}
        trace.bases |= {digest.hex(): there.get(digest, 0) for digest in new}


def _base(trace: OpenTrace, run: RunRecord) -> int:
    return int(trace.bases[run_digest(trace.project_id, run.run_id).hex()])


def _after(run: RunRecord, base: int) -> RunRecord:
    """The run with its rounds numbered after the `base` rounds that are there."""
    if not base:
        return run
    return replace(
        run,
        rounds=tuple(_moved(round_, base) for round_ in run.rounds),
        messages=tuple(_moved_message(message, base) for message in run.messages),
        notes=(*run.notes, f"Spans after round {base} came when the trace was put away."),
    )


def _moved(round_: Round, base: int) -> Round:
    change = round_.input
    if change is not None and round_.number == 1:
        change = replace(change, whole=True)
    return replace(round_, number=round_.number + base, input=change)


def _moved_message(message: Message, base: int) -> Message:
    if message.reply_of is not None:
        return replace(message, reply_of=message.reply_of + base)
    if message.result_of is not None:
        number, index = message.result_of
        return replace(message, result_of=(number + base, index))
    return message
