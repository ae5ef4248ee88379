"""Two runs, round by round: which rounds ask for the same, and where they first part. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import zip_longest

# Rounds of the stretch in which two runs differ, multiplied: within it they are aligned by what
# they ask for. Loops, which are all alike, take quadratic time.
MOST_CELLS = 400_000


class Kind(StrEnum):
    """How two rounds that stand beside each other compare."""

    SAME = "same"
    ANSWER = "answer"  # they ask for the same, and get another answer
    OTHER = "other"  # they ask for something else
    LEFT = "left"  # only the left run has this round
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Step:
    """One round to compare: its number, what it asks for (calls and stop), what came back."""

    number: int
    asked: Hashable
    came: Hashable


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
    """Put the rounds of two runs beside each other by what they ask for."""
    head = _common(left, right)
    tail = _common(left[head:][::-1], right[head:][::-1])
    a, b = left[head : len(left) - tail], right[head : len(right) - tail]
    by_number = len(a) * len(b) > MOST_CELLS
    pairs = [
        *_beside(left[:head], right[:head]),
        *(_beside(a, b) if by_number else _matched(a, b)),
        *(_beside(left[len(left) - tail :], right[len(right) - tail :])),
    ]
    return Alignment(tuple(pairs), by_number)


def _common(left: Sequence[Step], right: Sequence[Step]) -> int:
    """How many rounds at the beginning ask for the same."""
    count = 0
    for a, b in zip(left, right, strict=False):
        if a.asked != b.asked:
            break
        count += 1
    return count


def _matched(left: Sequence[Step], right: Sequence[Step]) -> Iterator[Pair]:
    matcher = SequenceMatcher(
        None, [step.asked for step in left], [step.asked for step in right], autojunk=False
    )
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        yield from _beside(left[i1:i2], right[j1:j2])


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
