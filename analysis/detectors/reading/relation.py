"""Whether a change and a read are about the same thing of the world."""

from __future__ import annotations

from typing import Any

import re2

from analysis.detectors.reading import CallReading
from analysis.detectors.reading.keys import parse_json
from analysis.detectors.reading.tools import Effect

# A number or a word of this many characters names a thing; shorter ones (a page, a flag) do not.
SHORTEST_NAME = 2
MOST_VALUES = 40


def is_read(call: CallReading) -> bool:
    """A call that looks at the world, as far as its tool's name tells."""
    return call.effect == Effect.READS and call.answered


def about_the_same(change: CallReading, read: CallReading) -> bool:
    """Both are about one kind of thing by their names, and share a value where both have any.

    "reset_vpn_profile(4417)" and "check_vpn_status(4417)" are; "update_order(7)" and
    "get_user(3)" are not.
    """
    changed, asked = values_of(change.args), values_of(read.args)
    if not change.nature.things & read.nature.things:
        # A path names one thing whatever the tools are called.
        return any(_is_path(value) for value in changed & asked)
    return not changed or not asked or not changed.isdisjoint(asked)


def _is_path(value: str) -> bool:
    return " " not in value and ("/" in value or "\\" in value)


def values_of(args: Any) -> set[str]:
    """The plain values in arguments, as text, from at most the first MOST_VALUES fields and
    items.
    """
    found: set[str] = set()
    waiting = [args]
    seen = 0
    while waiting and seen < MOST_VALUES:
        value = waiting.pop()
        seen += 1
        if isinstance(value, dict):
            waiting.extend(list(value.values())[:MOST_VALUES])
        elif isinstance(value, list):
            waiting.extend(value[:MOST_VALUES])
        elif isinstance(value, str) and SHORTEST_NAME <= len(value) <= 200:
            found.add(value.strip().lower())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            text = str(value)
            if len(text) >= SHORTEST_NAME:
                found.add(text)
    return found


_PAIR = re2.compile(
    r"[\"']?\b([A-Za-z][\w -]{0,30}?)[\"']?\s?[:=]\s?[\"']?([^\"',;:=\n<>{}\[\]|]{1,80})"
)


def fields_of(text: str) -> dict[str, str]:
    """Field names (lower case) and plain values that an answer shows, JSON or not; the first of
    each.
    """
    if text.lstrip()[:1] in ("{", "["):
        try:
            return dict(_plain_fields(parse_json(text)))
        except ValueError:
            pass
    found: dict[str, str] = {}
    for pair in _PAIR.finditer(text):
        if len(found) >= MOST_VALUES:
            break
        found.setdefault(pair.group(1).strip().lower(), pair.group(2).strip().rstrip("."))
    return found


def _plain_fields(value: Any) -> list[tuple[str, str]]:
    """Last come the outer fields, so that they win."""
    found: list[tuple[str, str]] = []
    waiting = [value]
    while waiting and len(found) < MOST_VALUES:
        each = waiting.pop(0)
        if isinstance(each, dict):
            for name, inner in each.items():
                if isinstance(inner, dict | list):
                    waiting.append(inner)
                elif inner is not None:
                    found.append((str(name).lower(), str(inner)))
        elif isinstance(each, list):
            waiting.extend(each[:MOST_VALUES])
    return found[::-1]
