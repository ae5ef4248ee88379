"""The page that shows two runs side by side: from what is compared to its lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from analysis.comparing import Alignment, Kind, Pair, Step, aligned, with_same_answers
from analysis.selectors.run_steps import run_answers, run_steps
from transcripts.cards import RoundCard, round_cards
from transcripts.models import Run
from transcripts.selectors.pages import round_window

# Pairs that one page shows one by one, and how many that are the same stand before the first
# difference.
SHOWN = 40
BEFORE = 2
# So many in a row that are the same, or that one run alone has, are folded into one line.
SMALLEST_FOLD = 4
FOLDED = frozenset((Kind.SAME, Kind.LEFT, Kind.RIGHT))
# Rounds with another answer that are looked at again.
MOST_ANSWERS = 5_000


@dataclass(frozen=True)
class Line:
    """A line of the page: two rounds beside each other, or `count` pairs of one kind, folded; `at`
    is the first pair's place.
    """

    pair: Pair
    at: int
    left: RoundCard | None = None
    right: RoundCard | None = None
    count: int = 1
    until: Pair | None = None
    first_difference: bool = False


class Side(Protocol):
    """A run that is compared, wherever it is kept."""

    def steps(self) -> list[Step]:
        """Its rounds as what is compared."""

    def answers(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        """What came back in these rounds, where they have calls, without what never is the same."""

    def cards(self, numbers: Iterable[int | None]) -> dict[int, RoundCard]:
        """The rounds with these numbers as the page shows them."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of the project."""

    run: Run

    def steps(self) -> list[Step]:
        return run_steps(run=self.run)

    def answers(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        return run_answers(run=self.run, numbers=numbers)

    def cards(self, numbers: Iterable[int | None]) -> dict[int, RoundCard]:
        return _cards(self.run, numbers)


class Comparison:
    """Two runs side by side. Queries are made when a part is asked for, once each."""

    def __init__(self, left: Side, right: Side) -> None:
        self.left, self.right = left, right

    @cached_property
    def alignment(self) -> Alignment:
        found = aligned(self.left.steps(), self.right.steps())
        answers = [pair for pair in found.pairs if pair.kind == Kind.ANSWER]
        return with_same_answers(found, self._same(answers[:MOST_ANSWERS]))

    def _same(self, pairs: Sequence[Pair]) -> set[Pair]:
        """Which pairs of rounds, that ask for the same, got answers that say the same: they differ
        in time stamps, request ids and durations alone.
        """
        if not pairs:
            return set()
        mine = self.left.answers([pair.left for pair in pairs if pair.left])
        theirs = self.right.answers([pair.right for pair in pairs if pair.right])
        return {
            pair
            for pair in pairs
            if pair.left in mine and mine[pair.left] == theirs.get(pair.right or 0)
        }

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many pairs there are of each kind."""
        found = dict.fromkeys((kind.value for kind in Kind), 0)
        for pair in self.alignment.pairs:
            found[pair.kind.value] += 1
        return found

    @property
    def first_pair(self) -> Pair | None:
        """The first pair that is not the same."""
        at = self.alignment.first_difference
        return None if at is None else self.alignment.pairs[at]

    @property
    def start(self) -> int:
        """The pair that the page begins at: just before the first difference."""
        return max(0, (self.alignment.first_difference or 0) - BEFORE)

    def lines(self, start: int, *, whole: bool = False) -> tuple[list[Line], int | None]:
        """Lines from pair `start`, and the pair after them, None at the end; `whole`: none of them
        folded. Four queries at most per run.
        """
        pairs = self.alignment.pairs
        stretches: list[tuple[int, int]] = []
        at, shown = start, 0
        while at < len(pairs) and shown < SHOWN:
            end = at + 1 if whole else self._folded_until(at)
            stretches.append((at, end))
            at, shown = end, shown + 1
        return self._lines(stretches), at if at < len(pairs) else None

    def _folded_until(self, at: int) -> int:
        """The pair after those that are one line with pair `at`. Of rounds that one run alone has
        the first is shown.
        """
        pairs = self.alignment.pairs
        kind = pairs[at].kind
        is_first = at == 0 or pairs[at - 1].kind != kind
        if kind not in FOLDED or (kind != Kind.SAME and is_first):
            return at + 1
        end = at + 1
        while end < len(pairs) and pairs[end].kind == kind:
            end += 1
        return end if end - at >= SMALLEST_FOLD else at + 1

    def _lines(self, stretches: Sequence[tuple[int, int]]) -> list[Line]:
        pairs, odd = self.alignment.pairs, self.alignment.first_difference
        single = [pairs[at] for at, end in stretches if end - at == 1]
        left = self.left.cards(pair.left for pair in single)
        right = self.right.cards(pair.right for pair in single)
        return [
            Line(
                pair=pairs[at],
                at=at,
                left=left.get(pairs[at].left or 0),
                right=right.get(pairs[at].right or 0),
                count=end - at,
                until=pairs[end - 1] if end - at > 1 else None,
                first_difference=at == odd,
            )
            for at, end in stretches
        ]


def _cards(run: Run, numbers: Iterable[int | None]) -> dict[int, RoundCard]:
    spans: list[tuple[int, int]] = []
    for number in sorted({number for number in numbers if number}):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return {card.number: card for card in round_cards(round_window(run=run, spans=spans))}
