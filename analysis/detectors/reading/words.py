"""Pieces of plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

EXCERPT_CHARACTERS = 140

_IRREGULAR = {"reply": "replies", "retry": "retries", "query": "queries"}


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, which are set apart by white space."""
    return frozenset(text.split())


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 round`, `2 rounds`, `1,200 rounds`."""
    many = plural or _IRREGULAR.get(noun) or f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def times(number: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def ordinal(number: int) -> str:
    """`first`, `second`, `third`, then `4th`, `11th`, `22nd`."""
    words = {1: "first", 2: "second", 3: "third"}
    if number in words:
        return words[number]
    ending = (
        "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    )
    return f"{number:,}{ending}"


def listing(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def rounds(numbers: Sequence[int], *, shown: int = 4) -> str:
    """`round 3`, `rounds 3 and 5`, `rounds 3, 5, 7, 9 and 21 more`."""
    if len(numbers) == 1:
        return f"round {numbers[0]}"
    if len(numbers) <= shown:
        return f"rounds {listing([str(number) for number in numbers])}"
    head = ", ".join(str(number) for number in numbers[:shown])
    return f"rounds {head} and {len(numbers) - shown:,} more"


def span(first: int, last: int) -> str:
    """`round 3`, `rounds 3 to 9`."""
    return f"round {first}" if first == last else f"rounds {first} to {last}"


def excerpt(text: str, limit: int = EXCERPT_CHARACTERS) -> str:
    """The beginning of `text` on one line, at most `limit` characters, `…` where it was cut."""
    line = " ".join(text[: limit * 4].split())
    if len(line) > limit:
        return line[: limit - 1].rstrip() + "…"
    return line if len(text) <= limit * 4 else f"{line}…"


def quoted(text: str, limit: int = EXCERPT_CHARACTERS) -> str:
    """The beginning of `text` between “ and ”, which stand around nothing but transcript text:
    pages leave out what is between them for those who may not read transcripts.
    """
    inner = excerpt(text, limit).replace("“", "'").replace("”", "'")
    return f"“{inner}”"


def duration(seconds: float) -> str:
    """`0.4 s`, `38 s`, `4 min 20 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"
