from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.words import count

# Tokens. More than most tasks need of one answer.
LARGE = 20_000
# Of the window.
LARGE_SHARE = 0.25
# Characters a token, on average over English prose, JSON and code. The tokens are an estimate.
CHARACTERS_A_TOKEN = 4


@detector(version=1, severity=Severity.LEAD, odd=False, rank=44)
def oversized_result(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Oversized result.

    One tool answer takes more than a quarter of the window, or more than 20,000 tokens.

    Why it matters: it pushes the ticket and earlier results out, and is paid for again in every
    round that follows.
    Stays silent: below; tokens are estimated as a quarter of the characters.
    Yields: one finding for each tool, at its first such answer.
    Likely cause: the tool returns everything it has.
    Fix in code: page, filter or summarise in the tool; return ids, and the text on request.
    Source: mlflow#24314, langfuse#1676 on what such answers do further on.
    """
    largest = max((len(call.call.result or "") for call in reading.calls), default=0)
    if largest // CHARACTERS_A_TOKEN <= min(LARGE, _smallest_share(reading)):
        return
    window = reading.context_window
    limit = min(LARGE, int(window[0] * LARGE_SHARE)) if window else LARGE
    found: dict[str, list[CallReading]] = {}
    for call in reading.calls:
        if len(call.call.result or "") // CHARACTERS_A_TOKEN > limit:
            found.setdefault(call.name, []).append(call)
    for calls in found.values():
        first = calls[0]
        tokens = len(first.call.result or "") // CHARACTERS_A_TOKEN
        share = f", {tokens / window[0]:.0%} of the window" if window else ""
        more = f"; {count(len(calls) - 1, 'more answer')} like it" if len(calls) > 1 else ""
        yield Draft(
            at=first.place,
            why=f"{first.name} returned about {count(tokens, 'token')}{share}{more}.",
            brief=f"{first.name} returned about {count(tokens, 'token')}",
            tool=first.name,
            evidence=places(calls),
            values={"tokens": tokens, "limit": limit, "results": len(calls), "error": "too large"},
        )


def _smallest_share(reading: Reading) -> int:
    """A quarter of the window that is known without the price list; of the smallest in use
    otherwise.
    """
    window = reading.run.context_window or reading.limits.context_window or 8_000
    return int(window * LARGE_SHARE)
