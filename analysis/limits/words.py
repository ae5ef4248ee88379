"""Limits in words: what holds, and where it is from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.detectors.limits import Limits, RepeatMode
from analysis.detectors.reading.tools import Effect
from analysis.detectors.round_limit_passed import DEFAULT_LIMIT
from analysis.limits.forms import EFFECTS, MODES
from analysis.limits.sets import Values
from transcripts.templatetags.measures import lasted, money


def tool_words(values: Values) -> str:
    """What is set for a tool: "polled, changes something, same call up to 5 times"."""
    parts = []
    for name in ("polled", "silent"):
        if name in values:
            parts.append(name if values[name] else f"not {name}")
    if "effect" in values:
        parts.append(EFFECTS[values["effect"]])
    if "repeat_limit" in values:
        parts.append(f"same call up to {times(values['repeat_limit'])}")
    return ", ".join(parts)


def limits_in_words(limits: Limits, detector: str) -> list[str]:
    """Which limits a detector goes by, and what they are here. Empty: it has none."""
    words: dict[str, Callable[[], list[str]]] = {
        "round_limit_passed": lambda: [f"rounds: {round_limit(limits)}"],
        "time_limit_passed": lambda: [f"time: {time_limit(limits)}"],
        "cost_anomaly": lambda: [f"cost: {cost_limit(limits)}"],
        "context_pressure": lambda: [_window(limits)],
        "oversized_result": lambda: [_window(limits)],
        "repeated_call": lambda: [
            f"same call with the same answer: up to {times(limits.repeat_limit)}, counted "
            f"{_mode(limits)}",
            *_tools("polled, never counted", limits.polled),
            *(
                f"{tool}: up to {times(allowed)}"
                for tool, allowed in sorted(limits.repeat_limits.items())
            ),
        ],
        "empty_result": lambda: [
            *_tools("silent by nature, as set", limits.silent),
            *_tools("silent by nature, as learned", _learned_silent(limits)),
        ],
        "slow_tool": lambda: [
            f"{tool}: usually under {lasted(ms)}"
            for tool, ms in sorted(limits.baseline.tool_ms_p95.items())
            if limits.baseline.known
        ],
        "ok_without_proof": lambda: _tools("changing the world, as set", limits.mutating),
        "no_effect": lambda: _tools("changing the world, as set", limits.mutating),
    }
    return words[detector]() if detector in words else []


def value_words(name: str, value: Any) -> str:
    if name in ("seconds", "idle_seconds"):
        return lasted(value * 1000)
    if name == "repeat_mode":
        return MODES[RepeatMode(value)]
    if name == "effect":
        return EFFECTS[value]
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def round_limit(limits: Limits) -> str:
    baseline = limits.baseline
    if limits.rounds is not None:
        return f"{limits.rounds:,}, as set"
    if baseline.known and baseline.rounds_p95 is not None:
        limit = max(1, round(baseline.rounds_p95 * 2))
        return (
            f"as the run says, else {limit:,}, learned: twice what 95% of {baseline.runs:,} "
            "finished runs stay under"
        )
    return f"as the run says, else {DEFAULT_LIMIT}, the default"


def time_limit(limits: Limits) -> str:
    baseline = limits.baseline
    if limits.seconds is not None:
        return f"{lasted(limits.seconds * 1000)}, as set"
    if baseline.known and baseline.seconds_p95 is not None:
        return (
            f"as the run says, else {lasted(baseline.seconds_p95 * 3000)}, learned: three times "
            f"what 95% of {baseline.runs:,} finished runs stay under"
        )
    return "as the run says, else none"


def cost_limit(limits: Limits) -> str:
    baseline = limits.baseline
    if limits.cost is not None:
        return f"{limits.cost}, as set"
    if baseline.known and baseline.cost_median is not None:
        return (
            f"as the run says, else {money(baseline.cost_median * 8, '')}, learned: 8 times the "
            "median of normal runs"
        )
    return "as the run says, else none"


def _window(limits: Limits) -> str:
    said = f"{limits.context_window:,} tokens, as set" if limits.context_window else ""
    return f"context window: as the run says, else {said or 'as the price list says'}"


def _mode(limits: Limits) -> str:
    if limits.repeat_mode == RepeatMode.WINDOW:
        return f"in the last {limits.repeat_window:,} calls"
    return MODES[limits.repeat_mode]


def _learned_silent(limits: Limits) -> frozenset[str]:
    return limits.baseline.silent_tools if limits.baseline.known else frozenset()


def _tools(what: str, names: frozenset[str]) -> list[str]:
    return [f"{what}: {', '.join(sorted(names))}"] if names else []


def times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count:,} times"


def effect_words(effect: Effect) -> str:
    if effect == Effect.CHANGES:
        return EFFECTS["changes"]
    return EFFECTS["reads"] if effect == Effect.READS else "not known"
