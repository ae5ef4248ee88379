"""Counting over runs: intervals and exact tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from analysis.cases.harness.reading import SIGNIFICANT


def wilson(passed: int, runs: int, z: float = 1.959964) -> tuple[float, float]:
    """The interval that holds the true pass rate in 95 of 100 such samples (Wilson 1927)."""
    if not runs:
        return 0.0, 1.0
    rate = passed / runs
    scale = 1 + z * z / runs
    middle = (rate + z * z / (2 * runs)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / runs + z * z / (4 * runs * runs))
    low = 0.0 if passed == 0 else max(0.0, middle - half)
    return low, 1.0 if passed == runs else min(1.0, middle + half)


def fisher(passed: int, runs: int, passed_before: int, runs_before: int) -> float:
    """The two-sided probability of Fisher's exact test that both have one pass rate."""
    total, good = runs + runs_before, passed + passed_before

    def log_choose(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    def chance(k: int) -> float:
        ways = log_choose(runs, k) + log_choose(runs_before, good - k)
        return math.exp(ways - log_choose(total, good))

    seen = chance(passed) * (1 + 1e-7)
    possible = range(max(0, good - runs_before), min(runs, good) + 1)
    return min(1.0, math.fsum(p for p in map(chance, possible) if p <= seen))


def compare(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Two results' "passed" of "runs": {"p", "word", "sentence"}; word is what may be claimed."""
    was, of, is_, out_of = before["passed"], before["runs"], now["passed"], now["runs"]
    if not of or not out_of:
        return {"p": None, "word": "not comparable", "sentence": "no runs to compare"}
    p = fisher(is_, out_of, was, of)
    change = f"{was / of:.0%} of {of} → {is_ / out_of:.0%} of {out_of}"
    if is_ * of == was * out_of:
        word = "the same"
    elif p < SIGNIFICANT:
        word = "worse" if is_ * of < was * out_of else "better"
    else:
        word = "no clear change"
    sentence = f"{change}: {word} (exact test, p = {p:.2g})"
    if word == "no clear change":
        told_apart = [
            k
            for k in range(is_ + 1)
            if k * of < was * out_of and fisher(k, out_of, was, of) < SIGNIFICANT
        ]
        if told_apart:
            sentence += f"; {max(told_apart) / out_of:.0%} or less would be called worse"
        else:
            sentence += "; with so few runs no drop could be told from chance"
    return {"p": round(p, 6), "word": word, "sentence": sentence}
