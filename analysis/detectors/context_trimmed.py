from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.words import count
from analysis.places import Place
from transcripts.record import Round

# The fall of input tokens from one round to the next that cannot be chance: requests only grow.
LEAST_FALL = 0.20
# Tokens. Under it, a fall is a few words.
LEAST_TOKENS = 200


@detector(version=1, severity=Severity.LEAD, odd=False, rank=40)
def context_trimmed(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Context trimmed.

    Earlier messages are missing from what the model reads.

    Why it matters: what the model no longer reads it cannot use; it may ask again for what it was
    told.
    Stays silent: where a sub-agent starts a context of its own; where the model changes from one
    round to the next, and no inputs are logged.
    Yields: one finding at the first round of each stretch of rounds that drop messages; it says
    which, and how many tokens fewer were read. Without logged inputs it is inferred from a fall
    of input tokens of more than a fifth.
    Likely cause: the loop, or the framework under it, cuts the history to fit the window.
    Fix in code: keep the ticket and the newest results, drop old tool results first, leave a note
    of what was dropped, and log that it happened.
    Source: microsoft/agent-framework#7224, langgenius/dify#42603.
    """
    if any(round_.input is not None for round_ in reading.rounds):
        yield from _from_inputs(reading)
    else:
        yield from _inferred(reading)


def _from_inputs(reading: Reading) -> Iterator[Draft]:
    tokens = {round_.number: round_.tokens_in for round_ in reading.rounds}
    numbers = [round_.number for round_ in reading.rounds]
    after = dict(pairwise(numbers))
    before = {now: then for then, now in pairwise(numbers)}
    changes = [change for change in reading.context if not change.fresh]
    at = 0
    while at < len(changes):
        end = at
        while end + 1 < len(changes) and after.get(changes[end].round) == changes[end + 1].round:
            end += 1
        first, last = changes[at], changes[end]
        gone = sum(len(change.dropped) for change in changes[at : end + 1])
        then, now = tokens.get(before.get(first.round, 0)), tokens.get(first.round)
        fewer = (
            f", {count(then - now, 'token')} fewer than before"
            if then and now and now < then
            else ""
        )
        drop_many = first.round != last.round
        where = (
            f"From round {first.round} to {last.round}"
            if drop_many
            else f"From round {first.round} on"
        )
        yield Draft(
            at=Place(first.round),
            to_round=last.round if drop_many else None,
            why=(
                f"{where}, {count(gone, 'earlier message')} "
                f"{'is' if gone == 1 else 'are'} missing from what the model reads{fewer}."
            ),
            brief=f"{count(gone, 'earlier message')} gone",
            values={
                "messages": list(first.dropped[:100]),
                "count": gone,
                "tokens_before": then,
                "tokens_after": now,
            },
        )
        at = end + 1


def _inferred(reading: Reading) -> Iterator[Draft]:
    previous: Round | None = None
    for round_ in reading.rounds:
        if round_.tokens_in is None:
            continue
        if previous is not None and previous.model == round_.model:
            before, now = previous.tokens_in or 0, round_.tokens_in
            if before - now >= LEAST_TOKENS and now < before * (1 - LEAST_FALL):
                yield Draft(
                    at=Place(round_.number),
                    why=(
                        f"Input tokens fall from {before:,} in round {previous.number} to "
                        f"{now:,}: inferred, "
                        f"since the run does not say what the model read."
                    ),
                    brief="input tokens fall",
                    evidence=(Place(previous.number),),
                    values={"tokens_before": before, "tokens_after": now, "inferred": True},
                )
        previous = round_
