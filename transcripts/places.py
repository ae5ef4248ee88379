"""Where in what was sent something stands, in words: the JSON path is for programs."""

from __future__ import annotations

import re

_STEP = re.compile(r"\.(?P<name>[^.\[\]]+)|\[(?P<index>[0-9]+)\]")
_PATH = re.compile(r"(?:^|(?<= ))\$(?P<steps>(?:\.[^.\[\], ]+|\[[0-9]+\])*)$")
# What one of a list is called; of another list it is an entry.
_ONE_OF = {
    "calls": "call",
    "messages": "message",
    "orphans": "answer without a request",
    "rounds": "round",
    "runs": "run",
    "tools": "tool",
}


def place_in_words(at: str) -> str:
    """`run r, $.rounds[0].calls[1].name` as "run r, the 1st round, the 2nd call, “name”".

    Counts as the list does, since what a round says its own number is may be what is wrong.
    What is no JSON path is passed on as it is.
    """
    match = _PATH.search(at)
    if match is None:
        return at
    words: list[str] = []
    for step in _STEP.finditer(match["steps"]):
        if step["name"] is not None:
            words.append(f"“{step['name']}”")
        else:
            last = words.pop().strip("“”") if words and words[-1].startswith("“") else ""
            place = f"the {_ordinal(int(step['index']) + 1)} {_ONE_OF.get(last, 'entry')}"
            words.append(f"{place} of {last}" if last and last not in _ONE_OF else place)
    before = at[: match.start()].rstrip(", ")
    return ", ".join([*([before] if before else []), *words]) or "the whole"


def _ordinal(number: int) -> str:
    """1 as "1st"."""
    teens = 11 <= number % 100 <= 13
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
