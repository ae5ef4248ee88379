from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.failure_words import NO_HITS
from analysis.detectors.reading.patterns import encodable
from analysis.detectors.reading.tools import Effect
from analysis.detectors.reading.words import count, span

MIN_CALLS = 5
# Characters. A longer answer tells something.
LONGEST_VAGUE = 200
# Different answers in a stretch, for it to have brought nothing new.
MOST_ANSWERS = 3


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
        if streak and not _goes_on(streak, call):
            yield from _claim(streak)
            streak = streaks[call.name] = []
        if _brings_little(call) or streak:
            streak.append(call)
    for streak in streaks.values():
        yield from _claim(streak)


def _brings_little(call: CallReading) -> bool:
    if call.polled or call.silent or call.flagged or not call.answered:
        return False
    return _is_vague(call) or len(call.call.result or "") <= LONGEST_VAGUE


def _goes_on(streak: list[CallReading], call: CallReading) -> bool:
    """Another guess at the same thing, that brought no more than the ones before it."""
    before = streak[-1]
    if not _brings_little(call) and not call.same_result(before):
        return False
    if call.flagged or not _is_near(before.args, call.args):
        return False
    if _is_vague(call) and _is_vague(before):
        return True
    if call.effect == Effect.CHANGES or not _is_reworded(before.args, call.args):
        # Five customers of one status are five answers; "ok" to five changes is not vague.
        return False
    return (
        any(call.same_result(each) for each in streak[-MOST_ANSWERS:]) or len(streak) < MOST_ANSWERS
    )


def _is_vague(call: CallReading) -> bool:
    """Nothing came back, in one way or another."""
    if call.empty is not None or call.failed:
        return True
    text = call.call.result or ""
    return len(text) <= LONGEST_VAGUE and NO_HITS.search(encodable(text)) is not None


def _is_reworded(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """The value that differs is a text that was put in other words: both share a word of it."""
    for name, value in one.items():
        if value != other[name]:
            if not isinstance(value, str) or not isinstance(other[name], str):
                return False
            mine, theirs = value.lower().split(), other[name].lower().split()
            return len(mine) + len(theirs) > 2 and not set(mine).isdisjoint(theirs)
    return False


def _is_near(one: Any, other: Any) -> bool:
    """The same fields, and at most one of them with another value."""
    if not isinstance(one, dict) or not isinstance(other, dict) or one.keys() != other.keys():
        return False
    return sum(bool(one[name] != other[name]) for name in one) <= 1


def _claim(streak: list[CallReading]) -> Iterator[Draft]:
    keys = {call.key for call in streak}
    if len(streak) < MIN_CALLS or len(keys) < MIN_CALLS - 1:
        return
    answers = {call.result_key for call in streak}
    if len(answers) > MOST_ANSWERS and not all(map(_is_vague, streak)):
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
