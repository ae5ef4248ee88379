"""What repetition cost: rounds, tokens, money and time after the third identical call."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from analysis.detectors.base import Finding
from analysis.detectors.reading import Reading

REPETITIONS = frozenset({"repeated_call", "alternating_calls", "near_repeat", "unbounded_paging"})


@dataclass(frozen=True, slots=True)
class Wasted:
    """Rounds (numbers), tokens read and written, cost (as the rounds say; where no round of the run
    says one, computed, in US dollars) and seconds that repetition took; None where it is not known.
    """

    rounds: tuple[int, ...] = ()
    tokens: int | None = None
    cost: Decimal | None = None
    seconds: float | None = None


def wasted_by(reading: Reading, findings: Iterable[Finding]) -> Wasted:
    """What all repetitions of the run took together, each round counted once."""
    numbers: set[int] = set()
    for finding in findings:
        numbers.update(wasted_rounds(reading, finding))
    return _sum(reading, numbers)


def wasted_of(reading: Reading, finding: Finding) -> Wasted:
    """What one repetition took."""
    return _sum(reading, wasted_rounds(reading, finding))


def wasted_rounds(reading: Reading, finding: Finding) -> set[int]:
    """The rounds after the third identical call that hold nothing but the repetition.

    For calls that take turns: after the third time round of the first of them.
    """
    if finding.detector not in REPETITIONS or finding.to_round is None:
        return set()
    if finding.detector == "alternating_calls":
        start = int(finding.values["third_time"])
        return set(_between(list(reading.calls_by_round), start, finding.to_round))
    about = reading.call_at(finding.round, finding.call)
    if about is None:
        return set()
    if finding.detector == "repeated_call":
        rounds = reading.rounds_of_key[about.key]
        return {
            number
            for number in _between(rounds, finding.round, finding.to_round)
            if all(call.key == about.key for call in reading.calls_by_round[number])
        }
    rounds = reading.rounds_of_tool[about.name]
    return {
        number
        for number in _between(rounds, finding.round, finding.to_round)
        if all(call.name == about.name for call in reading.calls_by_round[number])
    }


def _between(rounds: list[int], after: int, until: int) -> list[int]:
    """Those of ascending `rounds` that come after one and not after the other."""
    return rounds[bisect_right(rounds, after) : bisect_right(rounds, until)]


def _sum(reading: Reading, numbers: set[int]) -> Wasted:
    if not numbers:
        return Wasted()
    by_number = reading.run.round_by_number
    rounds = [by_number[number] for number in sorted(numbers)]
    tokens = [
        (round_.tokens_in or 0) + (round_.tokens_out or 0)
        for round_ in rounds
        if round_.tokens_in is not None or round_.tokens_out is not None
    ]
    costs = [cost for round_ in rounds if (cost := reading.cost_of_round(round_)) is not None]
    times = [round_.duration_ms for round_ in rounds if round_.duration_ms is not None]
    return Wasted(
        rounds=tuple(sorted(numbers)),
        tokens=sum(tokens) if tokens else None,
        cost=sum(costs, Decimal(0)) if costs else None,
        seconds=sum(times) / 1000 if times else None,
    )
