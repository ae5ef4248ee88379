from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.words import count, listing
from analysis.places import Place
from transcripts.record import Stop
from transcripts.stop_reasons import plain_label


@detector(version=1, severity=Severity.FAULT, odd=True, rank=3)
def stop_mismatch(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Stop reason and reply disagree.

    The service says that the reply is finished although it asks for tools that nobody ran, or
    says that it wants a tool although it asks for none.

    Why it matters: a loop that goes by the label alone ends too early, or waits for what never
    comes.
    Stays silent: where the tools were run, whatever the label; for services that have no label
    for tools, since the requests decide there; where there is no label.
    Yields: one finding for each such round.
    Likely cause: a proxy or a model server writes the wrong label, or the request stands in the
    text, where the service did not recognise it.
    Fix in code: go by the requests in the reply, not by the label alone, and log where they
    disagree.
    Source: named tool_choice of chat completions (label stop with requests); streaming proxies.
    """
    no_tool_label = _labels_of_answered_calls(reading)
    for round_ in reading.rounds:
        if not round_.stop_raw or round_.stop not in (Stop.FINISHED, Stop.WANTS_TOOL):
            continue
        label = plain_label(round_.stop_raw, provider=reading.run.provider)
        nobody_ran = bool(round_.calls) and all(call.result is None for call in round_.calls)
        live = reading.live and round_.number == reading.last_round
        told_apart = round_.stop_raw not in no_tool_label
        if label == Stop.FINISHED and nobody_ran and told_apart and not live:
            names = listing(list(dict.fromkeys(call.name for call in round_.calls))[:3])
            yield Draft(
                at=Place(round_.number),
                why=(
                    f"The stop reason says finished ({round_.stop_raw}), but the reply holds "
                    f"{count(len(round_.calls), 'tool request')} that nobody ran: {names}."
                ),
                brief="the reply asks for a tool that nobody ran",
                tool=round_.calls[0].name,
                values={
                    "label": round_.stop_raw,
                    "requests": len(round_.calls),
                    "error": "finished with requests",
                },
            )
        elif label == Stop.WANTS_TOOL and not round_.calls and not round_.opaque:
            yield Draft(
                at=Place(round_.number),
                why=(
                    f"The stop reason says that a tool is wanted ({round_.stop_raw}), "
                    f"but the reply asks for none."
                ),
                brief="the reply wants a tool but names none",
                values={
                    "label": round_.stop_raw,
                    "requests": 0,
                    "error": "wants a tool without a request",
                },
            )


def _labels_of_answered_calls(reading: Reading) -> frozenset[str]:
    """Labels that the service also writes under requests that were run: they tell nothing."""
    return frozenset(
        round_.stop_raw
        for round_ in reading.rounds
        if round_.stop_raw and any(call.result is not None for call in round_.calls)
    )
