"""Results as lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def report(name: str, result: Mapping[str, Any], whole: bool) -> str:
    """One line for a case of a suite; for a case alone, a line for each expectation as well."""
    if result["state"] == "error":
        return f"ERROR {name}: {result['error']}"
    word = "ok   " if result["state"] == "passed" else "FAIL "
    first = next((e for e in result["each"] if e["state"] == "failed"), result["each"][0])
    ended = first["reason"] if first["ending"] == "open" else (
        f"{first['ending'].replace('_', ' ')} at round {first['rounds']}"
        + (f": {first['reason']}" if first["reason"] else "")
    )  # fmt: skip
    line = f"{word} {result['case'] or name}  {ended}"
    if result["runs"] > 1:
        low, high = result["interval"]
        rate = f"{result['passed']} of {result['runs']} runs passed"
        line = f"{word} {result['case'] or name}  {rate} ({low:.0%} to {high:.0%})"
    failed = [entry for entry in result["expectations"] if entry["state"] == "failed"]
    if not whole:
        if failed and failed[0]["first"]["why"] not in line:
            line += f"  [{failed[0]['id']}: {failed[0]['first']['why']}]"
        return line
    lines = [line]
    for entry in result["expectations"]:
        mark = {"passed": "ok  ", "failed": "FAIL", "not_judged": "?   "}[entry["state"]]
        why = entry["first"]["why"] if entry["first"] else ""
        low, high = entry["interval"]
        rate = "" if result["runs"] == 1 else (
            f"  {entry['passed']}/{entry['runs']} ({low:.0%} to {high:.0%})"
        )  # fmt: skip
        lines.append(f"  {mark} {entry['text']}{rate}" + (f"  · {why}" if why else ""))
    troubled = next((entry for entry in result["each"] if entry["trouble"]), None)
    if troubled:
        lines.append(f"  run {troubled['run']}: {troubled['trouble']}")
    diverged = result["divergence"]
    if diverged:
        got = "nothing" if diverged["got"] is None else repr(diverged["got"])
        lines.append(
            f"  first divergence: run {diverged['run']}, round {diverged['round']},"
            f" {diverged['what']}: expected {diverged['expected']!r}, got {got}"
        )
    if "against" in result:
        change = "" if result["against"]["same_case"] else ", of another state of this case"
        lines.append(f"  against the accepted version{change}: {result['against']['sentence']}")
    return "\n".join(lines)
