"""JSON strings decoded, with the place of each character in the outermost text."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Final

from transcripts.masking.views import Segment

ESCAPE: Final = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.", re.DOTALL)
SIMPLE: Final = {r"\n": "\n", r"\"": '"', r"\\": "\\", r"\t": "\t", r"\r": "\r", r"\/": "/"}


def decoded_string(body: str, offset: int, under: Under) -> tuple[str, list[Segment]]:
    """What stands between the quotes of a JSON string at `offset`, decoded, with its segments."""
    if "\\" not in body:
        return body, under.put([Segment(0, len(body), offset, len(body))] if body else [])
    pieces: list[str] = []
    segments: list[Segment] = []
    at = raw = 0
    for found in ESCAPE.finditer(body):
        start, end = found.span()
        if start > raw:
            segments.append(Segment(at, start - raw, offset + raw, start - raw))
            pieces.append(body[raw:start])
            at += start - raw
        escape = found.group()
        plain = SIMPLE.get(escape) or json.loads(f'"{escape}"')
        segments.append(Segment(at, len(plain), offset + start, end - start))
        pieces.append(plain)
        at += len(plain)
        raw = end
    if raw < len(body):
        segments.append(Segment(at, len(body) - raw, offset + raw, len(body) - raw))
        pieces.append(body[raw:])
    return "".join(pieces), under.put(segments)


class Under:
    """What a JSON text is a view of: its characters' places in the outermost text."""

    __slots__ = ("_down", "_same", "_starts")

    def __init__(self, down: list[Segment]) -> None:
        self._down = down
        self._starts = [segment.start for segment in down]
        self._same = len(down) == 1 and down[0].start == down[0].raw == 0

    def put(self, segments: list[Segment]) -> list[Segment]:
        """Segments to the JSON text as segments to the outermost text."""
        if self._same:
            return segments
        result: list[Segment] = []
        for start, length, low, raw_length in segments:
            pieces = self._through(low, low + raw_length)
            if length == raw_length:
                shift = start - low
                result += [Segment(p.start + shift, p.length, p.raw, p.raw_length) for p in pieces]
            else:
                first, last = pieces[0], pieces[-1]
                reach = last.raw + last.raw_length - first.raw
                result.append(Segment(start, length, first.raw, reach))
        return result

    def _through(self, low: int, high: int) -> list[Segment]:
        """The parts that cover `[low, high)` of the JSON text."""
        pieces: list[Segment] = []
        index = max(0, bisect_right(self._starts, low) - 1)
        while index < len(self._down) and self._starts[index] < high:
            at, length, raw, raw_length = self._down[index]
            index += 1
            start, end = max(low, at), min(high, at + length)
            if start >= end:
                continue
            if length == raw_length:
                pieces.append(Segment(start, end - start, raw + start - at, end - start))
            else:
                pieces.append(Segment(start, end - start, raw, raw_length))
        return pieces
