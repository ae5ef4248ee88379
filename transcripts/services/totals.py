"""The sums that a run keeps over its rounds, and its statement of completeness."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Sum

from transcripts.choices import Ending
from transcripts.models import Round, Run
from transcripts.services.run_rounds import Measures, RoundChanges

Gap = tuple[int, int]
# Sums that are null while no round says a figure.
SUMMED = ("tokens_in", "tokens_out", "tokens_cached", "cost", "duration_ms")
COUNTED = {
    "call_count": "calls",
    "unanswered": "unanswered",
    "unlabelled": "unlabelled",
    "orphan_count": "orphans",
}


def count_rounds(*, run: Run, changes: RoundChanges, late: int) -> None:
    """Bring the run's counts and sums up to date; the caller saves it."""
    rounds = changes.arrived.rounds
    come = [Measures.of(rounds[n], changes.arrived.round_digests[n]) for n in changes.written]
    gone = [changes.kept[number] for number in changes.rewritten]
    for name, measure in COUNTED.items():
        difference = sum(getattr(m, measure) for m in come) - sum(getattr(m, measure) for m in gone)
        setattr(run, name, getattr(run, name) + difference)
    if not gone:
        for name in SUMMED:
            setattr(run, name, _sum([getattr(run, name), *(getattr(m, name) for m in come)]))
    run.round_count += len(changes.new)
    run.folded += changes.folded
    run.replaced += changes.replaced
    run.late += late


def sum_again(*, run: Run) -> None:
    """The sums from all rows: after a replacement it is not known whether any round still says a
    figure.
    """
    sums = Round.objects.filter(run=run).aggregate(**{name: Sum(name) for name in SUMMED})
    for name, value in sums.items():
        setattr(run, name, value)


def completeness_of(*, run: Run, new: Iterable[int], last_unanswered: int) -> dict[str, Any]:
    """The statement of `transcripts.record.completeness`, from counts. `last_unanswered`: of the
    last round.
    """
    gaps = fill_gaps(
        [(first, last) for first, last in run.completeness.get("gaps", ())],
        expected=max(run.rounds_expected or 0, run.last_round),
        before=run.completeness.get("rounds_expected", 0),
        new=new,
    )
    waits = last_unanswered if run.ending == Ending.OPEN else 0
    missing = run.unanswered - waits
    return {
        "rounds_expected": max(run.rounds_expected or 0, run.last_round),
        "rounds_received": run.round_count,
        "gaps": gaps,
        "unanswered_calls": missing,
        "missing_stops": run.unlabelled,
        "orphan_results": run.orphan_count,
        "folded": run.folded,
        "replaced": run.replaced,
        "late": run.late,
        "complete": not (gaps or missing or run.orphan_count),
    }


def fill_gaps(gaps: list[Gap], *, expected: int, before: int, new: Iterable[int]) -> list[Gap]:
    """The gaps in rounds 1 to `expected`, from those in 1 to `before` and the numbers that came
    new.
    """
    if expected > before:
        gaps = [*gaps, (before + 1, expected)]
    numbers = sorted(new)
    return _joined([part for gap in gaps for part in _without(gap, numbers)])


def _without(gap: Gap, numbers: list[int]) -> Iterator[Gap]:
    """What is left of a gap without `numbers` (ascending)."""
    first, last = gap
    for number in numbers[bisect_left(numbers, first) : bisect_right(numbers, last)]:
        if first < number:
            yield first, number - 1
        first = number + 1
    if first <= last:
        yield first, last


def _joined(gaps: list[Gap]) -> list[Gap]:
    joined: list[Gap] = []
    for first, last in gaps:
        if joined and joined[-1][1] == first - 1:
            first = joined.pop()[0]
        joined.append((first, last))
    return joined


def _sum(values: Iterable[Any]) -> Any:
    said = [value for value in values if value is not None]
    return sum(said) if said else None
