"""Whether a change and a read are about the same thing of the world."""

from __future__ import annotations

from typing import Any

from analysis.detectors.reading import CallReading
from analysis.detectors.reading.keys import parse_json
from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.tools import Effect
from analysis.detectors.reading.values import MOST_VALUES
from analysis.detectors.reading.words import word_set

# Verbs of reads that show the thing itself.
SHOWING = word_set("read cat open view show get diff fetch load head tail print display")


def is_read(call: CallReading) -> bool:
    """A call that looks at the world, as far as its tool's name tells."""
    return call.effect == Effect.READS and call.answered


def about_the_same(change: CallReading, read: CallReading) -> bool:
    """Both are about one kind of thing by their names, and share a value where both have any.

    "reset_vpn_profile(4417)" and "check_vpn_status(4417)" are; "update_order(7)" and
    "get_user(3)" are not.
    """
    if change.nature.things & read.nature.things:
        changed, asked = change.values, read.values
        return not changed or not asked or not changed.isdisjoint(asked)
    # A path names one thing whatever the tools are called; but a test of a file does not show it.
    return not SHOWING.isdisjoint(read.nature.words) and not change.paths.isdisjoint(read.paths)


_PAIR = Pattern(
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
