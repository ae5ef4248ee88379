from __future__ import annotations

import string
from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.episodes import MOST_EVIDENCE
from analysis.detectors.reading.words import count, ordinal, quoted, rounds
from analysis.places import Place
from transcripts.record import Round

MIN_SAME = 3
# Characters. Shorter texts beside a tool request ("Let me check.") say nothing of their own.
SHORT = 60

_NOT_LETTERS = dict.fromkeys(
    map(ord, string.digits + string.whitespace + string.punctuation + "\u201c\u201d\u2019\u2026")
)


@detector(version=2, severity=Severity.FAULT, odd=False, rank=70)
def repeated_reply(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Repeated reply.

    The model writes the same text 3 times.

    Why it matters: it is stuck in a phrase, and whoever reads it gets nowhere either.
    Stays silent: for short words that go with different tool requests. When a person wrote
    something in between, it is a lead.
    Yields: one finding, at the first reply that comes for the third time; other texts that do
    count into it. Numbers, spaces and punctuation are not compared. Where the calls beside the
    replies repeat as well, it counts into their finding.
    Likely cause: what the model reads does not change from one round to the next.
    Fix in code: stop at the second identical reply and change the input: say what was tried, or
    hand off.
    Source: health monitors of the field; MAST failure mode "step repetition".
    """
    heard = frozenset(reading.heard)
    seen: dict[str, list[Round]] = {}
    for round_ in reading.rounds:
        text = round_.reply.lower().translate(_NOT_LETTERS)
        if text:
            seen.setdefault(text, []).append(round_)
    repeated = [
        same
        for same in seen.values()
        if len(same) >= MIN_SAME and not _is_small_talk(reading, same)
    ]
    # What was said again although a person wrote in between counts only where nothing else was.
    unheard = [same for same in repeated if heard.isdisjoint(each.number for each in same[1:])]
    if repeated:
        yield _draft(unheard or repeated, Severity.FAULT if unheard else Severity.LEAD)


def _draft(repeated: list[list[Round]], severity: Severity) -> Draft:
    first = min(repeated, key=lambda same: same[MIN_SAME - 1].number)
    third = first[MIN_SAME - 1]
    numbers = sorted(round_.number for same in repeated for round_ in same)
    more = (
        f"; {count(len(repeated) - 1, 'other reply comes', 'other replies come')} again as often, "
        f"up to round {numbers[-1]}"
        if len(repeated) > 1
        else ""
    )
    return Draft(
        at=Place(third.number),
        to_round=numbers[-1] if numbers[-1] != third.number else None,
        why=(
            f"The same reply comes for the {ordinal(MIN_SAME)} time "
            f"({rounds([round_.number for round_ in first])}): {quoted(third.reply, 90)}{more}."
        ),
        brief="the same reply comes again and again",
        evidence=tuple(Place(number) for number in numbers[:MOST_EVIDENCE]),
        values={"times": len(numbers), "texts": len(repeated), "error": "same reply"},
        severity=severity,
    )


def _is_small_talk(reading: Reading, same: list[Round]) -> bool:
    if len(same[0].reply) > SHORT or not any(round_.calls for round_ in same):
        return False
    asked = {
        tuple(call.key for call in reading.calls_by_round.get(round_.number, ())) for round_ in same
    }
    return len(asked) > 1
