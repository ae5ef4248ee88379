"""The run list's small map as paths, from the characters that the analysis keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StripDrawing:
    """A strip of `cells` cells; `paths` are (tone, path) in cells across and 0 to 10 down."""

    cells: int
    width: int
    paths: tuple[tuple[str, str], ...]


# Widest drawing in pixels, and the widest cell, so that short runs look short.
WIDTH = 210
CELL = 11
# By the characters of `analysis.strip`.
TONES = {
    ".": "wants",
    "f": "finished",
    "r": "repeat",
    "l": "warn",
    "u": "warn",
    "x": "bad",
    "c": "bad",
    "b": "bad",
    "e": "bad",
    "t": "breach",
    "o": "odd",
    "-": "gap",
}


def strip_paths(strip: str) -> StripDrawing | None:
    """The drawing of a strip, None when there is nothing to draw."""
    if not strip:
        return None
    paths: dict[str, list[str]] = {}
    for at, character in enumerate(strip):
        tone = TONES.get(character, "wants")
        tall = tone not in ("wants", "repeat", "gap")
        shape = "0h.84v10h-.84z" if tall else "1.5h.84v7h-.84z"
        paths.setdefault(tone, []).append(f"M{at + 0.08:g} {shape}")
    width = min(WIDTH, CELL * len(strip))
    return StripDrawing(
        len(strip), width, tuple((tone, "".join(parts)) for tone, parts in sorted(paths.items()))
    )
