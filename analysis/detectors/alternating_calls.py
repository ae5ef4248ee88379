from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.words import listing, span

PERIODS = range(2, 6)
MIN_REPEATS = 3


@detector(version=2, severity=Severity.FAULT, odd=False, rank=62)
def alternating_calls(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Calls that take turns.

    A pattern of 2 to 5 calls comes round 3 times or more with the same arguments.

    Why it matters: each answer sends the model to the other tool, and none of them moves the work
    on.
    Stays silent: under 3 rounds of the pattern; for one call over and over, which is a repeated
    call; where every tool of the pattern is polled. Where the answers change each time round, it
    is a lead.
    Yields: one finding for each stretch, from its first call to its last.
    Likely cause: the output of each tool triggers the other.
    Fix in code: merge the two tools, or keep state: tell the model what it tried and what came of
    it.
    Source: macanderson/stella#359; loop guards that look for patterns of several tools.
    """
    calls = reading.calls
    runs = dict.fromkeys(PERIODS, 0)
    reached = -1
    open_: tuple[int, int] | None = None
    for at in range(len(calls) + 1):
        here = calls[at].key if at < len(calls) else None
        for period in PERIODS:
            same = here is not None and at >= period and calls[at - period].key == here
            if not same and open_ is not None and open_[1] == period:
                yield _draft(calls[open_[0] : at], period)
                reached, open_ = at - 1, None
            runs[period] = runs[period] + 1 if same else 0
        if open_ is None and here is not None:
            open_ = _completed(calls, at, runs, reached)


def _completed(
    calls: tuple[CallReading, ...], at: int, runs: dict[int, int], reached: int
) -> tuple[int, int] | None:
    """First call and period of a pattern that has come round often enough at call `at`."""
    for period in PERIODS:
        if runs[period] < period * (MIN_REPEATS - 1):
            continue
        start = at - runs[period] - period + 1
        pattern = calls[start : start + period]
        if start <= reached and at - reached < period * MIN_REPEATS:
            continue
        if len({call.key for call in pattern}) > 1 and not all(call.polled for call in pattern):
            return max(start, reached + 1), period
    return None


def _draft(calls: tuple[CallReading, ...], period: int) -> Draft:
    first, last = calls[0], calls[-1]
    tools = [call.name for call in calls[:period]]
    again = len(calls) // period
    pairs = [(calls[at], calls[at - period]) for at in range(period, len(calls))]
    unchanged = sum(now.same_result(before) or now.came_to_nothing for now, before in pairs)
    names = list(dict.fromkeys(tools))
    if len(names) > 1:
        what = f"{listing(names)} take turns with the same arguments"
    else:
        what = f"{names[0]} is called with {period} sets of arguments in turn"
    return Draft(
        at=first.place,
        to_round=last.round if last.round != first.round else None,
        why=(
            f"In {span(first.round, last.round)} {what}, {again} times over; "
            f"{unchanged} of {len(pairs)} answers are the same as the time before."
        ),
        brief=f"{listing(names)} take turns"
        if len(names) > 1
        else f"{names[0]} goes round in a circle",
        tool=first.name,
        evidence=places(calls),
        values={
            "tools": tools,
            "period": period,
            "times": again,
            "third_time": calls[2 * period].round,
            "unchanged": unchanged,
            "compared": len(pairs),
            "error": "calls take turns",
        },
        # Something that changes at every turn is being waited for.
        severity=None if unchanged * 2 >= len(pairs) else Severity.LEAD,
    )
