"""What one run costs its reader in one product, and how that compares with ours."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.figures import Figure

# The fields of a reading, as they are told, with their units.
PARTS = {
    "readable": ("run readable", "s"),
    "last": ("last round", "s"),
    "first": ("first round", "s"),
    "found": ("found, from the last key", "s"),
    "elements": ("most elements", ""),
    "longest": ("longest task", "ms"),
    "heap": ("heap", "MB"),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One run open in a browser; None: it cannot be done, or took longer than its patience.

    `readable`, `last`, `first` (the first round, after the last) and `found` are seconds, the
    first one of each cold start; `longest` is a task's milliseconds, `heap` MB.
    """

    readable: Sequence[float] = ()
    last: float | None = None
    first: float | None = None
    found: float | None = None
    elements: float | None = None
    longest: float | None = None
    heap: float | None = None

    def value(self, part: str) -> float | None:
        """One figure of a part: the median where there are several."""
        if part == "readable":
            return statistics.median(self.readable) if self.readable else None
        value: float | None = getattr(self, part)
        return value


def ratios(name: str, theirs: Reading, ours: Reading) -> Iterator[Figure]:
    """Theirs to ours, for each part that both have and that is not nothing in ours."""
    for part, (words, _) in PARTS.items():
        their, our = theirs.value(part), ours.value(part)
        if their is not None and our:
            yield Figure(f"{name}: {words}", [their / our], "x")
