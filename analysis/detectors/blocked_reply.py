from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.words import quoted
from analysis.places import Place
from transcripts.record import Stop


@detector(version=1, severity=Severity.FAULT, odd=True, rank=2)
def blocked_reply(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Blocked reply.

    A filter of the service, or the model itself, refused to answer.

    Why it matters: the step was not done, and the same input is refused again.
    Stays silent: for every stop reason but a filter, a guardrail or a refusal.
    Yields: one finding for each such round.
    Likely cause: something in the ticket or in a tool's answer trips the filter, or the task is
    one that the model will not do.
    Fix in code: catch the stop reason, take the offending text out or hand the ticket to a
    person; do not send the same input again.
    Source: the stop reasons content_filter, refusal and SAFETY of the services.
    """
    for round_ in reading.rounds:
        if round_.stop != Stop.BLOCKED:
            continue
        label = f" ({round_.stop_raw})" if round_.stop_raw else ""
        said = f": {quoted(round_.reply, 90)}" if round_.reply.strip() else ""
        yield Draft(
            at=Place(round_.number),
            why=f"The reply was blocked{label}{said}.",
            brief="the reply was blocked",
            values={"label": round_.stop_raw, "error": "blocked"},
        )
