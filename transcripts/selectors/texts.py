"""Reads the texts of rounds as search takes them, with what each of them is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
from django.db import connection

from transcripts.models import Run
from transcripts.text_index.words import readable

_decode = msgspec.json.decode

_ROUNDS = """
SELECT r.run_id, r.number, r.stop, r.reasoning, r.reply, r.error, r.orphans, r.added
FROM unnest(%s::bigint[], %s::int[]) AS w(run_id, number)
JOIN transcripts_round r ON r.run_id = w.run_id AND r.number = w.number
ORDER BY r.run_id, r.number
"""
_CALLS = """
SELECT c.run_id, c.round_number, c.name, c.args, c.result
FROM unnest(%s::bigint[], %s::int[]) AS w(run_id, number)
JOIN transcripts_toolcall c ON c.run_id = w.run_id AND c.round_number = w.number
ORDER BY c.run_id, c.round_number, c.index
"""
_MESSAGES = """
SELECT m.run_id, m.ident, m.role, m.content
FROM unnest(%s::bigint[], %s::text[]) AS w(run_id, ident)
JOIN transcripts_message m ON m.run_id = w.run_id AND m.ident = w.ident AND m.content <> ''
"""
Place = tuple[int, int]


@dataclass
class TextsOfRound:
    """What one round holds: texts as (what it is, text) in reading order, its tools, its stop."""

    number: int
    stop: str
    texts: list[tuple[str, str]]
    tools: set[str]


def texts_of_rounds(places: Sequence[Place]) -> dict[Place, TextsOfRound]:
    """The texts of rounds, by run and round number. A message stands in the round that added it.
    Three queries.
    """
    found: dict[Place, TextsOfRound] = {}
    wanted = [place[0] for place in places], [place[1] for place in places]
    with connection.cursor() as cursor:
        cursor.execute(_ROUNDS, wanted)
        rows = cursor.fetchall()
        cursor.execute(_CALLS, wanted)
        calls = defaultdict(list)
        for run_pk, number, *call in cursor.fetchall():
            calls[run_pk, number].append(call)
        added = {(row[0], row[1]): [ident for _, ident in _decode(row[7])] for row in rows}
        messages = _messages(added)
    for run_pk, number, stop, reasoning, reply, error, orphans, _ in rows:
        place = (run_pk, number)
        texts = [messages[run_pk, ident] for ident in added[place] if (run_pk, ident) in messages]
        texts += [("reasoning", reasoning), ("reply", reply)]
        for name, args, result in calls[place]:
            texts += [("call", f"{name} {readable(args)}"), ("result", result or "")]
        texts += [("result", orphan["content"]) for orphan in _decode(orphans)]
        texts.append(("error", error))
        found[place] = TextsOfRound(
            number, stop, [each for each in texts if each[1]], {call[0] for call in calls[place]}
        )
    return found


def _messages(added: dict[Place, list[str]]) -> dict[tuple[int, str], tuple[str, str]]:
    pairs = {(place[0], ident) for place, idents in added.items() for ident in idents}
    if not pairs:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_MESSAGES, ([pair[0] for pair in pairs], [pair[1] for pair in pairs]))
        return {(run_pk, ident): (role, text) for run_pk, ident, role, text in cursor.fetchall()}


def header_texts(run: Run) -> list[str]:
    """What a run is named by."""
    labels = (f"{name} {value}" for name, value in run.labels)
    said = (
        *(run.title, run.ticket_id, run.run_id, run.agent, run.model, run.prompt_version),
        *(run.code_version, run.ending_reason, run.parent_run_id, *labels),
    )
    return [text for text in said if text]


def unread_messages(run_pk: int) -> list[str]:
    """The texts of messages that no round of the run added."""
    with connection.cursor() as cursor:
        cursor.execute(_UNREAD, (run_pk, run_pk))
        return [content for (content,) in cursor.fetchall()]


_UNREAD = """
SELECT content FROM transcripts_message WHERE run_id = %s AND content <> '' AND ident NOT IN (
    SELECT placed ->> 1 FROM transcripts_round r, jsonb_array_elements(r.added) placed
    WHERE r.run_id = %s
) ORDER BY ident
"""


def round_numbers(run_pk: int) -> list[int]:
    """All rounds of a run, ascending."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT number FROM transcripts_round WHERE run_id = %s ORDER BY number", (run_pk,)
        )
        return [number for (number,) in cursor.fetchall()]


def as_places(run_pk: int, numbers: Iterable[int]) -> list[Place]:
    return [(run_pk, number) for number in numbers]
