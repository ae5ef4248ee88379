"""The plain values in arguments, by which two calls can be about one thing."""

from __future__ import annotations

from typing import Any

# A word of this many characters names a thing; shorter ones are flags.
SHORTEST_NAME = 2
MOST_VALUES = 40


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
            found.add(text)
    return found


def is_path(value: str) -> bool:
    return " " not in value and ("/" in value or "\\" in value)
