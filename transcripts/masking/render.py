"""A text with its secrets replaced, and a map from it to the text as it came."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping

from transcripts.masking.spans import Hit
from transcripts.masking.views import Segment, View
from transcripts.masking.walk import Number


def rendered(text: str, hits: list[Hit], written: Mapping[Hit, str]) -> View:
    """`text` with each hit replaced by what is `written` for it; hits ascend and do not overlap."""
    pieces: list[str] = []
    segments: list[Segment] = []
    at = raw = 0
    for hit in hits:
        if hit.start > raw:
            pieces.append(text[raw : hit.start])
            segments.append(Segment(at, hit.start - raw, raw, hit.start - raw))
            at += hit.start - raw
        placeholder = written[hit]
        pieces.append(placeholder)
        segments.append(Segment(at, len(placeholder), hit.start, hit.end - hit.start))
        at += len(placeholder)
        raw = hit.end
    if raw < len(text):
        pieces.append(text[raw:])
        segments.append(Segment(at, len(text) - raw, raw, len(text) - raw))
    return View("".join(pieces), segments, bridging=True)


def widened(hits: list[Hit], numbers: list[Number]) -> list[Hit]:
    """Hits inside a JSON number grown to the whole of it, since a placeholder must be a string."""
    if not numbers:
        return hits
    numbers = sorted(numbers, key=lambda number: number.start)
    starts = [number.start for number in numbers]
    result = []
    for hit in hits:
        index = bisect_right(starts, hit.start) - 1
        if index >= 0 and numbers[index].end > hit.start:
            number = numbers[index]
            hit = Hit(number.start, number.end, hit.rule, hit.family, hit.rank)
        result.append(hit)
    return result


def quoted(placeholders: Mapping[Hit, str], numbers: list[Number]) -> dict[Hit, str]:
    """Placeholders as they are written: as JSON strings, escaped as deep, where a number stood."""
    depths = {number.start: number.depth for number in numbers}
    return {
        hit: _quote(placeholder, depths[hit.start]) if hit.start in depths else placeholder
        for hit, placeholder in placeholders.items()
    }


def _quote(placeholder: str, depth: int) -> str:
    text = f'"{placeholder}"'
    for _ in range(depth):
        text = json.dumps(text)[1:-1]
    return text
