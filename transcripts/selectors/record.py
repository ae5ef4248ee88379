"""Reads a run's rows back as the record that was stored, whole or a stretch of its rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from django.db import connection

from transcripts.choices import InputKind
from transcripts.masking.types import MaskedRun, MaskedText, MaskReceipt, masked_text
from transcripts.models import Run
from transcripts.record import (
    Call,
    Ending,
    InputChange,
    Message,
    Opaque,
    Orphan,
    Placed,
    Received,
    Round,
    RunLimits,
    RunRecord,
    Stop,
    Tool,
)

_decode = msgspec.json.decode

_ROUNDS = """
SELECT number, stop, stop_raw, reply, reasoning, tokens_in, tokens_out, tokens_cached,
       tokens_reasoning, cost, model, started_at, duration_ms, error, orphans, opaque,
       input_kind, added, dropped, key
FROM transcripts_round WHERE run_id = %s AND number BETWEEN %s AND %s ORDER BY number
"""
_CALLS = """
SELECT round_number, name, args, result, is_error, call_id, duration_ms, joined, sub_run
FROM transcripts_toolcall WHERE run_id = %s AND round_number BETWEEN %s AND %s
ORDER BY round_number, index
"""
_MESSAGES = """
SELECT ident, key, role, content, name, reply_of, result_round, result_index, opaque, call_id
FROM transcripts_message WHERE run_id = %s
"""
_LAST = 2**31 - 1


def run_record(*, run: Run) -> MaskedRun:
    """The whole run as it was stored, with the receipt of its masking. Three queries.

    Messages stand in the order in which rounds read them first, then those that no round read.
    """
    rounds = list(_rounds(run, 1, _LAST))
    messages = _in_order(_messages(run, _MESSAGES, (run.pk,), rounds), rounds)
    return _masked(run, tuple(rounds), tuple(messages))


def run_window(*, run: Run, first: int, last: int) -> MaskedRun:
    """The rounds `first` to `last` (both included) with their calls, and the messages that came
    into or went out of their inputs. Three queries, whatever the length of the run.

    An input is the change from the round before, as it is kept; see `round_input` for all of one.
    """
    rounds = list(_rounds(run, first, last))
    keys = {
        placed.key
        for round_ in rounds
        if round_.input
        for placed in (*round_.input.added, *round_.input.dropped)
    }
    sql = f"{_MESSAGES} AND ident = ANY(%s)"
    messages = _messages(run, sql, (run.pk, list(keys)), rounds) if keys else {}
    ordered = _in_order(messages, rounds)
    return _masked(run, tuple(rounds), tuple(ordered))


def message_key(ident: str, key: str) -> MaskedText:
    """A message's key in records: the sender's own, else its stand-in."""
    return masked_text(key or f"~{ident}")


def _masked(run: Run, rounds: tuple[Round, ...], messages: tuple[Message, ...]) -> MaskedRun:
    limits = run.limits
    record = RunRecord(
        run_id=run.run_id,
        rounds=rounds,
        messages=messages,
        tools=tuple(Tool(t["name"], t["description"], t["schema"]) for t in run.tools),
        ticket_id=run.ticket_id,
        title=run.title,
        agent=run.agent,
        provider=run.provider,
        model=run.model,
        prompt_version=run.prompt_version,
        code_version=run.code_version,
        started_at=run.started_at,
        ended_at=run.ended_at,
        ending=Ending(run.ending),
        ending_reason=run.ending_reason,
        currency=run.currency,
        context_window=run.context_window,
        limits=RunLimits(
            limits.get("rounds"),
            limits.get("seconds"),
            Decimal(limits["cost"]) if "cost" in limits else None,
        ),
        labels=dict(run.labels),
        parent_run_id=run.parent_run_id,
        format=run.format,
        notes=tuple(run.notes),
        rounds_expected=run.rounds_expected,
        received=Received(run.folded, run.replaced, run.late),
    )
    return MaskedRun(record, MaskReceipt(run.mask_rule_set, run.mask_hits))


def _rounds(run: Run, first: int, last: int) -> Iterator[Round]:
    calls: dict[int, list[Call]] = {}
    for number, name, args, result, is_error, id_, duration, joined, sub_run in _fetch(
        _CALLS, (run.pk, first, last)
    ):
        call = Call(
            masked_text(name),
            masked_text(args),
            _maybe(result),
            is_error,
            masked_text(id_),
            duration,
            joined,
            masked_text(sub_run),
        )
        calls.setdefault(number, []).append(call)
    for row in _fetch(_ROUNDS, (run.pk, first, last)):
        yield _round(row, tuple(calls.get(row[0], ())))


def _round(row: Sequence[Any], calls: tuple[Call, ...]) -> Round:
    kind, added, dropped, key = row[16:]
    change = None
    if kind != InputKind.NONE:
        change = InputChange(_placed(added), _placed(dropped), whole=kind == InputKind.WHOLE)
    return Round(
        number=row[0],
        stop=Stop(row[1]),
        stop_raw=_maybe(row[2]),
        reply=masked_text(row[3]),
        reasoning=masked_text(row[4]),
        calls=calls,
        input=change,
        tokens_in=row[5],
        tokens_out=row[6],
        tokens_cached=row[7],
        tokens_reasoning=row[8],
        cost=None if row[9] is None else row[9].normalize(),
        model=masked_text(row[10]),
        started_at=row[11],
        duration_ms=row[12],
        error=masked_text(row[13]),
        orphans=tuple(
            Orphan(masked_text(part["call_id"]), masked_text(part["content"]))
            for part in _list(row[14])
        ),
        opaque=_opaque(row[15]),
        key=masked_text(key),
    )


def _messages(
    run: Run, sql: str, parameters: Sequence[Any], rounds: Iterable[Round]
) -> dict[str, Message]:
    """Messages by stand-in, in no order. One that repeats a call's result has the call's name."""
    names = {
        (round_.number, index): call.name
        for round_ in rounds
        for index, call in enumerate(round_.calls)
    }
    found = {}
    for row in _fetch(sql, parameters):
        ident, key, role, content, name, reply_of, result_round, result_index, parts, id_ = row
        name = name or names.get((result_round, result_index), "")
        found[ident] = Message(
            key=message_key(ident, key),
            role=masked_text(role),
            content=masked_text(content),
            name=masked_text(name),
            reply_of=reply_of,
            result_of=None if result_round is None else (result_round, result_index),
            opaque=_opaque(parts),
            call_id=masked_text(id_),
            named=bool(key),
        )
    return found


def _in_order(messages: dict[str, Message], rounds: list[Round]) -> list[Message]:
    """Messages by their first place in the inputs of `rounds`, whose keys become the record's."""
    order: dict[str, None] = {}
    for i, round_ in enumerate(rounds):
        if round_.input is None:
            continue
        for placed in round_.input.added:
            order.setdefault(placed.key)
        for placed in round_.input.dropped:
            order.setdefault(placed.key)
        rounds[i] = _renamed(round_, round_.input, messages)
    left = sorted(messages.keys() - order.keys())
    return [messages[ident] for ident in (*order, *left) if ident in messages]


def _renamed(round_: Round, change: InputChange, messages: dict[str, Message]) -> Round:
    def keys(places: tuple[Placed, ...]) -> tuple[Placed, ...]:
        return tuple(
            Placed(
                messages[place.key].key if place.key in messages else message_key(place.key, ""),
                place.at,
            )
            for place in places
        )

    named = InputChange(keys(change.added), keys(change.dropped), change.whole)
    return _with_input(round_, named)


def _with_input(round_: Round, change: InputChange) -> Round:
    # `dataclasses.replace` costs three times as much, for each round of a long run.
    values = {name: getattr(round_, name) for name in Round.__slots__}
    return Round(**{**values, "input": change})


def _placed(text: str) -> tuple[Placed, ...]:
    return () if text == "[]" else tuple(Placed(key, at) for at, key in _decode(text))


def _opaque(text: str) -> tuple[Opaque, ...]:
    return tuple(
        Opaque(masked_text(part["kind"]), masked_text(part["body"])) for part in _list(text)
    )


def _list(text: str) -> list[Any]:
    found: list[Any] = [] if text == "[]" else _decode(text)
    return found


def _maybe(value: str | None) -> MaskedText | None:
    return None if value is None else masked_text(value)


def _fetch(sql: str, parameters: Sequence[Any]) -> Iterable[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
