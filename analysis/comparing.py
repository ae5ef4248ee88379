"""Two runs, round by round: which rounds ask for the same, and where they first part. Pure."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest

from analysis.aligning import matched


class Kind(StrEnum):
    """How two rounds that stand beside each other compare."""

    SAME = "same"
    ANSWER = "answer"  # they ask for the same, and get another answer
    OTHER = "other"  # they ask for something else
    LEFT = "left"  # only the left run has this round
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Step:
    """One round to compare: its number, what it asks for (calls and stop), what came back, and of
    what it asks the tools alone.
    """

    number: int
    asked: Hashable
    came: Hashable
    tools: Hashable = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rounds beside each other, by number; None where a run has none there."""

    kind: Kind
    left: int | None
    right: int | None


@dataclass(frozen=True)
class Alignment:
    """All pairs in order. `by_number`: a stretch was too long to be aligned by what is asked for,
    so its rounds stand beside each other by their place in it.
    """

    pairs: tuple[Pair, ...]
    by_number: bool = False

    @property
    def first_difference(self) -> int | None:
        """The index of the first pair that is not the same."""
        return next((at for at, pair in enumerate(self.pairs) if pair.kind != Kind.SAME), None)


def aligned(left: Sequence[Step], right: Sequence[Step]) -> Alignment:
    """Put the rounds of two runs beside each other by what they ask for; those between by the tools
    that they call.
    """
    found, gave_up = matched([step.asked for step in left], [step.asked for step in right])
    pairs: list[Pair] = []
    i = j = 0
    for next_i, next_j in [*found, (len(left), len(right))]:
        pairs += _between(left[i:next_i], right[j:next_j])
        pairs += _beside(left[next_i : next_i + 1], right[next_j : next_j + 1])
        i, j = next_i + 1, next_j + 1
    return Alignment(tuple(pairs), gave_up)


def with_same_answers(alignment: Alignment, same: Collection[Pair]) -> Alignment:
    """The alignment with some of its pairs taken for the same."""
    pairs = (
        replace(pair, kind=Kind.SAME) if pair in same else pair for pair in alignment.pairs
    )  # fmt: skip
    return Alignment(tuple(pairs), alignment.by_number)


def _between(left: Sequence[Step], right: Sequence[Step]) -> Iterator[Pair]:
    """Rounds that ask for something else: a call of the same tool stands beside it."""
    if len(left) == len(right) or not left or not right:
        yield from _beside(left, right)
        return
    found, _ = matched([step.tools for step in left], [step.tools for step in right])
    i = j = 0
    for next_i, next_j in [*found, (len(left), len(right))]:
        yield from _beside(left[i:next_i], right[j:next_j])
        yield from _beside(left[next_i : next_i + 1], right[next_j : next_j + 1])
        i, j = next_i + 1, next_j + 1


def _beside(left: Sequence[Step], right: Sequence[Step]) -> Iterator[Pair]:
    for a, b in zip_longest(left, right):
        if a is None:
            yield Pair(Kind.RIGHT, None, b.number)
        elif b is None:
            yield Pair(Kind.LEFT, a.number, None)
        elif a.asked != b.asked:
            yield Pair(Kind.OTHER, a.number, b.number)
        else:
            yield Pair(Kind.SAME if a.came == b.came else Kind.ANSWER, a.number, b.number)
