"""All layers on one text: where its secrets are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from transcripts.masking import engine
from transcripts.masking.budget import Budget
from transcripts.masking.context import context_hits
from transcripts.masking.encoded import blob_hits
from transcripts.masking.fold import ascii_copy, fold
from transcripts.masking.known import KnownValues
from transcripts.masking.numbers import number_hits
from transcripts.masking.options import DEFAULT, Options
from transcripts.masking.pem import private_keys
from transcripts.masking.placeholders import covers_placeholder, hidden
from transcripts.masking.prose import prose_hits
from transcripts.masking.spans import Hit, merged
from transcripts.masking.views import DEPTH, View, decoded, unwrapped
from transcripts.masking.walk import JsonView, Number, json_view

# Longer texts are read in pieces: the engine's worst case grows faster than the text.
CHUNK: Final = 256 * 1024
# What two pieces share, so that a secret on a cut is whole in one of them.
OVERLAP: Final = 8 * 1024
# The rules that a project's choices turn on and off. Names are read beside values, see `walk`.
CHOSEN: Final = ("own.", "card", "iban", "email", "phone", "sensitive-name")


@dataclass(frozen=True, slots=True)
class Search:
    """What a search in one text goes by: its time, the project's choices, known values.

    `choices_alone`: nothing is looked for but what the project chose, see `chosen_hits`.
    """

    budget: Budget
    options: Options = DEFAULT
    known: KnownValues | None = None
    choices_alone: bool = False


class Found:
    """What was found in a text: merged hits, and its JSON numbers, whose masking needs quotes."""

    __slots__ = ("hits", "numbers")

    def __init__(self, hits: list[Hit], numbers: list[Number]) -> None:
        self.hits = hits
        self.numbers = numbers


def find(text: str, search: Search) -> Found:
    """The secrets of `text`, on the text as it came. Raises `OutOfTimeError`, `MaskingError`."""
    walked = json_view(text, search.budget, search.options)
    if walked is None:
        hits = _through_views(text, search)
        numbers: list[Number] = []
    else:
        hits = _lowered(
            walked,
            _joins_checked(walked, [*walked.named, *_through_views(walked.text, search)]),
        )
        numbers = walked.numbers
    kept = [hit for hit in merged(hits) if not covers_placeholder(text, hit.start, hit.end)]
    return Found(kept, numbers)


def chosen_hits(text: str, options: Options) -> list[Hit]:
    """Where a masked text holds what `options` would mask beyond what is masked in every project.

    Much cheaper than `find`, for trying choices on past runs. Raises `OutOfTimeError`.
    """
    search = Search(Budget(len(text)), options, choices_alone=True)
    return [hit for hit in find(text, search).hits if hit.rule.startswith(CHOSEN)]


def _joins_checked(walked: JsonView, hits: Iterable[Hit]) -> Iterator[Hit]:
    return (hit for hit in hits if walked.counts(hit.start, hit.end))


def _through_views(text: str, search: Search, *, deep: bool = True) -> list[Hit]:
    """Hits in `text` and in what it decodes to, all on `text`."""
    hits = list(_scan(text, search, deep=deep))
    if not search.choices_alone:
        hits += _unwrapped_hits(text, search)
    views: list[View] = []
    reading = text
    for _ in range(DEPTH):
        view = decoded(reading, search.budget.check)
        if view is None:
            break
        search.budget.check()
        views.insert(0, view)
        reading = view.text
        found: Iterable[Hit] = _scan(reading, search, deep=deep)
        for lower in views:
            found = _lowered(lower, found)
        hits += found
    return hits


def _unwrapped_hits(text: str, search: Search) -> list[Hit]:
    """Tokens that a line break cuts in two; only the engine's, and only what crosses a break."""
    wrapped = unwrapped(text)
    if wrapped is None:
        return []
    view, breaks = wrapped
    found = [
        hit
        for start in range(0, len(view.text), CHUNK)
        for hit in _shifted(
            engine.scan(ascii_copy(view.text[start : start + CHUNK]), search.budget), start
        )
        if bisect_left(breaks, hit.end) > bisect_right(breaks, hit.start)
    ]
    return _lowered(view, found)


def _shifted(hits: Iterable[Hit], by: int) -> Iterator[Hit]:
    return (Hit(h.start + by, h.end + by, h.rule, h.family, h.rank) for h in hits)


def _lowered(view: View, hits: Iterable[Hit]) -> list[Hit]:
    """Hits in a view, put on the text that it is a view of."""
    return [
        Hit(start, end, hit.rule, hit.family, hit.rank)
        for hit in hits
        for start, end in view.to_raw(hit.start, hit.end)
    ]


def _scan(text: str, search: Search, *, deep: bool) -> Iterator[Hit]:
    """Hits in one reading of a text, in pieces where it is long."""
    keys = list(private_keys(text)) if "PRIVATE KEY" in text or "Private-Lines" in text else []
    yield from keys
    for start in range(0, max(1, len(text)), CHUNK - OVERLAP):
        if start and start + OVERLAP >= len(text):
            break
        search.budget.check()
        piece = text[start : start + CHUNK]
        hits = _scan_piece(_without(piece, start, keys), search, deep=deep)
        yield from _shifted(hits, start)


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


def _scan_piece(piece: str, search: Search, *, deep: bool) -> Iterator[Hit]:
    piece = hidden(piece)
    folded = fold(piece)
    yield from number_hits(folded, search.options)
    for rule in search.options.rules:
        search.budget.check()
        yield from rule.hits(folded)
    if search.choices_alone:
        return
    yield from engine.scan(ascii_copy(piece), search.budget)
    yield from context_hits(piece, folded, search.budget, search.options)
    yield from prose_hits(folded, search.budget)
    if search.known is not None:
        yield from search.known.hits(piece, folded)
    if deep:
        yield from blob_hits(piece, lambda plain: _holds_secret(plain, search))


def _holds_secret(plain: str, search: Search) -> bool:
    """Whether what a blob decodes to holds a secret."""
    search.budget.check()
    walked = json_view(plain, search.budget, search.options)
    if walked is not None:
        return bool(walked.named or _through_views(walked.text, search, deep=False))
    return bool(_through_views(plain, search, deep=False))
