"""Results as lines of text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

# A transcript's text must not steer the terminal, nor make a line look other than it is
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
MARKS = {"passed": "ok  ", "failed": "FAIL", "not_judged": "?   "}


def say(text: str) -> None:
    """Print text that may hold anything, to a terminal of any encoding."""
    shown = UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(shown.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def report(name: str, result: Mapping[str, Any], whole: bool) -> str:
    """One line for a case of a suite; for a case alone, a line for each expectation as well."""
    if result["state"] == "error":
        return f"ERROR {name}: {result['error']}"
    if whole:
        return "\n".join([head(name, result), *lines_below(result)])
    line = head(name, result)
    failed = [entry for entry in result["expectations"] if entry["state"] == "failed"]
    if failed and failed[0]["first"]["why"] not in line:
        line += f"  [{failed[0]['id']}: {failed[0]['first']['why']}]"
    return line


def head(name: str, result: Mapping[str, Any]) -> str:
    word = "ok   " if result["state"] == "passed" else "FAIL "
    if result["runs"] > 1:
        low, high = result["interval"]
        rate = f"{result['passed']} of {result['runs']} runs passed ({low:.0%} to {high:.0%})"
        return f"{word} {result['case'] or name}  {rate}"
    (run,) = result["each"]
    ended = f"{run['ending'].replace('_', ' ')} at round {run['rounds']}"
    if run["ending"] == "open":
        ended = run["reason"]
    elif run["reason"]:
        ended += f": {run['reason']}"
    return f"{word} {result['case'] or name}  {ended}"


def lines_below(result: Mapping[str, Any]) -> Iterator[str]:
    for entry in result["expectations"]:
        line = f"  {MARKS[entry['state']]} {entry['text']}"
        if result["runs"] > 1:
            low, high = entry["interval"]
            line += f"  {entry['passed']}/{entry['runs']} ({low:.0%} to {high:.0%})"
        yield line + (f"  · {entry['first']['why']}" if entry["first"] else "")
    troubled = next((run for run in result["each"] if run["trouble"]), None)
    if troubled:
        yield f"  run {troubled['run']}: {troubled['trouble']}"
    diverged = result["divergence"]
    if diverged:
        got = "nothing" if diverged["got"] is None else repr(diverged["got"])
        place = f"run {diverged['run']}, round {diverged['round']}, {diverged['what']}"
        yield f"  first divergence: {place}: expected {diverged['expected']!r}, got {got}"
    if "against" in result:
        change = "" if result["against"]["same_case"] else ", of another state of this case"
        yield f"  against the accepted version{change}: {result['against']['sentence']}"
