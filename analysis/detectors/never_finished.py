from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.words import count, span
from analysis.places import Place
from transcripts.record import Ending, Stop

STOP_WORDS = {
    Stop.FINISHED: "finished",
    Stop.WANTS_TOOL: "wants a tool",
    Stop.CUT_OFF: "cut off",
    Stop.BLOCKED: "blocked",
    Stop.ERROR: "error",
    Stop.UNKNOWN: "unknown",
}


@detector(version=1, severity=Severity.FAULT, odd=False, rank=82, recovers=False)
def never_finished(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Never finished.

    The run is over, no reply was a finished one, and nothing handed it off.

    Why it matters: nobody got an answer.
    Stays silent: for live runs, until they are quiet for longer than the project allows; for runs
    that a tool ended, or that were handed off.
    Yields: one finding, at the last round, with the longest stretch of one stop reason.
    Likely cause: no completion criterion: the model has no way to say that it is done.
    Fix in code: give it a finish tool and say in the instructions when to use it; let the loop
    hand off when its budget is used up.
    Source: the VPN run; MAST failure mode "unaware of termination conditions".
    """
    if reading.live or not reading.rounds or reading.ended_by_itself:
        return
    if any(round_.stop == Stop.FINISHED for round_ in reading.rounds):
        return
    last = reading.rounds[-1]
    if any(call.nature.finishes for call in reading.calls_by_round.get(last.number, [])):
        return
    stretches = [
        list(group) for _, group in groupby(reading.rounds, key=lambda round_: round_.stop)
    ]
    longest = max(stretches, key=len)
    stop = STOP_WORDS[longest[0].stop]
    if len(longest) == len(reading.rounds):
        stretch = f"every one of its {count(len(longest), 'round')} ended with “{stop}”"
        if len(longest) == 1:
            stretch = f"its only round ended with “{stop}”"
    else:
        stretch = (
            f"the longest stretch of one stop reason is {count(len(longest), 'round')} of “{stop}” "
            f"({span(longest[0].number, longest[-1].number)})"
        )
    guarded = reading.run.ending in (Ending.REPEATED_CALL, Ending.ROUND_LIMIT)
    yield Draft(
        at=Place(last.number),
        why=f"The run never finished: {stretch}.",
        brief="the run never finished",
        values={
            "stop": longest[0].stop.value,
            "stretch": len(longest),
            "from": longest[0].number,
            "to": longest[-1].number,
            "error": "stopped by a guard" if guarded else "never finished",
        },
    )
