"""Keeps the index of full-text search: for what a delivery brings, with its rows, in its
transaction; and anew for rounds whose texts were changed otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from django.db import transaction

from transcripts.masking.types import MaskedRun
from transcripts.models import Run
from transcripts.models.runs import TEXT_VERSION
from transcripts.record import Message, Round
from transcripts.selectors.texts import (
    TextsOfRound,
    as_places,
    header_texts,
    round_numbers,
    texts_of_rounds,
    unread_messages,
)
from transcripts.services import rows
from transcripts.services.run_messages import MessageChanges
from transcripts.services.run_rounds import RoundChanges
from transcripts.text_index.sheets import (
    RoundText,
    Sheet,
    mark_of,
    scopes_of,
    sheets_of,
)
from transcripts.text_index.words import readable

# Rounds that are read at once to be taken apart anew.
AT_ONCE = 500
HEADER_ROUND = 0
# Old runs that are looked up at once to be indexed.
CAUGHT_UP = 2_000
_COLUMNS = {
    "first_round": "integer",
    "last_round": "integer",
    "rounds": "integer[]",
    "words": "tsvector",
}
_INSERT = (
    f"INSERT INTO transcripts_runtext (run_id, {', '.join(_COLUMNS)}) "
    f"SELECT %s, {', '.join(_COLUMNS)} FROM json_to_recordset(%s::json) AS v("
    + ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    + ")"
)
_FORGET_HEADER = "DELETE FROM transcripts_runtext WHERE run_id = %s AND first_round = 0"
_FORGET_ALL = "DELETE FROM transcripts_runtext WHERE run_id = %s"
_FORGET = (
    "DELETE FROM transcripts_runtext WHERE run_id = %s AND rounds && %s::int[] RETURNING rounds"
)
_FORGET_AFTER = (
    "DELETE FROM transcripts_runtext WHERE run_id = %s AND last_round > %s RETURNING rounds"
)


def run_text_index(*, run: Run, rounds: Iterable[int] | None = None) -> None:
    """Make the index anew for some rounds of a run, or for all of it, from its rows as they are.

    To be called, in the transaction that did it, by what changes texts that are already stored. The
    caller holds the run's lock.
    """
    if rounds is None:
        rows.execute(_FORGET_ALL, (run.pk,))
        _insert(run, [_header(run)])
        _add_again(run, round_numbers(run.pk))
        loose = [text for text in unread_messages(run.pk) if text]
        _insert(run, sheets_of([RoundText(1, tuple(loose))] if loose else []))
        return
    wanted = sorted(set(rounds))
    if not wanted:
        return
    gone = {n for (numbers,) in rows.fetch(_FORGET, (run.pk, wanted)) for n in numbers}
    _add_again(run, sorted({*gone, *wanted} - {HEADER_ROUND}))


def run_header_index(*, run: Run, known: bool = True) -> None:
    """Make the index anew for what a run is named by; not `known`: there was nothing before."""
    if known:
        rows.execute(_FORGET_HEADER, (run.pk,))
    _insert(run, [_header(run)])


def run_text_cut(*, run_pk: int, project_pk: int, last: int) -> None:
    """Forget the rounds after `last`."""
    gone = {n for (numbers,) in rows.fetch(_FORGET_AFTER, (run_pk, last)) for n in numbers}
    _add_again(Run(pk=run_pk, project_id=project_pk), sorted(n for n in gone if 0 < n <= last))


def delivery_text_add(
    *,
    writes: rows.Writes,
    run: Run,
    changes: RoundChanges,
    messages: MessageChanges,
    masked: MaskedRun,
) -> None:
    """Add what a delivery brings to the run's writes. Rounds that it replaces are made anew
    afterwards (`run_text_index`).
    """
    found = _brought(changes, messages, masked)
    if found:
        writes.add(_INSERT, (run.pk, _rows(run, sheets_of(found))))


def runs_text_catch_up(*, seconds: float) -> int:
    """Index runs that were stored before there was an index, or under an older one, the newest
    first, for so long; returns how many. Safe to run twice, and beside others.
    """
    end = time.monotonic() + seconds
    done = 0
    behind = Run.objects.filter(text_version__lt=TEXT_VERSION).order_by("-pk")
    for pk in list(behind.values_list("pk", flat=True)[:CAUGHT_UP]):
        if time.monotonic() > end:
            break
        with transaction.atomic():
            run = (
                Run.objects.select_for_update(skip_locked=True, no_key=True)
                .filter(pk=pk, text_version__lt=TEXT_VERSION)
                .first()
            )
            if run is None:
                continue
            run_text_index(run=run)
            Run.objects.filter(pk=pk).update(text_version=TEXT_VERSION)
            done += 1
    return done


def _brought(changes: RoundChanges, messages: MessageChanges, masked: MaskedRun) -> list[RoundText]:
    """The new rounds of a delivery, with new messages in the round that added them."""
    replaced = set(changes.rewritten)
    numbers = [number for number in changes.written if number not in replaced]
    read: dict[int, list[Message]] = {}
    if messages.whole:
        placed = {
            ident: number
            for number in sorted(changes.inputs, reverse=True)
            for _, ident in changes.inputs[number].added
        }
        first = numbers[0] if numbers else max(changes.arrived.rounds, default=1)
        for ident, message in zip(messages.whole, masked.record.messages, strict=False):
            read.setdefault(placed.get(ident, first), []).append(message)
    told = {
        round_.number: round_ for round_ in masked.record.rounds if round_.number not in replaced
    }
    return [
        _round_text(number, told.get(number), read.get(number, ()))
        for number in sorted({*told, *read} - replaced)
    ]


def _round_text(number: int, round_: Round | None, messages: Sequence[Message]) -> RoundText:
    texts = [message.content for message in messages]
    marks = set()
    if round_ is not None:
        texts += (round_.reasoning, round_.reply)
        for call in round_.calls:
            texts += (f"{call.name} {readable(call.args)}", call.result or "")
            marks.add(mark_of("t", call.name))
        texts += (orphan.content for orphan in round_.orphans)
        texts.append(round_.error)
        marks.add(mark_of("s", round_.stop.value))
    return RoundText(number, tuple(text for text in texts if text), frozenset(marks))


def _header(run: Run) -> Sheet:
    (sheet,) = islice(sheets_of([RoundText(HEADER_ROUND, tuple(header_texts(run)))]), 1)
    return sheet


def _add_again(run: Run, numbers: Sequence[int]) -> None:
    for start in range(0, len(numbers), AT_ONCE):
        found = texts_of_rounds(as_places(run.pk, numbers[start : start + AT_ONCE]))
        _insert(run, sheets_of(_stored_text(texts) for texts in found.values()))


def _stored_text(found: TextsOfRound) -> RoundText:
    marks = {mark_of("t", tool) for tool in found.tools} | {mark_of("s", found.stop)}
    return RoundText(found.number, tuple(text for _, text in found.texts), frozenset(marks))


def _insert(run: Run, sheets: Iterable[Sheet]) -> None:
    told = _rows(run, sheets)
    if told != "[]":
        rows.execute(_INSERT, (run.pk, told))


def _rows(run: Run, sheets: Iterable[Sheet]) -> str:
    scopes = scopes_of(project_pk=run.project_id, run_pk=run.pk)
    told: list[dict[str, Any]] = [
        {
            "first_round": sheet.rounds[0],
            "last_round": sheet.rounds[-1],
            "rounds": sheet.rounds,
            "words": sheet.vector(scopes),
        }
        for sheet in sheets
    ]
    return rows.json_of(told)
