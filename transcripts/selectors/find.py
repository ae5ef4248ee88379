"""Find in one run: every text of every round, in the database.

Words count as in the search of the run list: case, accents and width make no difference, and JSON's
escapes are read as what they stand for. Postgres finds what is written alike; texts in which the
words may be written otherwise are looked through here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection, transaction

from transcripts.models import Message, Round, Run
from transcripts.text_index.places import spans_of
from transcripts.text_index.words import folded, readable

SHOWN_HITS = 50
BEFORE, EXCERPT = 60, 180
# Where words may be written otherwise: in JSON, as an escape.
ESCAPED = frozenset('"\\/\n\t')
# Texts that are taken at once to be looked through here, and letters of them in which one looks
# for the first place.
AT_ONCE = 1_000
STRETCH = 5_000


@dataclass(frozen=True)
class Hit:
    """One text that holds the words. `round` is where it stands; None for a message no round
    added.
    """

    round: int | None
    part: str
    excerpt: str


@dataclass(frozen=True)
class Hits:
    """Hits in order of rounds, from hit `start` on; `texts` and `rounds` count all of them."""

    hits: tuple[Hit, ...] = ()
    texts: int = 0
    rounds: int = 0
    start: int = 0

    @property
    def reached(self) -> int:
        """How many there are up to the last of `hits`."""
        return self.start + len(self.hits)


class Place(NamedTuple):
    """A text that holds the words, in order of reading: `order` is its place among the messages
    that its round added, `ident` the name of a message.
    """

    round: int
    part: int
    order: int
    call: int
    ident: str


PARTS = ("message", "error", "reasoning", "reply", "call", "result", "result")
MESSAGE, CALL, RESULT, ORPHAN = 0, 4, 5, 6
# Part, what its rows are told by (round, index, ident), the text, and where from.
_TEXTS = """
SELECT 0, 0, 0, ident, content FROM transcripts_message WHERE run_id = %(run)s
UNION ALL
SELECT v.part, number, 0, '', v.text FROM transcripts_round
CROSS JOIN LATERAL (VALUES (1, error), (2, reasoning), (3, reply)) AS v(part, text)
WHERE run_id = %(run)s AND v.text <> ''
UNION ALL
SELECT v.part, round_number, index, '', v.text FROM transcripts_toolcall
CROSS JOIN LATERAL (VALUES (4, name || ' ' || args), (5, result)) AS v(part, text)
WHERE run_id = %(run)s AND v.text <> ''
UNION ALL
SELECT 6, number, o.place::int, '', o.orphan ->> 'content' FROM transcripts_round
CROSS JOIN LATERAL jsonb_array_elements(orphans) WITH ORDINALITY AS o(orphan, place)
WHERE run_id = %(run)s AND orphans <> '[]'
"""
_PLACES = f"""
SELECT part, number, index, ident, hit, CASE WHEN hit THEN NULL ELSE text END
FROM (
    SELECT *, strpos(lower(text COLLATE), lower(%(words)s COLLATE)) > 0 AS hit
    FROM ({_TEXTS}) AS texts(part, number, index, ident, text)
) AS looked
WHERE hit OR octet_length(text) <> length(text) OR strpos(text, '\\u') > 0
   OR (%(escaped)s AND strpos(text, '\\') > 0)
"""
# A long run is looked through by several processes. Postgres would not do so: it goes by the size
# of tables without the texts that stand beside them.
LONG = 2_000
_TOGETHER = """
SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL min_parallel_index_scan_size = 0
"""
_ADDED = """
SELECT placed ->> 1, min(ARRAY[number, place]) FROM transcripts_round,
    jsonb_array_elements(added) WITH ORDINALITY AS a(placed, place)
WHERE run_id = %s AND placed ->> 1 = ANY(%s) GROUP BY 1
"""
_CALLS = """
SELECT round_number, index, name, args, result FROM transcripts_toolcall
JOIN unnest(%s::int[], %s::int[]) AS w(number, at) ON round_number = number AND index = at
WHERE run_id = %s
"""


def run_find(*, run: Run, words: str, start: int = 0) -> Hits:
    """Where the run holds `words`, from hit `start` on. At most five queries."""
    words = words.replace("\x00", "").strip()
    if not folded(words):
        return Hits()
    places = sorted(_with_rounds(run, list(_places(run, words))))
    start = start if start < len(places) else 0
    shown = places[start : start + SHOWN_HITS]
    texts = _texts(run, shown)
    hits = tuple(
        Hit(place.round or None, PARTS[place.part], _excerpt(texts.get(place, ""), words))
        for place in shown
    )
    return Hits(hits, len(places), len({place.round for place in places} - {0}), start)


def _places(run: Run, words: str) -> Iterator[Place]:
    # Plain letters are compared byte by byte, which takes a third of the time.
    sql = _PLACES.replace("COLLATE", 'COLLATE "C"' if words.isascii() else "")
    wanted, escaped = folded(words), not ESCAPED.isdisjoint(words)
    with transaction.atomic(), connection.cursor() as cursor:
        if run.round_count > LONG:
            cursor.execute(_TOGETHER)
        cursor.execute(sql, {"run": run.pk, "words": words, "escaped": escaped})
        while rows := cursor.fetchmany(AT_ONCE):
            for part, number, index, ident, hit, text in rows:
                if hit or wanted in folded(_readable(part, text)):
                    yield Place(number, part, 0, index, ident)


def _with_rounds(run: Run, places: Sequence[Place]) -> Iterator[Place]:
    """The places, those of messages in the round that added them first."""
    idents = [place.ident for place in places if place.part == MESSAGE]
    added = dict(_rows(_ADDED, (run.pk, idents))) if idents else {}
    for place in places:
        if place.part == MESSAGE and place.ident in added:
            number, order = added[place.ident]
            yield place._replace(round=number, order=order)
        else:
            yield place


def _texts(run: Run, places: Sequence[Place]) -> dict[Place, str]:
    """The whole texts of places. Three queries."""
    found: dict[tuple[int, int, int, str], str] = {}
    idents = [place.ident for place in places if place.part == MESSAGE]
    for ident, content in Message.objects.filter(run=run, ident__in=idents).values_list(
        "ident", "content"
    ):
        found[MESSAGE, 0, 0, ident] = content
    of_rounds = Round.objects.filter(run=run, number__in=[place.round for place in places])
    for number, *texts, orphans in of_rounds.values_list(
        "number", "error", "reasoning", "reply", "orphans"
    ):
        found |= {(part, number, 0, ""): text for part, text in enumerate(texts, 1)}
        for index, orphan in enumerate(orphans, 1):
            found[ORPHAN, number, index, ""] = orphan["content"]
    calls = [(place.round, place.call) for place in places if place.part in (CALL, RESULT)]
    wanted = [number for number, _ in calls], [index for _, index in calls], run.pk
    for number, index, name, args, result in _rows(_CALLS, wanted) if calls else ():
        found[CALL, number, index, ""] = f"{name} {args}"
        found[RESULT, number, index, ""] = result or ""
    return {
        place: _readable(place.part, found.get(_key(place), "")) for place in places
    }  # fmt: skip


def _key(place: Place) -> tuple[int, int, int, str]:
    number = 0 if place.part == MESSAGE else place.round
    return (place.part, number, place.call, place.ident)


def _readable(part: int, text: str) -> str:
    """A text as people read it."""
    if part != CALL:
        return readable(text)
    name, _, args = text.partition(" ")
    return f"{name} {readable(args)}"


def _excerpt(text: str, words: str) -> str:
    """The text around the first place of the words."""
    at = 0
    for start in range(0, len(text), STRETCH):
        # The end of one stretch is the beginning of the next, so that no place is cut in two.
        stretch = text[start : start + STRETCH + 4 * len(words)]
        if folded(words) in folded(stretch):
            at = start + next((first for first, _ in spans_of(stretch, words)), 0)
            break
    begin = max(at - BEFORE, 0)
    return ("…" if begin else "") + text[begin : begin + EXCERPT]


def _rows(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())
