"""Reads for the run page: windows of rounds, cut to what a page shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import F, Func, JSONField, Q, QuerySet, Value, Window
from django.db.models.functions import Lag, Left, Length, RowNumber, Substr

from transcripts.choices import StopReason
from transcripts.models import Message, Round, Run, ToolCall

# Characters of one text that a page takes before it says how much more there is.
SHOWN_CHARACTERS = 3_000
# Calls of one round that are shown at once; an agent may ask for hundreds in parallel.
SHOWN_CALLS = 12
CALLS_PER_PAGE = 50
# Messages of one round that are told one by one.
TOLD_MESSAGES = 40

Span = tuple[int, int]


@dataclass(frozen=True)
class Cut:
    """The head of a text, and its whole length in characters."""

    text: str
    length: int

    @property
    def is_cut(self) -> bool:
        return self.length > len(self.text)


@dataclass
class RoundWindow:
    """Rounds of some spans with their calls and the messages that came and went."""

    goal: str = ""
    ticket: str = ""
    rounds: list[dict[str, Any]] = field(default_factory=list)
    calls: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Bin:
    """Consecutive rounds that one cell of the map stands for. `stop` is the worst stop reason
    among them.
    """

    first: int
    last: int
    stop: str
    tokens: int | None


@dataclass(frozen=True)
class RoundBins:
    """The bins of a run, ascending, and the largest input of all its rounds, in tokens."""

    bins: list[Bin]
    top: int | None


@dataclass(frozen=True)
class TextPlace:
    """Which text: `part` of `PARTS`, of a round, of a call (`index`) or a message (`ident`)."""

    part: str
    number: int = 0
    index: int = 0
    ident: str = ""


PARTS = ("reply", "reasoning", "error", "args", "result", "message")


def round_window(*, run: Run, spans: Sequence[Span]) -> RoundWindow:
    """The rounds of `spans` ([first, last], both included), ascending. Three queries, however many
    spans.
    """
    window = RoundWindow(goal=run.goal_ident, ticket=run.ticket_ident)
    if not spans:
        return window
    window.rounds = list(
        Round.objects.filter(_within("number", spans), run=run)
        .order_by("number")
        .annotate(**text_heads("reply", "reasoning", "error"), opaque_kinds=kinds_of("opaque"))
        .values(*ROUND_FIELDS)
    )
    calls = (
        ToolCall.objects.filter(_within("round_number", spans), run=run, index__lt=SHOWN_CALLS)
        .order_by("round_number", "index")
        .annotate(**text_heads("args", "result"))
        .values(*CALL_FIELDS)
    )
    for call in calls:
        window.calls.setdefault(call["round_number"], []).append(call)
    idents = {ident for round_ in window.rounds for ident in _told_idents(round_)}
    if idents:
        window.messages = message_heads(run=run, idents=idents)
    return window


def message_heads(*, run: Run, idents: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Messages by ident, their text cut to what a page shows."""
    rows = (
        Message.objects.filter(run=run, ident__in=list(idents))
        .order_by("ident")
        .annotate(**text_heads("content"), opaque_kinds=kinds_of("opaque"))
        .values(*MESSAGE_FIELDS)
    )
    return {row["ident"]: row for row in rows}


def round_bins(*, run: Run, last: int, bins: int) -> RoundBins:
    """The run in at most `bins` equal stretches of rounds, for the map. One query.

    Where a bin holds several rounds its input size is that of its last one; the largest of all is
    exact. Rounds that want a tool are the rule; only the others are told one by one.
    """
    size = bin_size(last=last, bins=bins)
    ends = [min(end, last) for end in range(size, last + size, size)]
    with connection.cursor() as cursor:
        cursor.execute(
            _BINS,
            {"run": run.pk, "size": size, "ends": ends, "usual": StopReason.WANTS_TOOL.value},
        )
        top, unusual, sampled = cursor.fetchone()
    stops: dict[int, set[str]] = {}
    tokens: dict[int, int | None] = {}
    for number, stop, input_size in sampled or ():
        stops.setdefault((number - 1) // size, set()).add(stop)
        tokens[(number - 1) // size] = input_size
    for place in unusual or ():
        bin_, _, stop = place.partition(" ")
        stops.setdefault(int(bin_), set()).add(stop)
    made = []
    for bin_, found in sorted(stops.items()):
        first = bin_ * size + 1
        worst = next(stop for stop in WORST_FIRST if stop in found)
        made.append(Bin(first, min(first + size - 1, last), worst, tokens.get(bin_)))
    return RoundBins(made, top)


_BINS = """
SELECT max(tokens_in),
       array_agg((number - 1) / %(size)s || ' ' || stop) FILTER (WHERE stop <> %(usual)s),
       (SELECT json_agg(json_build_array(number, stop, tokens_in)) FROM transcripts_round
         WHERE run_id = %(run)s AND number = ANY(%(ends)s))
  FROM transcripts_round WHERE run_id = %(run)s
"""


def bin_size(*, last: int, bins: int) -> int:
    """Rounds per bin, so that `last` rounds fit into `bins`."""
    return max(1, -(-last // bins))


def call_changes(*, run: Run, first: int, last: int, limit: int) -> list[dict[str, Any]]:
    """Calls between two rounds whose result differs from that of the same call before it, `limit`
    at most.

    The first occurrence of each call within the span counts as a change.
    """
    partition = [F("index"), F("name"), F("args")]
    rows = (
        ToolCall.objects.filter(run=run, round_number__gte=first, round_number__lte=last)
        .annotate(
            before=Window(Lag("result"), partition_by=partition, order_by="round_number"),
            nth=Window(RowNumber(), partition_by=partition, order_by="round_number"),
        )
        .filter(~Q(result=F("before")) | Q(nth=1))
        .order_by("round_number", "index")
        .annotate(**text_heads("args", "result"))
        .values(*CALL_FIELDS)
    )
    return list(rows[:limit])


def text_length(*, run: Run, place: TextPlace) -> int | None:
    """Characters of one text; None where there is none."""
    found, name = _texts(run, place)
    length: int | None = (
        found.annotate(length=Length(name)).values_list("length", flat=True).first()
    )
    return length


def text_slice(*, run: Run, place: TextPlace, start: int, size: int) -> str:
    """`size` characters of one text from `start` (from 0), cut in the database."""
    found, name = _texts(run, place)
    part = found.annotate(part=Substr(name, start + 1, size)).values_list("part", flat=True)
    return part.first() or ""


def _texts(run: Run, place: TextPlace) -> tuple[QuerySet[Any, Any], str]:
    if place.part in ("args", "result"):
        calls = ToolCall.objects.filter(run=run, round_number=place.number, index=place.index)
        return calls.order_by("index"), place.part
    if place.part == "message":
        return Message.objects.filter(run=run, ident=place.ident).order_by("ident"), "content"
    return Round.objects.filter(run=run, number=place.number).order_by("number"), place.part


def _within(name: str, spans: Sequence[Span]) -> Q:
    wanted = Q()
    for first, last in spans:
        wanted |= Q(**{f"{name}__gte": first, f"{name}__lte": last})
    return wanted


def text_heads(*names: str) -> dict[str, Any]:
    """Annotations `<name>_head`, cut to what a page shows, and `<name>_length` in characters."""
    heads: dict[str, Any] = {}
    for name in names:
        heads[f"{name}_head"] = Left(name, SHOWN_CHARACTERS)
        heads[f"{name}_length"] = Length(name)
    return heads


def kinds_of(name: str) -> Func:
    """The kinds of opaque parts without their bodies, which may be whole pictures."""
    return Func(
        F(name),
        Value("$[*].kind"),
        template="jsonb_path_query_array(%(expressions)s::jsonpath)",
        output_field=JSONField(),
    )


def round_calls(*, run: Run, number: int, start: int) -> list[dict[str, Any]]:
    """Calls of one round from index `start`, `CALLS_PER_PAGE` at most."""
    rows = (
        ToolCall.objects.filter(run=run, round_number=number, index__gte=start)
        .order_by("index")
        .annotate(**text_heads("args", "result"))
        .values(*CALL_FIELDS)
    )
    return list(rows[:CALLS_PER_PAGE])


def _told_idents(round_: dict[str, Any]) -> Iterable[str]:
    for placed in [*round_["added"][:TOLD_MESSAGES], *round_["dropped"][:TOLD_MESSAGES]]:
        yield placed[1]


# The worst that a bin can hold, first.
WORST_FIRST = (
    StopReason.ERROR,
    StopReason.CUT_OFF,
    StopReason.BLOCKED,
    StopReason.UNKNOWN,
    StopReason.FINISHED,
    StopReason.WANTS_TOOL,
)
_ROUND_TEXTS = ("reply", "reasoning", "error")
ROUND_FIELDS = [
    *("number", "stop", "stop_raw", "input_kind", "input_size", "added", "dropped"),
    *("tokens_in", "tokens_out", "duration_ms", "orphans", "opaque_kinds", "call_count"),
    *(f"{name}_{part}" for name in _ROUND_TEXTS for part in ("head", "length")),
]
CALL_FIELDS = [
    *("round_number", "index", "name", "is_error", "duration_ms", "joined", "sub_run"),
    *("args_head", "args_length", "result_head", "result_length"),
]
MESSAGE_FIELDS = [
    *("ident", "role", "name", "reply_of", "result_round", "result_index", "opaque_kinds"),
    *("content_head", "content_length"),
]
