"""Finds which messages are new, which repeat a round of the run, and writes what is left.

A message whose text is a round's reply or a call's result, word for word, has no text of its own:
it says which. Of several rounds that say the same it names the first, so that it does not matter
which came first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from django.db import connection

from transcripts.record import Message, tool_call_part
from transcripts.services import rows
from transcripts.services.content import (
    NOT_THE_MODEL,
    TOOL_ROLES,
    Arrived,
    is_reply,
    is_result,
)
from transcripts.services.run_rounds import RoundChanges

Place = tuple[int, int]


@dataclass
class MessageChanges:
    """Messages to be written, by stand-in: `whole` ones with text to be masked, and repeats of
    rounds.
    """

    whole: dict[str, tuple[Message, str]] = field(default_factory=dict)
    repeats: dict[str, tuple[Message, str]] = field(default_factory=dict)
    renamed: int = 0


@dataclass
class _Origins:
    """The first round that replied, and the first call that was answered with, a text; by its
    digest.
    """

    replies: dict[str, int] = field(default_factory=dict)
    results: dict[str, Place] = field(default_factory=dict)

    def add_reply(self, digest: str, number: int) -> None:
        if digest and number < self.replies.get(digest, number + 1):
            self.replies[digest] = number

    def add_result(self, digest: str, place: Place) -> None:
        if digest and (digest not in self.results or place < self.results[digest]):
            self.results[digest] = place


_THERE = "SELECT ident, digest FROM transcripts_message WHERE run_id = %s AND ident = ANY(%s)"
_REPLIES = """
SELECT reply_digest, min(number) FROM transcripts_round
WHERE run_id = %s AND reply_digest = ANY(%s) AND reply_digest <> '' AND number <> ALL(%s)
GROUP BY reply_digest
"""
_RESULTS = """
SELECT DISTINCT ON (result_digest) result_digest, round_number, index FROM transcripts_toolcall
WHERE run_id = %s AND result_digest = ANY(%s) AND result_digest <> '' AND round_number <> ALL(%s)
ORDER BY result_digest, round_number, index
"""


def compare_messages(*, run_pk: int | None, changes: RoundChanges) -> MessageChanges:
    """Which of the arrived messages are not there yet, or, where the sender named them, say
    something else.
    """
    arrived = changes.arrived
    found = MessageChanges()
    if not arrived.messages:
        return found
    there: dict[str, str] = {}
    if run_pk is not None:
        there = dict(rows.fetch(_THERE, (run_pk, list(arrived.messages))))
    fresh = {
        ident: (message, digest)
        for ident, (message, digest) in arrived.messages.items()
        if ident not in there or _says_other(message, there[ident], digest)
    }
    found.renamed = sum(ident in there for ident in fresh)
    origins = _origins(arrived, run_pk, [digest for _, digest in fresh.values()], changes)
    for ident, (message, digest) in fresh.items():
        repeat = _as_repeat(message, digest, origins)
        if repeat is None:
            found.whole[ident] = (message, digest)
        else:
            found.repeats[ident] = (repeat, digest)
    return found


def _says_other(message: Message, there: str, digest: str) -> bool:
    """Whether a named message has another text than before; a mere reference has none
    to compare.
    """
    return bool(message.named and there and digest and there != digest)


def write_messages(
    *,
    writes: rows.Writes,
    found: MessageChanges,
    masked: Iterable[Message],
    masked_repeats: Iterable[Message],
) -> None:
    """Write new messages; `masked` are those of `found.whole`, in that order, and so for the
    repeats.
    """
    written = [
        rows.message_row(message, ident=ident, digest=digest)
        for part, by_ident in ((masked, found.whole), (masked_repeats, found.repeats))
        for message, (ident, (_, digest)) in zip(part, by_ident.items(), strict=True)
    ]
    writes.messages(written)


def _origins(
    arrived: Arrived, run_pk: int | None, digests: list[str], changes: RoundChanges
) -> _Origins:
    origins = _Origins()
    for number, digest in arrived.replies.items():
        origins.add_reply(digest, number)
    for place, digest in arrived.results.items():
        origins.add_result(digest, place)
    if run_pk is not None and digests:
        arguments = (run_pk, digests, changes.rewritten)
        for digest, number in rows.fetch(_REPLIES, arguments):
            origins.add_reply(digest, number)
        for digest, number, index in rows.fetch(_RESULTS, arguments):
            origins.add_result(digest, (number, index))
    return origins


def _as_repeat(message: Message, digest: str, origins: _Origins) -> Message | None:
    """The message as a mere reference to the round that says the same, or None."""
    name = message.name if message.named else ""
    bare = replace(
        message, content="", name=name, opaque=(), call_id="", reply_of=None, result_of=None
    )
    if message.reply_of is not None:
        return replace(bare, reply_of=origins.replies.get(digest, message.reply_of))
    if message.result_of is not None:
        return replace(bare, result_of=origins.results.get(digest, message.result_of))
    if digest in origins.replies and is_reply(message):
        return replace(bare, reply_of=origins.replies[digest])
    if digest in origins.results and is_result(message):
        return replace(bare, result_of=origins.results[digest])
    return None


_NOW_REPLIES = """
UPDATE transcripts_message m
SET content = '', name = '', opaque = '[]', call_id = '', reply_of = v.number
FROM json_to_recordset(%s::json) AS v(digest text, number integer)
WHERE m.run_id = %s AND m.digest = v.digest AND m.digest <> '' AND m.result_round IS NULL
  AND m.reply_of IS NULL AND m.role <> ALL(%s)
"""
_NOW_RESULTS = """
UPDATE transcripts_message m
SET content = '', name = '', opaque = '[]', call_id = '',
    result_round = v.number, result_index = v.index
FROM json_to_recordset(%s::json) AS v(digest text, number integer, index integer)
WHERE m.run_id = %s AND m.digest = v.digest AND m.digest <> '' AND m.reply_of IS NULL
  AND m.result_round IS NULL AND (m.call_id <> '' OR m.role = ANY(%s))
"""
_FIRST_REPLIES = """
UPDATE transcripts_message m SET reply_of = v.number
FROM json_to_recordset(%s::json) AS v(digest text, number integer)
WHERE m.run_id = %s AND m.digest = v.digest AND m.reply_of > v.number
"""
_FIRST_RESULTS = """
UPDATE transcripts_message m SET result_round = v.number, result_index = v.index
FROM json_to_recordset(%s::json) AS v(digest text, number integer, index integer)
WHERE m.run_id = %s AND m.digest = v.digest
  AND (m.result_round, m.result_index) > (v.number, v.index)
"""


def link_messages(*, writes: rows.Writes, changes: RoundChanges, late: bool) -> None:
    """Take the text from messages that were there before the round that they repeat.

    `late`: some of the rounds come before rounds that were there, so they may be the first to say
    it.
    """
    origins = _Origins()
    for number in changes.written:
        origins.add_reply(changes.arrived.replies[number], number)
        for index in range(len(changes.arrived.rounds[number].calls)):
            origins.add_result(changes.arrived.results[number, index], (number, index))
    replies = [{"digest": digest, "number": n} for digest, n in origins.replies.items()]
    results = [
        {"digest": digest, "number": n, "index": index}
        for digest, (n, index) in origins.results.items()
    ]
    run_pk = writes.run_pk
    if replies:
        writes.add(_NOW_REPLIES, (rows.json_of(replies), run_pk, list(NOT_THE_MODEL)))
    if results:
        writes.add(_NOW_RESULTS, (rows.json_of(results), run_pk, list(TOOL_ROLES)))
    if late and replies:
        writes.add(_FIRST_REPLIES, (rows.json_of(replies), run_pk))
    if late and results:
        writes.add(_FIRST_RESULTS, (rows.json_of(results), run_pk))


_REPEATING = """
SELECT ident, digest, reply_of, result_round, result_index FROM transcripts_message
WHERE run_id = %s AND (reply_of = ANY(%s) OR result_round = ANY(%s))
"""
_OLD_REPLIES = "SELECT number, reply FROM transcripts_round WHERE run_id = %s AND number = ANY(%s)"
_OLD_CALLS = """
SELECT round_number, index, call_id, name, args, result FROM transcripts_toolcall
WHERE run_id = %s AND round_number = ANY(%s) ORDER BY round_number, index
"""


def keep_old_texts(*, run_pk: int, changes: RoundChanges) -> None:
    """Give messages their own text where the round that they repeat is about to say something
    else.
    """
    numbers = changes.rewritten
    if not numbers:
        return
    repeating = rows.fetch(_REPEATING, (run_pk, numbers, numbers))
    if not repeating:
        return
    origins = _origins(changes.arrived, run_pk, [row[1] for row in repeating], changes)
    replies = dict(rows.fetch(_OLD_REPLIES, (run_pk, numbers)))
    calls = {(n, i): rest for n, i, *rest in rows.fetch(_OLD_CALLS, (run_pk, numbers))}
    with connection.cursor() as cursor:
        for ident, digest, reply_of, result_round, result_index in repeating:
            if not digest:
                continue  # a mere reference says what the round says now
            if reply_of is not None:
                parts = [
                    tool_call_part(id_, name, args)
                    for (n, _), (id_, name, args, _) in calls.items()
                    if n == reply_of
                ]
                told = (replies[reply_of], rows.json_of(rows.opaque_parts(parts)), "")
                other: tuple[int | None, ...] = (origins.replies.get(digest), None, None)
            else:
                id_, _, _, result = calls[result_round, result_index]
                told = (result or "", "[]", id_)
                other = (None, *origins.results.get(digest, (None, None)))
            if other != (None, None, None):
                told = ("", "[]", "")
            cursor.execute(_RESTORE, (*told, *other, run_pk, ident))


_RESTORE = """
UPDATE transcripts_message
SET content = %s, opaque = %s, call_id = %s, reply_of = %s, result_round = %s, result_index = %s
WHERE run_id = %s AND ident = %s
"""


def drop_unread(*, run_pk: int, changes: RoundChanges) -> None:
    """Delete messages that no round reads any more since one was replaced, but for those the
    sender named.
    """
    was_read = {
        key
        for number in changes.inputs
        if number in changes.chain
        for _, key in changes.chain[number].added
    }
    if not was_read:
        return
    now = {**changes.chain, **changes.inputs}
    unread = was_read - {key for kept in now.values() for _, key in kept.added}
    if unread:
        rows.execute(
            "DELETE FROM transcripts_message WHERE run_id = %s AND ident = ANY(%s) AND key = ''",
            (run_pk, list(unread)),
        )
