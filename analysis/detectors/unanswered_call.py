from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.words import count, listing, quoted
from analysis.places import Place
from transcripts.record import Round


@detector(version=1, severity=Severity.FAULT, odd=True, rank=8)
def unanswered_call(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Unanswered call.

    The model asked for a tool and no answer to that request is in the run; or there is an answer
    to a request that is not.

    Why it matters: the model goes on without what it asked for; most services refuse such a
    history.
    Stays silent: for the last round of a live run; for tools that end or hand off the run.
    Yields: one finding for each round, at its first unanswered call; one for each round with
    answers to nothing. Where the run ends with the request, it is a lead: never finished says the
    same.
    Likely cause: the loop runs only the first of several requests, drops a result that came too
    late, or stops between request and answer.
    Fix in code: answer every request of a reply, with an error where the tool was not run, before
    the model is asked again.
    Source: anomalyco/opencode#44852.
    """
    last = reading.last_round
    for round_ in reading.rounds:
        calls = reading.calls_by_round.get(round_.number, [])
        missing = [call for call in calls if not call.answered]
        if missing and not (reading.live and round_.number == last):
            yield from _unanswered(reading, round_, calls, missing)
        named = any(orphan.call_id for orphan in round_.orphans)
        # A log that prints results alone has no requests to match them with.
        if round_.orphans and (named or reading.calls):
            # Without an id, or before the first request of the record, the match was the record's
            # to make.
            unmatched = round_.number == reading.rounds[0].number or not named
            ids = [orphan.call_id or "no id" for orphan in round_.orphans]
            yield Draft(
                at=Place(round_.number),
                why=(
                    f"{count(len(ids), 'result')} in this round "
                    f"{'answers' if len(ids) == 1 else 'answer'} no request of the run "
                    f"({listing(ids[:3])}): "
                    f"{quoted(round_.orphans[0].content, 80)}."
                ),
                brief="a result answers no request",
                values={"error": "result without a request", "results": len(ids)},
                severity=Severity.LEAD if unmatched else None,
                odd=False if unmatched else None,
            )


def _unanswered(
    reading: Reading, round_: Round, calls: list[CallReading], missing: list[CallReading]
) -> Iterator[Draft]:
    at_the_end = round_.number == reading.last_round
    waiting = [call for call in missing if not (call.nature.finishes or call.nature.hands_off)]
    if not waiting:
        return
    names = list(dict.fromkeys(call.name for call in waiting))
    first = waiting[0]
    if len(calls) == 1:
        why = f"{first.name} was asked for and never answered."
    elif len(waiting) == len(calls):
        why = f"None of the {len(calls)} requests of this round was answered: {listing(names)}."
    else:
        why = (
            f"{len(waiting)} of the {len(calls)} requests of this round "
            f"{'was' if len(waiting) == 1 else 'were'} never answered: {listing(names)}."
        )
    stopped_here = at_the_end and len(waiting) == len(calls)
    yield Draft(
        at=first.place,
        why=why,
        brief=f"{first.name} was never answered",
        tool=first.name,
        evidence=places(waiting),
        values={"requests": len(calls), "unanswered": len(waiting), "error": "no answer"},
        severity=Severity.LEAD if stopped_here else None,
        odd=False if stopped_here else None,
    )
