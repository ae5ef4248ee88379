"""Found secrets as places in a text, and how overlapping finds become one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Rank(IntEnum):
    """Which rule names the placeholder where two overlap: the more special one."""

    KNOWN = 0
    PROSE = 1
    NAME = 2
    CONTEXT = 3
    FORMAT = 4
    WHOLE = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret at `[start, end)` in characters, found by `rule`, shown as `family`."""

    start: int
    end: int
    rule: str
    family: str
    rank: Rank


def merged(hits: Iterable[Hit]) -> list[Hit]:
    """Hits in order, overlapping ones united under the name of the highest rank, then longest."""
    result: list[Hit] = []
    for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
        if result and hit.start < result[-1].end:
            last = result[-1]
            best = max(last, hit, key=lambda h: (h.rank, h.end - h.start))
            result[-1] = Hit(last.start, max(last.end, hit.end), best.rule, best.family, best.rank)
        else:
            result.append(hit)
    return result
