"""What tells that content came before: keyed digests of plain messages and rounds."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from functools import cached_property
from typing import Any

import msgspec

from transcripts.keys import content_digest, content_ident, run_digest
from transcripts.record import (
    Call,
    Message,
    Opaque,
    Round,
    RunRecord,
    reply_message,
    result_message,
)

_encode = msgspec.json.Encoder(decimal_format="string").encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.decode

# What `transcripts.record.tool_call_part` makes.
TOOL_CALL = "tool_call"

# What Postgres cannot hold, and what is shown in its place: the sign for NUL, and the sign for a
# character that is none (half of a UTF-16 pair).
NUL_SIGN = "\u2400"
NO_CHARACTER = "\ufffd"
HALF_PAIRS = re.compile("[\ud800-\udfff]")
# Who writes what a history repeats from the run itself.
NOT_THE_MODEL = frozenset({"system", "developer", "user", "tool", "function"})
TOOL_ROLES = frozenset({"tool", "function"})


class Content:
    """The digests of one run's content; `salt` keeps equal texts of two runs apart."""

    def __init__(self, *, project_id: int, run_id: str) -> None:
        self.salt = run_digest(project_id, run_id)

    def text(self, message: Message) -> str:
        """What a message says. Equal for a round's reply or result and the message that repeats
        it.

        As importers compare them: a reply by its text and its calls (arguments as JSON values), a
        result by its text and its call's id.
        """
        said: tuple[Any, ...]
        if is_result(message):
            said = ("result", message.content, message.call_id)
        elif is_reply(message):
            calls = [_asked(part) for part in message.opaque if part.kind == TOOL_CALL]
            said = ("reply", message.content, calls)
            if not (message.content or calls):
                said = ("reply", message.opaque)
        else:
            said = ("text", message.content, message.opaque)
        return content_ident(_encode(said), salt=self.salt)

    def ident(self, message: Message, text: str) -> str:
        """A message's stand-in in inputs; `text` is its digest, empty for a mere reference."""
        if message.named:
            return self.named(message.key)
        said: tuple[Any, ...]
        if not text:
            said = ("reference", message.reply_of, message.result_of)
        elif is_result(message) or is_reply(message):
            said = ("message", text)
        else:
            said = ("message", text, message.role, message.name)
        return content_ident(_encode(said), salt=self.salt)

    def named(self, key: str) -> str:
        """The stand-in of a message that the sender named."""
        return content_ident(b"key" + _encode(key), salt=self.salt)

    def round_ident(self, round_: Round) -> str:
        """What stands for a round whatever its number; empty where the sender did not name it."""
        return content_ident(b"round" + _encode(round_.key), salt=self.salt) if round_.key else ""

    def reply(self, round_: Round) -> str:
        """A round's reply as a message."""
        return self.text(reply_message(round_))

    def result(self, call: Call) -> str:
        """A call's result as a message; empty for an unanswered call."""
        return "" if call.result is None else self.text(result_message(call))

    def round(self, round_: Round) -> bytes:
        """All of a round but its number, its input and its results, which may come by
        themselves.
        """
        asked = [(call.id, call.name, call.args, call.sub_run) for call in round_.calls]
        said = [getattr(round_, name) for name in _ROUND_CONTENT] + [asked]
        if round_.key:
            said.append(round_.key)
        return content_digest(b"round" + _encode(said), salt=self.salt)

    def header(self, record: RunRecord) -> bytes:
        """What a record says of the run as a whole."""
        said = [getattr(record, name) for name in HEADER_FIELDS]
        return content_digest(b"run" + _encode(said), salt=self.salt)


HEADER_FIELDS = tuple(
    field.name
    for field in dataclasses.fields(RunRecord)
    if field.name not in ("rounds", "messages", "received")
)
_ROUND_CONTENT = tuple(
    field.name
    for field in dataclasses.fields(Round)
    if field.name not in ("number", "input", "calls", "key")
)


@dataclasses.dataclass
class Arrived:
    """A record that came, with the digests of all that it holds."""

    record: RunRecord
    content: Content

    @cached_property
    def rounds(self) -> dict[int, Round]:
        return dict(sorted((round_.number, round_) for round_ in self.record.rounds))

    @cached_property
    def round_digests(self) -> dict[int, bytes]:
        return {number: self.content.round(round_) for number, round_ in self.rounds.items()}

    @cached_property
    def replies(self) -> dict[int, str]:
        """Reply digests by round number."""
        return {number: self.content.reply(round_) for number, round_ in self.rounds.items()}

    @cached_property
    def results(self) -> dict[tuple[int, int], str]:
        """Result digests by round number and call index."""
        return {
            (number, index): self.content.result(call)
            for number, round_ in self.rounds.items()
            for index, call in enumerate(round_.calls)
        }

    @cached_property
    def messages(self) -> dict[str, tuple[Message, str]]:
        """Messages with their text digest, by stand-in. A digest is empty for a mere reference."""
        known: dict[str, tuple[Message, str]] = {}
        for message in self.record.messages:
            text = self._text(message)
            known.setdefault(self.idents[message.key], (message, text))
        return known

    @cached_property
    def idents(self) -> dict[str, str]:
        """Stand-ins by the record's own message keys."""
        return {
            message.key: self.content.ident(message, self._text(message))
            for message in self.record.messages
        }

    def ident_of(self, key: str) -> str:
        """The stand-in of a key in an input; one that the record does not hold is the sender's."""
        return self.idents.get(key) or self.content.named(key)

    def _text(self, message: Message) -> str:
        if message.reply_of is not None:
            return self.replies.get(message.reply_of, "")
        if message.result_of is not None:
            return self.results.get(message.result_of, "")
        return self.content.text(message)


def is_result(message: Message) -> bool:
    """Whether a message is a tool's answer, so that it may repeat a call's result."""
    return message.result_of is not None or bool(message.call_id) or message.role in TOOL_ROLES


def is_reply(message: Message) -> bool:
    """Whether the model wrote a message, so that it may repeat a round's reply."""
    return message.reply_of is not None or message.role not in NOT_THE_MODEL


def _asked(part: Opaque) -> list[Any]:
    """A tool request as a value: id, name, and arguments as JSON where they are."""
    try:
        asked = _decode(part.body)
        said = [asked["id"], asked["name"], asked["args"]]
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError):
        return [part.body]
    # Broken arguments are compared as they are.
    with suppress(msgspec.DecodeError, RecursionError, TypeError, UnicodeEncodeError):
        said[2] = _encode_sorted(_decode(said[2])).decode()
    return said


def storable(record: RunRecord) -> RunRecord:
    """The record without what Postgres cannot hold; the same object when there is nothing of it.

    NUL becomes the sign for it, half of a UTF-16 pair the sign for no character, and a number that
    is none becomes None.
    """
    try:
        plain = _encode([getattr(record, name) for name in HEADER_FIELDS])
        said = [plain, _encode(record.messages), _encode(record.rounds)]
    except UnicodeEncodeError:
        said = [b"\\u0000"]
    if not any(b"\\u0000" in part for part in said) and not _unreal_costs(record.rounds):
        return record
    cleaned: RunRecord = _storable(record)
    return cleaned


def _unreal_costs(rounds: Iterable[Round]) -> bool:
    return any(round_.cost is not None and not round_.cost.is_finite() for round_ in rounds)


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        if type(value) is not str:  # one of the closed sets
            return value
        return HALF_PAIRS.sub(NO_CHARACTER, value.replace("\0", NUL_SIGN))
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    if isinstance(value, tuple):
        return tuple(_storable(part) for part in value)
    if isinstance(value, dict):
        return {_storable(name): _storable(part) for name, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {
            field.name: _storable(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
        return type(value)(**parts)
    return value
