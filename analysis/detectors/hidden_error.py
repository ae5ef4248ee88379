from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import and_again, episodes, places, until
from analysis.detectors.reading.words import quoted


@detector(version=2, severity=Severity.FAULT, odd=True, rank=14)
def hidden_error(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Hidden error.

    A tool's answer reads as a failure, but nothing marks it as one.

    Why it matters: loops, dashboards and retry rules that look at the error flag see a success.
    Stays silent: where the words stand in a document that the tool was asked for: source code, an
    article, a ticket, a log; where a read tells of another thing's failure ("build 7: failed");
    where it says that a search found nothing.
    Yields: one finding for each call and error text, at the first; the same call with the same
    error counts into it.
    Likely cause: the tool's wrapper catches the exception, or passes on the text of an HTTP
    error, and returns it as a normal answer.
    Fix in code: set the error flag (isError, is_error) when the call failed, and check status
    codes and error fields in the wrapper.
    Source: github/github-mcp-server#1952, humansys/raise#112; ToolBench's envelope
    {"error": "", "response": "…"}.
    """
    for calls in episodes(reading.calls, _kind):
        first = calls[0]
        brief = f"{first.name} failed without saying so"
        marked = (
            "the answer is marked as good"
            if first.call.is_error is False
            else "it is not marked as an error"
        )
        yield Draft(
            at=first.place,
            why=(
                f"{first.name} answered {quoted(first.error or '')}, but {marked}"
                f"{and_again(calls)}."
            ),
            brief=brief,
            tool=first.name,
            to_round=until(calls),
            evidence=places(calls),
            values={"error": first.error, "marked": first.call.is_error, "times": len(calls)},
        )


def _kind(call: CallReading) -> str | None:
    return None if call.flagged else call.error
