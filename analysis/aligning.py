"""Which places of two long sequences stand for the same: a common subsequence. Pure.

What stands once in both anchors first (patience diff), so that edits all over two runs of thousands
of rounds part them into short stretches. These are matched by difflib; long ones without an anchor,
such as loops, by their shortest edit script (Myers, "An O(ND) difference algorithm", 1986).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

Match = tuple[int, int]

# Lengths of two stretches, multiplied, up to which difflib takes milliseconds.
MOST_CELLS = 400_000
# Insertions and removals that are looked for between long stretches; the time is quadratic in them.
MOST_EDITS = 600


def matched(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[list[Match], bool]:
    """Pairs of places (in `a`, in `b`) with equal entries, ascending in both; and whether a stretch
    was too long, and too different, to be matched.
    """
    found: list[Match] = []
    gave_up = False
    waiting = [(0, len(a), 0, len(b))]
    while waiting:
        low_a, high_a, low_b, high_b = waiting.pop()
        while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
            found.append((low_a, low_b))
            low_a, low_b = low_a + 1, low_b + 1
        while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
            high_a, high_b = high_a - 1, high_b - 1
            found.append((high_a, high_b))
        part_a, part_b = a[low_a:high_a], b[low_b:high_b]
        if set(part_a).isdisjoint(part_b):
            continue
        anchors = _anchors(part_a, part_b)
        inner = anchors or _without_anchors(part_a, part_b)
        gave_up = gave_up or inner is None
        found += [(low_a + i, low_b + j) for i, j in inner or ()]
        if anchors:
            edges = [(-1, -1), *anchors, (len(part_a), len(part_b))]
            waiting += [
                (low_a + i + 1, low_a + next_i, low_b + j + 1, low_b + next_j)
                for (i, j), (next_i, next_j) in pairwise(edges)
            ]
    return sorted(found), gave_up


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Match]:
    """The longest ascending series of entries that stand once in each."""
    times_a, times_b = Counter(a), Counter(b)
    place_b = {entry: j for j, entry in enumerate(b) if times_b[entry] == 1}
    once = [(i, place_b[e]) for i, e in enumerate(a) if times_a[e] == 1 and e in place_b]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for at, (_, j) in enumerate(once):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [at]
    series: list[Match] = []
    at = last[-1] if last else -1
    while at >= 0:
        series.append(once[at])
        at = before[at]
    return series[::-1]


def _without_anchors(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Match] | None:
    if len(a) * len(b) > MOST_CELLS:
        return by_edits(a, b)
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return [(i + k, j + k) for i, j, size in blocks for k in range(size)]


def by_edits(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Match] | None:
    """The matches of a shortest edit script; None where it is longer than `MOST_EDITS`.

    `reached[k]` is how far in `a` one comes on diagonal k (`a`'s place less `b`'s) with so many
    edits; all of them are kept to walk back.
    """
    reached = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(MOST_EDITS + 1):
        history.append(dict(reached))
        for k in range(-edits, edits + 1, 2):
            i = _step(reached, k, edits)
            j = i - k
            while i < len(a) and j < len(b) and a[i] == b[j]:
                i, j = i + 1, j + 1
            reached[k] = i
            if i == len(a) and j == len(b):
                return _walked_back(history, len(a), len(b))
    return None


def _step(reached: dict[int, int], k: int, edits: int) -> int:
    """Where diagonal k is entered: from above (one more of `b`) or from the left (of `a`)."""
    if k == -edits or (k != edits and reached[k - 1] < reached[k + 1]):
        return reached[k + 1]
    return reached[k - 1] + 1


def _walked_back(history: Sequence[dict[int, int]], i: int, j: int) -> list[Match]:
    found: list[Match] = []
    for edits in range(len(history) - 1, -1, -1):
        reached, k = history[edits], i - j
        down = k == -edits or (k != edits and reached[k - 1] < reached[k + 1])
        start_i = reached[k + 1] if down else reached[k - 1]
        start_j = start_i - (k + 1 if down else k - 1)
        first_i = start_i if down else start_i + 1
        while i > first_i:
            i, j = i - 1, j - 1
            found.append((i, j))
        i, j = start_i, start_j
    return found[::-1]
