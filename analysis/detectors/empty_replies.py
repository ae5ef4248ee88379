from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.episodes import MOST_EVIDENCE
from analysis.detectors.reading.words import count, rounds
from analysis.places import Place
from transcripts.record import Stop

MIN_EMPTY = 2


@detector(version=1, severity=Severity.FAULT, odd=False, rank=72)
def empty_replies(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Empty replies.

    The model answers 2 times or more with no text and no tool request.

    Why it matters: the loop has nothing to go on with; many ask again with the same input.
    Stays silent: for one such reply; for replies with parts that are shown otherwise (pictures),
    and for those that were blocked, cut off or failed, which have findings of their own.
    Yields: one finding, at the second.
    Likely cause: the model takes its work for done, or its reasoning used up the output tokens.
    Fix in code: treat the first empty reply as an end, or ask once for an answer in words; never
    loop on it.
    Source: stuck monitors of the field ("empty responses").
    """
    empty = [
        round_.number
        for round_ in reading.rounds
        if round_.stop in (Stop.FINISHED, Stop.WANTS_TOOL, Stop.UNKNOWN)
        and not (round_.calls or round_.opaque or round_.reply.strip() or round_.error)
        and not (reading.live and round_.number == reading.last_round)
    ]
    if len(empty) < MIN_EMPTY:
        return
    second, last = empty[MIN_EMPTY - 1], empty[-1]
    yield Draft(
        at=Place(second),
        to_round=last if last != second else None,
        why=f"{count(len(empty), 'reply')} have neither text nor tool request ({rounds(empty)}).",
        brief="the model answers with nothing",
        evidence=tuple(Place(number) for number in empty[:MOST_EVIDENCE]),
        values={"times": len(empty), "error": "empty replies"},
    )
