"""All layers on one text: where its secrets are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from transcripts.masking import engine
from transcripts.masking.budget import Budget
from transcripts.masking.context import context_hits
from transcripts.masking.fold import fold
from transcripts.masking.pem import private_keys
from transcripts.masking.placeholders import covers_placeholder
from transcripts.masking.spans import Hit, merged
from transcripts.masking.views import DEPTH, View, decoded
from transcripts.masking.walk import JsonView, Number, json_view

# Longer texts are read in pieces: the engine's worst case grows faster than the text.
CHUNK: Final = 256 * 1024
# What two pieces share, so that a secret on a cut is whole in one of them.
OVERLAP: Final = 8 * 1024


class Found:
    """What was found in a text: merged hits, and its JSON numbers, whose masking needs quotes."""

    __slots__ = ("hits", "numbers")

    def __init__(self, hits: list[Hit], numbers: list[Number]) -> None:
        self.hits = hits
        self.numbers = numbers


def find(text: str, budget: Budget) -> Found:
    """The secrets of `text`, on the text as it came. Raises `OutOfTimeError`, `MaskingError`."""
    walked = json_view(text)
    if walked is None:
        hits = _through_views(text, budget)
        numbers: list[Number] = []
    else:
        hits = _lowered(
            walked, _joins_checked(walked, [*walked.named, *_through_views(walked.text, budget)])
        )
        numbers = walked.numbers
    kept = [hit for hit in merged(hits) if not covers_placeholder(text, hit.start, hit.end)]
    return Found(kept, numbers)


def _joins_checked(walked: JsonView, hits: Iterable[Hit]) -> Iterator[Hit]:
    return (hit for hit in hits if walked.counts(hit.start, hit.end))


def _through_views(text: str, budget: Budget) -> list[Hit]:
    """Hits in `text` and in what it decodes to, all on `text`."""
    hits = list(_scan(text, budget))
    views: list[View] = []
    reading = text
    for _ in range(DEPTH):
        view = decoded(reading)
        if view is None:
            break
        budget.check()
        views.insert(0, view)
        reading = view.text
        found: Iterable[Hit] = _scan(reading, budget)
        for lower in views:
            found = _lowered(lower, found)
        hits += found
    return hits


def _lowered(view: View, hits: Iterable[Hit]) -> list[Hit]:
    """Hits in a view, put on the text that it is a view of."""
    return [
        Hit(start, end, hit.rule, hit.family, hit.rank)
        for hit in hits
        for start, end in view.to_raw(hit.start, hit.end)
    ]


def _scan(text: str, budget: Budget) -> Iterator[Hit]:
    """Hits in one reading of a text, in pieces where it is long."""
    keys = list(private_keys(text)) if "PRIVATE KEY" in text or "Private-Lines" in text else []
    yield from keys
    for start in range(0, max(1, len(text)), CHUNK - OVERLAP):
        if start and start + OVERLAP >= len(text):
            break
        budget.check()
        piece = text[start : start + CHUNK]
        for hit in _scan_piece(_without(piece, start, keys), budget):
            yield Hit(hit.start + start, hit.end + start, hit.rule, hit.family, hit.rank)


def _without(piece: str, offset: int, keys: list[Hit]) -> str:
    """The piece with private keys blanked: they are found, and many of them slow the engine."""
    parts: list[str] = []
    at = 0
    for key in keys:
        start, end = max(at, key.start - offset), min(len(piece), key.end - offset)
        if start < end:
            parts += [piece[at:start], " " * (end - start)]
            at = end
    return "".join([*parts, piece[at:]]) if parts else piece


def _scan_piece(piece: str, budget: Budget) -> Iterator[Hit]:
    folded = fold(piece)
    scannable = folded if piece.isascii() else piece.encode("ascii", "replace").replace(b"\0", b" ")
    yield from engine.scan(scannable, budget)
    yield from context_hits(piece, folded, budget)
