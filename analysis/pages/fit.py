"""How much of a run fits on its page: elements of each line, and which lines to keep. Pure.

A page holds at most so many elements, whatever its rounds hold; what does not fit is not loaded,
and the page says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transcripts.cards import RoundCard, TextCard

# For the rounds. The frame, the head and what stands beside them take 200 to 340, all is to stay
# under 800, and what one opens needs room too.
PAGE_ELEMENTS = 410
# For what one scroll or click brings, where the page does not say how much room it has.
PART_ELEMENTS = 330
# A line of its own: words, a few links to findings, and what opens it.
LINE_ELEMENTS = 12

_ROUND = 11
_CALL = 5
_TEXT = 2
_SECRET = 5
_FINDING = 9
_ANNOTATION = 9

Span = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """Rounds `first` to `last` as one line of the page, of about so many elements."""

    first: int
    last: int
    elements: int


def card_elements(card: RoundCard) -> int:
    """About how many elements a round takes; rather too many than too few."""
    texts = [card.reply, card.reasoning, card.error, *card.orphans]
    texts += [message.text for message in card.heard]
    for call in card.calls:
        texts += [call.args if not call.args_inline else None, call.result]
    return (
        _ROUND
        + _CALL * len(card.calls)
        + 3 * len(card.heard)
        + sum(_text_elements(text) for text in texts if text is not None)
        + _FINDING * len(card.findings)
        + _ANNOTATION * len(card.annotations)
    )


def _text_elements(text: TextCard) -> int:
    return _TEXT + text.elements + _SECRET * text.text.count("[SECRET:")


def kept(lines: Sequence[Line], *, anchor: int, room: int) -> list[Span]:
    """Spans of rounds, ascending, that fit into `room` elements: first the anchor's line, which is
    always kept, the last and the first, then what is next to the anchor, below before above.
    """
    if not lines:
        return []
    at = next((i for i, line in enumerate(lines) if line.first <= anchor <= line.last), None)
    if at is None:
        at = min(range(len(lines)), key=lambda i: abs(lines[i].first - anchor))
    chosen = {at}
    room -= lines[at].elements
    for end in (len(lines) - 1, 0):
        if end not in chosen and lines[end].elements <= room:
            chosen.add(end)
            room -= lines[end].elements
    following, before = _Walk(at, 1, len(lines)), _Walk(at, -1, len(lines))
    while following.goes_on or before.goes_on:
        for walk in (following, following, before):
            room -= walk.step(lines, chosen, room)
    return _spans([lines[i] for i in sorted(chosen)])


@dataclass
class _Walk:
    """Lines in one direction from a place, until one does not fit."""

    at: int
    by: int
    count: int
    goes_on: bool = True

    def step(self, lines: Sequence[Line], chosen: set[int], room: int) -> int:
        """Choose the next line; returns the elements that it takes."""
        self.at += self.by
        self.goes_on = self.goes_on and 0 <= self.at < self.count
        if not self.goes_on or self.at in chosen:
            return 0
        self.goes_on = lines[self.at].elements <= room
        if not self.goes_on:
            return 0
        chosen.add(self.at)
        return lines[self.at].elements


def _spans(lines: Sequence[Line]) -> list[Span]:
    spans: list[Span] = []
    for line in lines:
        if spans and spans[-1][1] + 1 == line.first:
            spans[-1] = (spans[-1][0], line.last)
        else:
            spans.append((line.first, line.last))
    return spans
