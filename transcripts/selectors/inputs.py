"""What the model read in one round, put together from the changes of the rounds before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from transcripts.choices import InputKind
from transcripts.models import Round, Run, ToolCall
from transcripts.record import InputChange, Placed, apply_change
from transcripts.selectors.pages import CALL_FIELDS, message_heads, text_heads


@dataclass(frozen=True)
class RoundInput:
    """The input of a round as message idents in order; `known` False: the record does not say.

    `added` and `dropped` are told against round `since`: the one before, or, where it is missing
    or its input is not known, the last before that; None where there is none. `new` and `gone` are
    told against round `first`, the first whose input is known: what it did not read, and what any
    round so far read and this one does not, in order of first appearance. A message that stands
    there once more than before is added; `fresh` says of each of `idents` whether it is.
    """

    known: bool
    since: int | None = None
    idents: list[str] = field(default_factory=list)
    fresh: list[bool] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    first: int | None = None
    new: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


def round_input(*, run: Run, number: int) -> RoundInput:
    """What the model read in round `number`. One query over the rounds' changes, which are
    small.
    """
    rows = (
        Round.objects.filter(run=run, number__lte=number)
        .exclude(input_kind__in=(InputKind.NONE, InputKind.LOOSE))
        .order_by("number")
        .values_list("number", "input_kind", "input_size", "added", "dropped")
    )
    current: list[str] = []
    previous: list[str] = []
    seen: dict[str, None] = {}
    begin: tuple[int, list[str]] | None = None
    at, since, known = 0, None, False
    for reached, kind, size, added, dropped in rows.iterator(chunk_size=4000):
        if reached == number:
            known = size is not None
            previous, since = list(current), at or None
        at = reached
        seen.update((ident, None) for _, ident in added)
        if kind == InputKind.CHANGE and not dropped and _all_at_end(added, len(current)):
            # The usual round only adds; copying the list for each would be quadratic.
            current.extend(ident for _, ident in added)
        else:
            change = InputChange(_placed(added), _placed(dropped), kind == InputKind.WHOLE)
            current = apply_change(current, change)
        begin = begin or (reached, list(current))
    if not known or begin is None:
        return RoundInput(False)
    now = set(current)
    return RoundInput(
        True,
        since=since,
        idents=current,
        fresh=_more(current, previous),
        added=_beyond(current, previous),
        dropped=_beyond(previous, current),
        first=begin[0],
        new=_beyond(current, begin[1]),
        gone=[ident for ident in seen if ident not in now],
    )


def _beyond(these: Sequence[str], those: Sequence[str]) -> list[str]:
    """Which of these are more than there are of those, in order."""
    return [ident for ident, more in zip(these, _more(these, those), strict=True) if more]


def _more(these: Sequence[str], those: Sequence[str]) -> list[bool]:
    """Of each of these, whether there are no longer as many of those; of equal ones the last."""
    left = Counter(those)
    found: list[bool] = []
    for ident in these:
        found.append(not left[ident])
        left[ident] = max(left[ident] - 1, 0)
    return found


def input_messages(*, run: Run, idents: list[str]) -> list[dict[str, Any]]:
    """Messages in the order of `idents`, their text cut. Three queries.

    A reply or a result that a message repeats is filled in from its round, with the calls' names.
    """
    found = message_heads(run=run, idents=idents)
    numbers = {row["reply_of"] for row in found.values() if row["reply_of"] is not None}
    numbers |= {row["result_round"] for row in found.values() if row["result_round"] is not None}
    replies: dict[int, dict[str, Any]] = {
        row["number"]: dict(row)
        for row in Round.objects.filter(run=run, number__in=numbers)
        .order_by("number")
        .annotate(**text_heads("reply"))
        .values(*REPLY_FIELDS)
    }
    calls: dict[int, list[dict[str, Any]]] = {}
    for call in (
        ToolCall.objects.filter(run=run, round_number__in=numbers)
        .order_by("round_number", "index")
        .annotate(**text_heads("args", "result"))
        .values(*CALL_FIELDS)
    ):
        calls.setdefault(call["round_number"], []).append(call)
    return [_filled(found[ident], replies, calls) for ident in idents if ident in found]


REPLY_FIELDS = ["number", "reply_head", "reply_length"]


def _filled(
    message: dict[str, Any],
    replies: dict[int, dict[str, Any]],
    calls: dict[int, list[dict[str, Any]]],
) -> dict[str, Any]:
    """The message with the text that it stands for; `asked` are the calls of a reply."""
    filled = {**message, "asked": [], "number": 0}
    if message["reply_of"] is not None:
        number = message["reply_of"]
        reply = replies.get(number)
        filled["number"] = number
        filled["asked"] = calls.get(number, [])
        if reply:
            filled["content_head"] = reply["reply_head"]
            filled["content_length"] = reply["reply_length"]
    elif message["result_round"] is not None:
        number = filled["number"] = message["result_round"]
        for call in calls.get(number, []):
            if call["index"] == message["result_index"]:
                filled["content_head"] = call["result_head"] or ""
                filled["content_length"] = call["result_length"] or 0
                filled["name"] = message["name"] or call["name"]
    return filled


def _all_at_end(added: list[list[Any]], length: int) -> bool:
    return all(at is None or at >= length + i for i, (at, _) in enumerate(added))


def _placed(pairs: list[list[Any]]) -> tuple[Placed, ...]:
    return tuple(Placed(ident, at) for at, ident in pairs)
