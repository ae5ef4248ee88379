from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits, RepeatMode
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.tools import Effect
from analysis.detectors.reading.words import count, ordinal, rounds

# Identical calls after which an immediate retry of a call that failed openly counts: to try again
# once or twice is what the field advises.
RETRIES_OF_A_FAILURE = 3
# Calls that may lie within the repeats for them to be one knot. Looking at one thing again later
# in the work is a lead; doing so over and over is a fault.
TIGHT_SPAN = 12


@dataclass(slots=True)
class _Streak:
    """Calls with one key and one answer; `done` once it was long enough to be a finding."""

    calls: list[CallReading] = field(default_factory=list)
    completed: CallReading | None = None
    last: CallReading | None = None
    total: int = 0
    in_a_row: int = 1
    most_in_a_row: int = 1
    most_in_window: int = 1
    window: deque[int] = field(default_factory=deque)
    changes_between: int = 0


@detector(version=1, severity=Severity.FAULT, odd=False, rank=60)
def repeated_call(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Repeated call.

    The same tool is called with the same arguments and gives the same answer, again and again.

    Why it matters: the model does not use the answer that it has. Each repeat costs a request and
    brings nothing.
    Stays silent: up to the limit (2 by default, so the third is a finding); when the answer
    changed between the calls; for polled tools; for retries in a row of a call that failed
    openly, up to 3. When other successful changes lie between the calls, or many other calls, it
    is a lead.
    Yields: one finding for each call key, at the call that passes the limit; it counts repeats in
    a row, in a window, and in all.
    Likely cause: the answer gives no sign that it worked.
    Fix in code: return an explicit status; in the loop, refuse the third identical call and tell
    the model what it already got.
    Source: HKUDS/nanobot#2298, 1jehuang/jcode#797; pydantic-deepagents#208 on comparing results
    as well.
    """
    streaks: dict[tuple[str, str], _Streak] = {}
    found: dict[tuple[str, str], _Streak] = {}
    changes = 0
    previous: CallReading | None = None
    for call in reading.calls:
        streak = streaks.setdefault(call.key, _Streak())
        streak.total += 1
        if streak.last is not None and call.same_result(streak.last):
            _extend(streak, call, previous, limits)
        else:
            _begin(streak, call)
        if streak.completed is None and not call.polled and _is_too_many(streak, call, limits):
            streak.completed = call
            found[call.key] = streak
            streak.changes_between = changes
        if call.effect == Effect.CHANGES and not call.came_to_nothing and len(streak.calls) == 1:
            changes += 1
        previous = call
    for streak in found.values():
        yield _draft(streak, limits)


def _begin(streak: _Streak, call: CallReading) -> None:
    streak.last = call
    streak.in_a_row = 1
    if streak.completed is None:
        streak.calls = [call]
        streak.window = deque([call.seq])


def _extend(
    streak: _Streak, call: CallReading, previous: CallReading | None, limits: Limits
) -> None:
    streak.last = call
    streak.calls.append(call)
    streak.in_a_row = (
        streak.in_a_row + 1 if previous is not None and previous.key == call.key else 1
    )
    streak.most_in_a_row = max(streak.most_in_a_row, streak.in_a_row)
    streak.window.append(call.seq)
    while streak.window[0] <= call.seq - limits.repeat_window:
        streak.window.popleft()
    streak.most_in_window = max(streak.most_in_window, len(streak.window))


def _is_too_many(streak: _Streak, call: CallReading, limits: Limits) -> bool:
    allowed = limits.repeats_allowed(call.name)
    counted = {
        RepeatMode.CONSECUTIVE: streak.in_a_row,
        RepeatMode.WINDOW: len(streak.window),
        RepeatMode.TOTAL: len(streak.calls),
    }[limits.repeat_mode]
    if call.failed and streak.in_a_row == len(streak.calls):
        allowed = max(allowed, RETRIES_OF_A_FAILURE)
    return counted > allowed


def _draft(streak: _Streak, limits: Limits) -> Draft:
    call = streak.completed
    assert call is not None
    times = len(streak.calls)
    last = streak.calls[-1]
    span = call.seq - streak.calls[0].seq
    allowed = len([each for each in streak.calls if each.seq <= call.seq])
    loose = span > TIGHT_SPAN and streak.most_in_window <= limits.repeat_window // 2
    more = (
        f"; {count(streak.total, 'call')} in all, up to round {last.round}"
        if streak.total > allowed
        else ""
    )
    before = rounds(list(dict.fromkeys(each.round for each in streak.calls[: allowed - 1])))
    return Draft(
        at=call.place,
        why=(
            f"{call.name} is called for the {ordinal(allowed)} time with the same arguments "
            f"and the same answer as in {before}{more}."
        ),
        brief=f"{call.name} is called again and again",
        tool=call.name,
        to_round=last.round if last.round != call.round else None,
        evidence=places(streak.calls),
        values={
            "times": streak.total,
            "same_answer": times,
            "in_a_row": streak.most_in_a_row,
            "in_window": streak.most_in_window,
            "window": limits.repeat_window,
            "error": "same call, same answer",
        },
        severity=Severity.LEAD if loose else None,
    )
