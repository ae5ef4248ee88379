from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.proof import is_bare_success
from analysis.detectors.reading.words import count, listing, quoted, span

MIN_SAME = 3
# One call that failed openly may be tried this often; it is told by other rules from then on.
RETRIES_OF_A_FAILURE = 3


@detector(version=1, severity=Severity.FAULT, odd=False, rank=64)
def no_progress(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """No progress.

    The last 3 answers or more are the same, whatever was called.

    Why it matters: nothing new comes in, so the next step can only be a guess.
    Stays silent: for bare acknowledgements of changes ("ok", "file written"), and for tools that
    answer nothing by nature or are polled.
    Yields: one finding for each stretch, at the third answer.
    Likely cause: something that all of these tools need is missing: a sign-in, a connection, a
    file.
    Fix in code: stop after 3 answers that are the same and say what they have in common; let the
    error name its cause.
    Source: stuck monitors of the field, with a patience of 3 identical outputs.
    """
    streak: list[CallReading] = []
    for call in reading.calls:
        if call.silent or call.polled or not call.answered:
            continue
        if streak and call.same_result(streak[-1]):
            streak.append(call)
            continue
        yield from _claim(streak)
        streak = [call]
    yield from _claim(streak)


def _claim(streak: list[CallReading]) -> Iterator[Draft]:
    if len(streak) < MIN_SAME:
        return
    first, third, last = streak[0], streak[MIN_SAME - 1], streak[-1]
    different = len({call.key for call in streak}) > 1
    if not different and first.failed and len(streak) <= RETRIES_OF_A_FAILURE:
        return
    if different and is_bare_success(first):
        return
    names = list(dict.fromkeys(call.name for call in streak))
    shown = "nothing" if first.empty else quoted(first.call.result or "", 90)
    yield Draft(
        at=third.place,
        to_round=last.round if last.round != third.round else None,
        why=(
            f"{count(len(streak), 'answer')} in a row are the same "
            f"({span(first.round, last.round)}, "
            f"{listing(names[:3])}{' and others' if len(names) > 3 else ''}): {shown}."
        ),
        brief=f"the same answer comes back {len(streak)} times in a row",
        tool=third.name,
        evidence=places(streak),
        values={"same": len(streak), "tools": names[:10], "error": "same answer"},
    )
