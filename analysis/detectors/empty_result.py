from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.emptiness import NOTHING
from analysis.detectors.reading.episodes import and_again, episodes, places, until


@detector(version=1, severity=Severity.FAULT, odd=True, rank=10)
def empty_result(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Empty result.

    A tool answered, but with nothing in it.

    Why it matters: the model cannot tell "it worked and there is nothing to say" from "it did not
    work". It guesses, asks again, or tells the person that all is done.
    Stays silent: for tools that answer nothing by nature (a note, a removal, a shell), by name,
    by the settings, or as learned from finished runs; for an answer of no results in words; for
    failures.
    Yields: one finding for each call and kind of nothing, at the first; the same call with the same
    outcome counts into it.
    Likely cause: the tool's wrapper drops the answer or the error, or an empty answer is how it
    says that nothing was found or that it may not.
    Fix in code: return an explicit status and what was or was not done; for a search, say that
    nothing was found, why, and what to try next.
    Source: the field's most common first odd round; superplanehq/superplane#4123.
    """
    for calls in episodes(reading.calls, _kind):
        first = calls[0]
        kind = first.empty or NOTHING
        brief = f"{first.name} returned {kind}"
        yield Draft(
            at=first.place,
            why=f"{brief}{and_again(calls)}.",
            brief=brief,
            tool=first.name,
            to_round=until(calls),
            evidence=places(calls),
            values={"returned": kind, "times": len(calls), "error": f"empty: {kind}"},
        )


def _kind(call: CallReading) -> str | None:
    return None if call.silent else call.empty
