from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import and_again, episodes, places, until
from analysis.detectors.reading.words import quoted


@detector(version=1, severity=Severity.FAULT, odd=True, rank=12)
def failed_result(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Failed result.

    A tool's answer is marked as an error.

    Why it matters: the step did not happen. What the model does next rests on it.
    Stays silent: where the record marks no error; what only reads like one is a hidden error.
    Yields: one finding for each call and error text, at the first; the same call with the same
    error counts into it.
    Likely cause: the tool was called with what it cannot use, may not do what it was asked, or
    the service behind it did not answer.
    Fix in code: let the error name its cause and the next step ("no such employee; search by name
    with find_employee"), or say that trying again is of no use.
    Source: the error flags of MCP (isError), Anthropic (is_error), LangChain (status: error) and
    OpenTelemetry (error.type).
    """
    for calls in episodes(reading.calls, _kind):
        first = calls[0]
        brief = f"{first.name} failed"
        yield Draft(
            at=first.place,
            why=f"{brief} with {quoted(first.error or '')}{and_again(calls)}.",
            brief=brief,
            tool=first.name,
            to_round=until(calls),
            evidence=places(calls),
            values={"error": first.error, "times": len(calls)},
        )


def _kind(call: CallReading) -> str | None:
    return call.error if call.flagged else None
