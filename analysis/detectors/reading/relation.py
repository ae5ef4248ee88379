"""Whether a change and a read are about the same thing of the world."""

from __future__ import annotations

from typing import Any

from analysis.detectors.reading import CallReading
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
    if not change.nature.things & read.nature.things:
        return False
    changed, asked = values_of(change.args), values_of(read.args)
    return not changed or not asked or not changed.isdisjoint(asked)


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
