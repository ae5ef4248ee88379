from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.context import INSTRUCTIONS
from analysis.detectors.reading.words import quoted
from analysis.places import Place


@detector(version=1, severity=Severity.FAULT, odd=True, rank=1)
def ticket_lost(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Ticket lost.

    What the model reads no longer holds the goal or the ticket.

    Why it matters: from here on the model works on what it guesses the task to be.
    Stays silent: where a summary, or any other message, still holds the words; where a sub-agent
    starts a context of its own; where the run does not say what the model read.
    Yields: one finding for each round at which goal or ticket go.
    Likely cause: a sliding window or a token limit drops the oldest messages first, and those are
    the instructions and the ticket.
    Fix in code: pin the first instructions and the ticket; trim from the middle, and tool results
    before anything else.
    Source: microsoft/semantic-kernel#12708, microsoft/agent-framework#7224.
    """
    messages = reading.run.message_by_key
    for change in reading.context:
        if not change.lost:
            continue
        goal = any(messages[key].role in INSTRUCTIONS for key in change.lost)
        task = [messages[key] for key in change.lost if messages[key].role not in INSTRUCTIONS]
        what = (
            "the ticket"
            if task and not goal
            else "the goal"
            if goal and not task
            else "the goal and the ticket"
        )
        shown = f": {quoted(task[0].content, 90)}" if task and task[0].content else ""
        verb = "are" if goal and task else "is"
        yield Draft(
            at=Place(change.round),
            why=(
                f"From round {change.round} on {what} {verb} no longer in what the model reads"
                f"{shown}."
            ),
            brief=f"{'the ticket' if task else what} is no longer in what the model reads",
            values={"messages": list(change.lost), "lost": what, "error": f"{what} lost"},
            made_up_at=change.back_at,
        )
