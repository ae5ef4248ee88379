"""Spans of traces that are still open."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from transcripts.models.people import Project


class OpenTrace(models.Model):
    """The spans of one trace while more of them may come: what its runs are put together from.

    `digest` is keyed, of the run's id. `seen_at` is when the last spans came, `due_at` when the
    runs are to be put together again with what has come since, null where nothing has.
    `closed_at`: the root span came (`has_root`), or nothing for a while. `bases` holds, by the hex
    digest of a run, how many rounds it had before: what comes after its spans were put away stands
    after them.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=16)
    seen_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(null=True, blank=True)
    assembled_at = models.DateTimeField(null=True, blank=True)
    took_ms = models.FloatField(default=0)
    closed_at = models.DateTimeField(null=True, blank=True)
    has_root = models.BooleanField(default=False)
    span_count = models.PositiveBigIntegerField(default=0)
    folded = models.PositiveIntegerField(default=0)
    late = models.PositiveIntegerField(default=0)
    bases = models.JSONField(default=dict)

    class Meta:
        ordering = ("seen_at", "pk")
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="open_trace_once"),
        )
        indexes = (
            models.Index(fields=("due_at",), name="open_trace_due"),
            models.Index(fields=("seen_at",), name="open_trace_idle"),
        )

    def __str__(self) -> str:
        return f"trace {self.pk} ({self.span_count} spans)"


class SpanChunk(models.Model):
    """Spans of a trace that came together, compressed and sealed like a delivery's body.

    `digest` is keyed, of the spans, so that the same request sent again adds nothing. The body is
    empty where the spans stand in another chunk of the trace by now. `known` holds keyed digests of
    the texts that it brought, 12 bytes each, so that later chunks need not repeat them; null where
    the spans are kept as they came.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    trace = models.ForeignKey(OpenTrace, models.CASCADE, related_name="chunks", db_index=False)
    digest = models.BinaryField(max_length=16)
    body = models.BinaryField()
    known = models.BinaryField(null=True)
    span_count = models.PositiveIntegerField()

    class Meta:
        ordering = ("trace", "id")
        constraints = (models.UniqueConstraint(fields=("trace", "digest"), name="span_chunk_once"),)

    def __str__(self) -> str:
        return f"{self.span_count} spans of trace {self.trace_id}"
