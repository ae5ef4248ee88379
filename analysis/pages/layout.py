"""Which rounds of a run a page holds, and what stands in the place of the others. Pure, and
independent of
the length of the run: head, tail and a window around the anchor; folds and gaps take a line each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from analysis.pages.folds import Fold

Span = tuple[int, int]
# A hole of so few rounds is loaded rather than told.
SMALL_HOLE = 2
# A fold of fewer rounds than this is no shorter than the rounds.
SMALL_FOLD = 3


class Kind(StrEnum):
    """What one item of the page is."""

    ROUNDS = "rounds"
    FOLD = "fold"
    GAP = "gap"
    MISSING = "missing"


@dataclass(frozen=True)
class Item:
    """Rounds `first` to `last` of the run: shown, folded, not loaded, or never received."""

    kind: Kind
    first: int
    last: int
    fold: Fold | None = None

    @property
    def count(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class Sizes:
    """How many lines (a round or a fold) are shown at the head, before and after the anchor, at
    the tail.
    """

    head: int = 2
    before: int = 4
    after: int = 9
    tail: int = 2


class Layout:
    """Lines of a run of `last` rounds.

    `marks` are rounds that stand out of a fold: the first round of a finding, the anchor.
    `missing` are
    rounds that never came.
    """

    def __init__(
        self, *, last: int, folds: Iterable[Fold], marks: Iterable[int], missing: Iterable[Span]
    ) -> None:
        self.last = last
        lines = [Item(Kind.MISSING, max(1, a), min(b, last)) for a, b in missing if a <= last]
        lines += self._fold_lines(folds, sorted(set(marks)), lines)
        self._lines = sorted(lines, key=lambda line: line.first)
        self._starts = [line.first for line in self._lines]

    def around(self, anchor: int, sizes: Sizes = Sizes()) -> list[Item]:
        """The whole page anchored at round `anchor`."""
        if self.last == 0:
            return []
        anchor = min(max(anchor, 1), self.last)
        spans = [
            (1, self._walk(1, 1, sizes.head)),
            (self._walk(anchor, -1, sizes.before + 1), self._walk(anchor, 1, sizes.after + 1)),
            (self._walk(self.last, -1, sizes.tail), self.last),
        ]
        return self._items(1, self.last, _merged(spans))

    def near(self, numbers: Iterable[int]) -> list[Item]:
        """The whole run, of which the first and the last line and each of the rounds with its
        neighbours are shown.
        """
        if self.last == 0:
            return []
        ends = [(1, self._walk(1, 1, 1)), (self._walk(self.last, -1, 1), self.last)]
        spans = [(self._walk(at, -1, 2), self._walk(at, 1, 2)) for at in numbers]
        return self._items(1, self.last, _merged([*ends, *spans]))

    def part(self, first: int, last: int, *, loaded: Sequence[Span]) -> list[Item]:
        """The items of rounds `first` to `last` alone, of which the `loaded` spans are shown."""
        return self._items(first, min(last, self.last), _merged(loaded))

    def exactly(self, first: int, last: int, *, loaded: Sequence[Span]) -> list[Item]:
        """The same, with no small hole filled; `loaded` is ascending and does not overlap."""
        return self._items(first, min(last, self.last), loaded)

    def line_at(self, number: int) -> Item | None:
        """The fold or missing stretch that holds the round, or None."""
        at = bisect_right(self._starts, number) - 1
        if at >= 0 and self._lines[at].last >= number:
            return self._lines[at]
        return None

    def forward(self, number: int, count: int) -> int:
        """The last round of `count` lines from `number` on."""
        return self._walk(number, 1, count)

    def backward(self, number: int, count: int) -> int:
        """The first round of `count` lines up to `number`."""
        return self._walk(number, -1, count)

    def _fold_lines(
        self, folds: Iterable[Fold], marks: list[int], taken: Sequence[Item]
    ) -> list[Item]:
        lines: list[Item] = []
        covered = 0
        for fold in sorted(folds, key=lambda fold: (fold.first, -fold.last)):
            start = max(fold.first, covered + 1)
            stops = [mark for mark in marks if start <= mark <= fold.last]
            for stop in [*stops, min(fold.last, self.last) + 1]:
                clear = not any(a.first < stop and start <= a.last for a in taken)
                if stop - start >= SMALL_FOLD and clear:
                    lines.append(Item(Kind.FOLD, start, stop - 1, fold))
                start = stop + 1
            covered = max(covered, fold.last)
        return lines

    def _walk(self, number: int, step: int, count: int) -> int:
        reached = at = number
        for _ in range(count):
            if not 1 <= at <= self.last:
                break
            line = self.line_at(at)
            reached = at if line is None else line.last if step > 0 else line.first
            at = reached + step
        return reached

    def _items(self, first: int, last: int, spans: Sequence[Span]) -> list[Item]:
        items: list[Item] = []
        at = first
        for span_first, span_last in spans:
            if span_first > at:
                items.append(Item(Kind.GAP, at, min(span_first - 1, last)))
            items += self._shown(max(at, span_first), min(span_last, last))
            at = max(at, span_last + 1)
        if at <= last:
            items.append(Item(Kind.GAP, at, last))
        return items

    def _shown(self, first: int, last: int) -> list[Item]:
        items: list[Item] = []
        at = first
        while at <= last:
            line = self.line_at(at)
            if line is not None:
                items.append(Item(line.kind, at, min(line.last, last), line.fold))
                at = items[-1].last + 1
                continue
            until = at
            while until < last and self.line_at(until + 1) is None:
                until += 1
            items.append(Item(Kind.ROUNDS, at, until))
            at = until + 1
        return items


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Spans in order, joined where the hole between two is too small to tell."""
    merged: list[Span] = []
    for first, last in sorted(spans):
        if merged and first - merged[-1][1] - 1 <= SMALL_HOLE:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged
