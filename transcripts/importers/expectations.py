"""What msgspec says of a value that does not fit, in words for people who did not write the types.

Its messages are of few shapes (`src/msgspec/_core.c`); what is of none of them is passed on
without its code marks.
"""

from __future__ import annotations

import re

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "str": "text",
    "array": "a list",
    "object": "an object",
    "datetime": "a date with a time",
}
_BOUNDS = {">=": "of {} or more", "<=": "of {} or less", ">": "above {}", "<": "below {}"}
_EXPECTED = re.compile(
    r"Expected `(?P<kinds>[^`]+)`"
    r"(?:(?P<length> of length)? (?P<sign>[<>]=?) (?P<bound>-?[0-9.e+]+))?"
    r"(?:, got `(?P<got>[^`]+)`)?"
)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")
_MOMENT = "Invalid RFC3339 encoded datetime"


def in_words(said: str) -> str:
    """ "Expected `int` >= 1" as "expected a whole number of 1 or more"."""
    if match := _EXPECTED.fullmatch(said):
        return _expected(match)
    if match := _MISSING.fullmatch(said):
        return f'the field "{match["name"]}" is missing'
    if said == _MOMENT:
        return "expected a date with a time, as 2026-09-28T10:02:00Z"
    return said[:1].lower() + said[1:].replace("`", '"')


def _expected(match: re.Match[str]) -> str:
    words = f"expected {_kinds(match['kinds'])}"
    if match["bound"]:
        amount = match["bound"]
        if match["length"]:
            unit = "entry" if match["kinds"].startswith("array") else "character"
            many = "entries" if unit == "entry" else "characters"
            amount = f"{amount} {unit if amount == '1' else many}"
        words = f"{words} {_BOUNDS[match['sign']].format(amount)}"
    return f"{words}, got {_kinds(match['got'])}" if match["got"] else words


def _kinds(listed: str) -> str:
    """`int | null` as "a whole number or null"."""
    names = listed.replace("bool", "true | false").split(" | ")
    *others, last = [_KINDS.get(name, name) for name in names]
    return f"{', '.join(others)} or {last}" if others else last
