from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.words import count, listing
from analysis.places import Place
from transcripts.record import Stop


@detector(version=1, severity=Severity.FAULT, odd=True, rank=2)
def cut_off_reply(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Cut-off reply.

    The service ended a reply before the model was done.

    Why it matters: half an answer, or half of a tool's arguments, is taken for a whole one.
    Stays silent: for every stop reason but a limit, a pause or a cancel.
    Yields: one finding for each such round; it says when a tool request of the reply was run all
    the same.
    Likely cause: the limit on output tokens is too low for what was asked, or the context window
    is full.
    Fix in code: never run tool requests of a cut-off reply; raise the limit, ask for the rest, or
    ask for less at once.
    Source: the stop reasons length, max_tokens and MAX_TOKENS of the services.
    """
    for round_ in reading.rounds:
        if round_.stop != Stop.CUT_OFF:
            continue
        label = f" ({round_.stop_raw})" if round_.stop_raw else ""
        ran = [call.name for call in round_.calls if call.result is not None]
        what = "The reply was cut off before its end"
        if ran:
            names = listing(list(dict.fromkeys(ran)))
            why = f"{what}{label}, and {names} was run with what may be half of its arguments."
        elif round_.calls:
            why = f"{what}{label}, in the middle of {count(len(round_.calls), 'tool request')}."
        else:
            tokens = f" after {count(round_.tokens_out, 'token')}" if round_.tokens_out else ""
            why = f"{what}{tokens}{label}."
        yield Draft(
            at=Place(round_.number),
            why=why,
            brief="the reply was cut off",
            tool=round_.calls[0].name if round_.calls else "",
            values={
                "label": round_.stop_raw,
                "requests": len(round_.calls),
                "run": len(ran),
                "error": "cut off",
            },
        )
