"""A run of a replay as a transcript in Agentdesk's native format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.cases.harness.reading import canonical
from analysis.cases.harness.trace import Trace

OF_THE_RECORD = ("agent", "provider", "model", "currency", "context_window", "tools")
TEXTS_OF_A_ROUND = ("stop", "reply", "model", "error")
COUNTS_OF_A_ROUND = ("tokens_in", "tokens_out")
MEASURES_OF_A_ROUND = ("cost", "duration_ms")


def transcript_of(case: Mapping[str, Any], trace: Trace) -> dict[str, Any]:
    """The run as `agentdesk.run/1`: what the model was shown, replied, and got back."""
    recorded = case["run"]
    limits = recorded.get("limits") or {}
    before: list[int] = []
    rounds = []
    for entry, numbers in zip(trace.rounds, trace.inputs):  # noqa: B905
        rounds.append({**_written_round(entry), "input": input_change(before, numbers)})
        before = numbers
    return {
        "format": "agentdesk.run/1",
        "run_id": f"replay of {recorded.get('run_id', '')}",
        "source_format": "replay",
        **{name: recorded[name] for name in OF_THE_RECORD if recorded.get(name)},
        "limits": {name: limits[name] for name in ("rounds", "seconds") if limits.get(name)},
        # A replay that is still going when its script is over does not go on.
        "ending": "stopped" if trace.ending in ("", "open") else trace.ending,
        "ending_reason": trace.reason,
        "messages": [
            {"key": f"m{number}", "role": role[:500] or "user", "content": text}
            for number, (role, text) in enumerate(trace.messages)
        ],
        "rounds": rounds,
    }


def _written_round(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A round as it would have been recorded: each call's result is what the model was shown of it.

    Where the loop ended before the model saw it, the tool's own answer stands in.
    """
    made = {call["id"]: call for call in entry["made"]}
    calls = []
    for asked in entry["calls"]:
        shown, own = asked.get("shown"), made.get(asked["id"])
        result = shown["text"] if shown else own["result"] if own else None
        flag = shown["is_error"] or None if shown else own["is_error"] if own else None
        args = asked["args"] if isinstance(asked["args"], str) else canonical(asked["args"])
        calls.append({"id": asked["id"], "name": asked["name"], "args": args, "result": result,
                      "is_error": flag, "joined": "id"})  # fmt: skip
    stop_raw = entry["stop_raw"] or entry["stop"]
    return {"round": entry["round"], "stop_raw": stop_raw, **_said(entry), "calls": calls}


def _said(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a round says of itself. A real model's answer may hold anything: what is no figure is
    left out.
    """
    said: dict[str, Any] = {name: entry[name] for name in TEXTS_OF_A_ROUND if entry[name]}
    for name in COUNTS_OF_A_ROUND:
        if type(entry[name]) is int and 0 <= entry[name] < 2**53:
            said[name] = entry[name]
    for name in MEASURES_OF_A_ROUND:
        if type(entry[name]) in (int, float) and 0 <= entry[name] < 1e12:
            said[name] = entry[name]
    return said


def input_change(before: Sequence[int], now: Sequence[int]) -> dict[str, Any]:
    """What of an input is new, and what is gone since the one before, by position.

    Linear: the common head and tail are cut off, and the rest is matched in order.
    """
    head, shortest = 0, min(len(before), len(now))
    while head < shortest and before[head] == now[head]:
        head += 1
    tail = 0
    while tail < shortest - head and before[-1 - tail] == now[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], now[head : len(now) - tail]
    places: dict[int, list[int]] = {}
    for at in range(len(old) - 1, -1, -1):
        places.setdefault(old[at], []).append(at)
    kept: set[int] = set()
    added = []
    reached = -1
    for at, number in enumerate(new):
        stack = places.get(number, [])
        while stack and stack[-1] <= reached:
            stack.pop()
        if stack:
            reached = stack.pop()
            kept.add(reached)
        else:
            added.append({"key": f"m{number}", "at": head + at})
    dropped = [
        {"key": f"m{number}", "at": head + at} for at, number in enumerate(old) if at not in kept
    ]
    return {"added": added, "dropped": dropped}
