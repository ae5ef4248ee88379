"""Where words stand in a text, whatever their case, accents and width."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from transcripts.text_index.words import folded


def spans_of(text: str, words: str) -> Iterator[tuple[int, int]]:
    """From and to of each place, in characters of the text; the accents behind its last letter
    belong to it. Takes time for each letter: for excerpts.
    """
    wanted = folded(words)
    if not wanted:
        return
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        plain = _folded_letter(letter)
        letters.append(plain)
        places += [place] * len(plain)
    plain = "".join(letters)
    at = plain.find(wanted)
    while at >= 0:
        end = places[at + len(wanted) - 1] + 1
        while end < len(text) and not letters[end]:
            end += 1
        yield places[at], end
        at = plain.find(wanted, at + len(wanted))


@lru_cache(maxsize=5_000)
def _folded_letter(letter: str) -> str:
    return folded(letter)
