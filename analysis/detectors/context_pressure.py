from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.words import quoted
from analysis.places import Place

# Of the window. What is above leaves too little room for a reply with a tool request in it.
PRESSURE = 0.8

_TOO_LONG = Pattern(
    r"(?i)context[ _]?(?:length|window|size)|maximum (?:context|input|prompt)|(?:prompt|input"
    r"|request) (?:is )?"
    r"too (?:long|large)|too many (?:input )?tokens"
    r"|exceeds? (?:the )?(?:model'?s? )?(?:maximum|token)|"
    r"token limit|max_prompt"
)


@detector(version=1, severity=Severity.LEAD, odd=False, rank=42)
def context_pressure(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Context under pressure.

    What the model reads fills most of its window.

    Why it matters: near the limit replies are cut off, history is trimmed, and what stands in the
    middle is overlooked.
    Stays silent: up to 80% of the window; where the window or the input tokens are not known.
    Yields: one lead at the first round past 80%; one breach at the first past 100%, or that the
    service refused for its length.
    Likely cause: tool results are kept whole in the history, or the task is too large for one run.
    Fix in code: cut old tool results, summarise, split the task; count tokens before each request.
    Source: the context windows of the run, the settings, or the price list.
    """
    refused = next((each for each in reading.rounds if _TOO_LONG.search(each.error[:2_000])), None)
    if refused is not None:
        yield Draft(
            at=Place(refused.number),
            why=f"The service refused the request for its length: {quoted(refused.error, 100)}.",
            brief="the request was too long",
            values={"error": "too long", "tokens": refused.tokens_in},
            severity=Severity.BREACH,
        )
    known = reading.context_window
    if known is None:
        return
    window, source = known
    pressed = next((r for r in reading.rounds if (r.tokens_in or 0) > window * PRESSURE), None)
    over = next((r for r in reading.rounds if (r.tokens_in or 0) > window), None)
    for round_, severity in ((pressed, Severity.LEAD), (over, Severity.BREACH)):
        if round_ is None or (severity == Severity.LEAD and over is pressed):
            continue
        tokens = round_.tokens_in or 0
        yield Draft(
            at=Place(round_.number),
            why=(
                f"{tokens:,} input tokens are {tokens / window:.0%} of the window of {window:,} "
                f"(known from {source})."
            ),
            brief=f"the input fills {tokens / window:.0%} of the window",
            values={
                "tokens": tokens,
                "window": window,
                "source": source,
                "error": "context pressure",
            },
            severity=severity,
        )
