"""How figures are taken and printed: the median of several runs, its range, and a target."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure. `target` is in words ("under 3 s"), `met` None where none was set."""

    name: str
    values: Sequence[float]
    unit: str
    target: str = ""
    met: bool | None = None

    def __str__(self) -> str:
        low, middle, high = min(self.values), statistics.median(self.values), max(self.values)
        spread = f" ({shown(low)} to {shown(high)})" if len(self.values) > 1 else ""
        verdict = "" if self.met is None else (", met" if self.met else ", NOT MET")
        goal = f"   target {self.target}{verdict}" if self.target else ""
        return f"{self.name:<58} {shown(middle)}{spread} {self.unit}{goal}"


def under(name: str, values: Sequence[float], limit: float, unit: str) -> Figure:
    """A figure whose median is to stay under `limit`."""
    met = statistics.median(values) < limit
    return Figure(name, values, unit, f"under {shown(limit)} {unit}", met)


def over(name: str, values: Sequence[float], limit: float, unit: str) -> Figure:
    """A figure whose median is to be `limit` or more."""
    met = statistics.median(values) >= limit
    return Figure(name, values, unit, f"{shown(limit)} {unit} or more", met)


def seconds(work: Callable[[], object], *, times: int = 5) -> list[float]:
    """Wall seconds of `work`, `times` times, after one run that is not counted."""
    work()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return taken


def shown(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
