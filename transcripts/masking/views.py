"""Other readings of a text, with maps back: what a person or a parser would see in it.

A token with a zero-width space in it, written as HTML entities, percent-encoded or with `\\uXXXX`
is still that token. Rules read the view; what they find is put back on the text as it came.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

# Zero-width, bidi, soft hyphen, variation selectors, tags, and other characters that show nothing.
INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
# What a view reads as one: one run of percent bytes, since UTF-8 needs several for one character.
ENCODED: Final = re.compile(
    rf"(?P<gone>[{INVISIBLE}]+)"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|(?:amp|lt|gt|quot|apos|nbsp|commat|colon|equals"
    r"|sol|period|excl|num|dollar|percnt|lowbar|hyphen|ast|plus|quest|lpar|rpar|comma|semi|Tab|NewLine"
    r"|auml|ouml|uuml|szlig|eacute|egrave|ccedil|ntilde|zwnj|zwj|shy));)"
    r"|(?P<percent>(?:%[0-9a-fA-F]{2})+)"
    r"|(?P<unicode>(?:\\u[0-9a-fA-F]{4})+)"
    r"|(?P<hex>(?:\\x[0-9a-fA-F]{2})+)"
    r"|(?P<escape>\\[nrtbf\"'/\\])"
)
# Where one may start: a search for one set of characters is many times faster than the choices.
MARKED: Final = re.compile(rf"[&%\\{INVISIBLE}]")
# A cheap test in C that spares most texts the search above.
MARKERS: Final = ("&", "%", "\\")
# A line break inside a token: mail and chat programs wrap long lines, and quote them with `>`.
WRAP: Final = re.compile(r"(?<=[A-Za-z0-9_+/=-]{24})[ \t]*\r?\n[ \t>|]*(?=[A-Za-z0-9_+/=-]{8})")
ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
# Doubly encoded text (escaped JSON in a URL) takes two readings; more are not seen in transcripts.
DEPTH: Final = 2
# After how many encoded pieces `decoded` says that it is at work.
TICKED_EVERY: Final = 1024


class Segment(NamedTuple):
    """`length` characters of a view from `start`, made of `raw_length` characters of the text from
    `raw`.

    Equal lengths mean character for character; otherwise the whole stands for the whole.
    """

    start: int
    length: int
    raw: int
    raw_length: int


class View:
    """A reading of a text. `bridging`: what lies between two pieces of one find belongs to it."""

    __slots__ = ("_segments", "_starts", "bridging", "text")

    def __init__(self, text: str, segments: list[Segment], *, bridging: bool) -> None:
        self.text = text
        self.bridging = bridging
        self._segments = segments
        self._starts = [segment.start for segment in segments]

    def to_raw(self, start: int, end: int) -> list[tuple[int, int]]:
        """The places in the text of what the view shows at `[start, end)`, in order, none empty."""
        places: list[tuple[int, int]] = []
        index = max(0, bisect_right(self._starts, start) - 1)
        while index < len(self._segments) and self._segments[index].start < end:
            segment = self._segments[index]
            index += 1
            low = max(start, segment.start)
            high = min(end, segment.start + segment.length)
            if low >= high:
                continue
            if segment.length == segment.raw_length:
                shift = segment.raw - segment.start
                place = (low + shift, high + shift)
            else:
                place = (segment.raw, segment.raw + segment.raw_length)
            if places and (self.bridging or places[-1][1] == place[0]):
                places[-1] = (places[-1][0], max(places[-1][1], place[1]))
            else:
                places.append(place)
        return places


def decoded(text: str, tick: Callable[[], None] | None = None) -> View | None:
    """The text with one layer of encodings undone, or None if there are none.

    `tick` is called now and then, and may raise to give up.
    """
    if text.isascii() and not any(marker in text for marker in MARKERS):
        return None
    pieces: list[str] = []
    segments: list[Segment] = []
    at = raw = 0
    for count, (start, end, plain) in enumerate(_encoded(text)):
        if tick is not None and count % TICKED_EVERY == 0:
            tick()
        if start > raw:
            pieces.append(text[raw:start])
            segments.append(Segment(at, start - raw, raw, start - raw))
            at += start - raw
        if plain:
            pieces.append(plain)
            # Every encoding is longer than what it stands for, so this never reads as one to one.
            segments.append(Segment(at, len(plain), start, end - start))
            at += len(plain)
        raw = end
    if raw == 0:
        return None
    if raw < len(text):
        pieces.append(text[raw:])
        segments.append(Segment(at, len(text) - raw, raw, len(text) - raw))
    return View("".join(pieces), segments, bridging=True)


def unwrapped(text: str) -> tuple[View, list[int]] | None:
    """The text with long tokens joined over line breaks, and where the breaks were; or None."""
    if "\n" not in text:
        return None
    pieces: list[str] = []
    segments: list[Segment] = []
    breaks: list[int] = []
    at = raw = 0
    for found in WRAP.finditer(text):
        start, end = found.span()
        pieces.append(text[raw:start])
        segments.append(Segment(at, start - raw, raw, start - raw))
        at += start - raw
        breaks.append(at)
        raw = end
    if not breaks:
        return None
    pieces.append(text[raw:])
    segments.append(Segment(at, len(text) - raw, raw, len(text) - raw))
    return View("".join(pieces), segments, bridging=True), breaks


def canonical(value: str) -> str:
    """The value behind its encodings, so that one secret has one id however it was written."""
    for _ in range(DEPTH):
        view = decoded(value)
        if view is None:
            break
        value = view.text
    return value


def _encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Each encoded piece of `text` with what it stands for."""
    done = 0
    for marked in MARKED.finditer(text):
        if marked.start() < done:
            continue
        found = ENCODED.match(text, marked.start())
        plain = None if found is None else _plain(found)
        if found is not None and plain is not None:
            done = found.end()
            yield found.start(), done, plain


def _plain(found: re.Match[str]) -> str | None:
    """What the encoded piece stands for; None if for nothing readable."""
    piece = found.group()
    match found.lastgroup:
        case "gone":
            return ""
        case "entity":
            plain = html.unescape(piece)
            return None if plain == piece else plain
        case "percent":
            return _utf8(bytes.fromhex(piece.replace("%", "")))
        case "hex":
            return _utf8(bytes.fromhex(piece.replace("\\x", "")))
        case "unicode":
            units = bytes.fromhex(piece.replace("\\u", ""))
            return units.decode("utf-16-be", "replace")
        case _:
            return ESCAPES.get(piece[1], piece[1])


def _utf8(encoded: bytes) -> str:
    return encoded.decode("utf-8", "replace")
