"""Runs by day as a small drawing, made on the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

HEIGHT = 48
# Of a bar's place, in hundredths; the rest is the gap beside it.
BAR = 80


@dataclass(frozen=True, slots=True)
class Bar:
    """One day: its place and size in the drawing, and what the table says of it."""

    day: date
    runs: int
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Trend:
    """The drawing: `width` and `height` are its view box, `top` the most runs of a day."""

    bars: tuple[Bar, ...]
    width: int
    height: int
    top: int

    @property
    def total(self) -> int:
        return sum(bar.runs for bar in self.bars)

    @property
    def seen(self) -> list[Bar]:
        """The days with runs, the latest first."""
        return [bar for bar in reversed(self.bars) if bar.runs]


def trend_of(days: Sequence[tuple[date, int]]) -> Trend:
    """Bars as high as their day has runs; a day with any can be seen."""
    top = max((runs for _, runs in days), default=0)
    bars = []
    for at, (day, runs) in enumerate(days):
        height = round(max(2.0, HEIGHT * runs / top), 1) if runs else 0.0
        bars.append(Bar(day, runs, at * 100, HEIGHT - height, height))
    return Trend(tuple(bars), len(days) * 100, HEIGHT, top)


def spark_of(counts: Sequence[int]) -> str:
    """The same as one path, for a row: ten units high, ten wide a day."""
    top = max(counts, default=0)
    return "".join(
        f"M{at * 10} 10v-{max(1.0, 10 * runs / top):.1f}h8v{max(1.0, 10 * runs / top):.1f}z"
        for at, runs in enumerate(counts)
        if runs
    )
