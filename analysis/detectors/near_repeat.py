from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.failure_words import NO_HITS
from analysis.detectors.reading.words import count, span

MIN_CALLS = 5
# Characters. A longer answer tells something.
LONGEST_VAGUE = 200


@detector(version=1, severity=Severity.FAULT, odd=False, rank=68)
def near_repeat(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Guesses.

    One tool is called 5 times or more with slightly different arguments, and nothing new comes
    back.

    Why it matters: the model guesses, since the answers do not tell it what would work.
    Stays silent: when an answer brings something; when the arguments differ in more than one
    value; for pages and cursors, which are paging; for polled tools.
    Yields: one finding for each stretch, at the fifth call.
    Likely cause: a vague or empty answer: it does not say why there is nothing.
    Fix in code: let the answer say why it is empty and what to try: the valid values, the closest
    match.
    Source: superplanehq/superplane#4123.
    """
    streaks: dict[str, list[CallReading]] = {}
    for call in reading.calls:
        streak = streaks.setdefault(call.name, [])
        if streak and not _goes_on(streak[-1], call):
            yield from _claim(streak)
            streak = streaks[call.name] = []
        if not call.polled and not call.silent and _is_vague(call):
            streak.append(call)
    for streak in streaks.values():
        yield from _claim(streak)


def _goes_on(before: CallReading, call: CallReading) -> bool:
    return _is_vague(call) and _is_near(before.args, call.args)


def _is_vague(call: CallReading) -> bool:
    """Nothing came back, in one way or another."""
    if not call.answered or call.flagged:
        return False
    if call.empty is not None or call.failed:
        return True
    text = call.call.result or ""
    return len(text) <= LONGEST_VAGUE and NO_HITS.search(text) is not None


def _is_near(one: Any, other: Any) -> bool:
    """The same fields, and at most one of them with another value."""
    if not isinstance(one, dict) or not isinstance(other, dict) or one.keys() != other.keys():
        return False
    return sum(bool(one[name] != other[name]) for name in one) <= 1


def _claim(streak: list[CallReading]) -> Iterator[Draft]:
    keys = {call.key for call in streak}
    if len(streak) < MIN_CALLS or len(keys) < MIN_CALLS - 1:
        return
    fifth, last = streak[MIN_CALLS - 1], streak[-1]
    yield Draft(
        at=fifth.place,
        to_round=last.round if last.round != fifth.round else None,
        why=(
            f"{fifth.name} was called {count(len(streak), 'time')} in "
            f"{span(streak[0].round, last.round)} with {count(len(keys), 'set')} of arguments that "
            f"differ in one value, and nothing came back."
        ),
        brief=f"{fifth.name} is called with one guess after another",
        tool=fifth.name,
        evidence=places(streak),
        values={"times": len(streak), "different": len(keys), "error": "guesses"},
    )
