"""JSON text to values, refusing what would be lost or could not be stored, with the exact place.

Numbers with a fraction become `Decimal`, so that arguments keep the digits that the model wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

# Deeper than any transcript seen (12), far below where recursive readers of the same value give up.
MAX_DEPTH = 200

_NUL_ESCAPE = "\\u0000"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|-?[0-9][0-9.eE+-]*|-?Infinity|NaN|true|false|null', re.DOTALL
)


class ParseError(ValueError):
    """Refused JSON text; `line` and `column` count from 1, `field` is a JSON path or empty."""

    def __init__(self, error: str, line: int, column: int, field: str = "") -> None:
        super().__init__(error)
        self.error = error
        self.line = line
        self.column = column
        self.field = field


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON value, and what had to be replaced in its texts so that they can be stored.

    `literal`: it was written as a Python literal.
    """

    value: Any
    nuls: int = 0
    surrogates: int = 0
    literal: bool = False


def parse(text: str) -> Parsed:
    """Read one JSON value. Raises ParseError with the place.

    NUL characters and lone surrogates, which no database column takes, are replaced by U+2400 and
    U+FFFD and counted. NaN, Infinity, keys that occur twice, and nesting beyond MAX_DEPTH are
    refused.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(error) from None
    except (_RefusedError, RecursionError, ArithmeticError, ValueError) as error:
        raise _located(text, error) from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(value):
        raise _located(text, RecursionError())
    if _NUL_ESCAPE in text or _SURROGATE_ESCAPE.search(text):
        return _storable(value)
    return Parsed(value)


class _RefusedError(Exception):
    """Something that JSON or our record does not hold; the place is looked up afterwards."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise _RefusedError
    return read


def _constant(name: str) -> Any:
    raise _RefusedError(name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=Decimal, parse_constant=_constant
)


# What Python's reader says, for who did not write the file by hand.
_SYNTAX = {
    "Expecting value": "a value is missing here",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing here",
    "Expecting ':' delimiter": "a colon is missing here",
    "Expecting ',' delimiter": "a comma or the closing bracket is missing here",
    "Extra data": "the JSON is over, and more follows",
}


def _syntax_error(error: json.JSONDecodeError) -> ParseError:
    if not error.doc.strip():
        return ParseError("there is no content", 1, 1)
    message = _SYNTAX.get(error.msg) or error.msg[0].lower() + error.msg[1:]
    if error.msg.startswith("Unterminated string"):
        message = "the JSON breaks off within the text that starts here"
    elif error.pos >= len(error.doc.rstrip()):
        message = f"the JSON breaks off ({message})"
    elif error.pos == len(error.doc) - len(error.doc.lstrip()):
        message = "this is not JSON"
    return ParseError(message, error.lineno, error.colno)


def _located(text: str, error: Exception) -> ParseError:
    """Say where the careful scan finds the fault that the fast parser met."""
    for fault, at, field in _faults(text):
        line = text.count("\n", 0, at) + 1
        return ParseError(fault, line, at - text.rfind("\n", 0, at), field)
    return ParseError(f"the JSON cannot be read ({error})", 1, 1)


def _faults(text: str) -> Iterator[tuple[str, int, str]]:
    """Faults of valid-looking JSON text in order: (what, offset, JSON path)."""
    path: list[str | int] = []
    keys: list[set[str] | None] = []
    expects_key = False
    pending = ""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            keys.append(set() if token == "{" else None)
            path.append("" if token == "{" else 0)
            expects_key = token == "{"
            if len(keys) > MAX_DEPTH:
                yield (
                    f"nested deeper than {MAX_DEPTH} levels",
                    match.start(),
                    _field(path[:8]) + "…",
                )
                return
        elif token in "}]":
            if keys:
                keys.pop()
                path.pop()
            expects_key = False
        elif token == ",":
            expects_key = bool(keys) and keys[-1] is not None
            if path and isinstance(path[-1], int):
                path[-1] += 1
        elif token == ":":
            expects_key = False
        elif token[0] == '"' and expects_key and keys and keys[-1] is not None:
            pending = json.loads(token, strict=False)
            path[-1] = pending
            if pending in keys[-1]:
                yield f"the key {_shown(pending)} occurs twice", match.start(), _field(path)
            keys[-1].add(pending)
        elif token in ("NaN", "Infinity", "-Infinity"):
            yield f"{token} is not a JSON number", match.start(), _field(path)
        elif token[0] in "-0123456789" and not _readable_number(token):
            yield "the number is too long to be read", match.start(), _field(path)


def _readable_number(token: str) -> bool:
    try:
        if token.lstrip("-").isdigit():
            int(token)
        else:
            Decimal(token)
    except (ValueError, ArithmeticError):
        return False
    return True


def _field(path: list[str | int]) -> str:
    """A JSON path: `$.rounds[2].stop`; keys that are no plain names in brackets."""
    shown = "$"
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif step.isidentifier():
            shown += f".{step}"
        elif step:
            shown += f"[{_shown(step)}]"
    return shown


def _shown(key: str) -> str:
    text = _UNSTORABLE.sub("\ufffd", key)
    return json.dumps(text if len(text) <= 60 else text[:60] + "…", ensure_ascii=False)


def _too_deep(value: Any) -> bool:
    layer: list[Any] = [[value]]
    for _ in range(MAX_DEPTH + 2):
        below: list[Any] = []
        for item in layer:
            children = item.values() if isinstance(item, dict) else item
            below.extend(child for child in children if isinstance(child, dict | list))
        if not below:
            return False
        layer = below
    return True


def _storable(value: Any) -> Parsed:
    counts = {"nuls": 0, "surrogates": 0}

    def text(found: str) -> str:
        nuls = found.count("\x00")
        counts["nuls"] += nuls
        replaced = found.replace("\x00", "\u2400") if nuls else found
        replaced, surrogates = _UNSTORABLE.subn("\ufffd", replaced)
        counts["surrogates"] += surrogates
        return replaced

    def walk(found: Any) -> Any:
        if isinstance(found, str):
            return text(found)
        if isinstance(found, list):
            return [walk(item) for item in found]
        if isinstance(found, dict):
            shown = {text(key): walk(item) for key, item in found.items()}
            if len(shown) != len(found):
                raise ParseError(
                    "two keys of an object differ in unstorable characters alone", 1, 1
                )
            return shown
        return found

    return Parsed(walk(value), counts["nuls"], counts["surrogates"])
