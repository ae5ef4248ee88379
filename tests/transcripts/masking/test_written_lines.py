"""Sentences, logs, files and commands that were written for no rule: see data/masking."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcripts.masking.builders import a_masker, found

FOLDER = Path(__file__).parents[2] / "data" / "masking"
BREAK = "\\n"


def lines(name: str) -> list[str]:
    """The lines of a data file, comments apart, with line breaks where it writes them."""
    listed = (FOLDER / name).read_text().splitlines()
    return [line.replace(BREAK, "\n") for line in listed if line and line[0] != "#"]


ALL = lines("prose.txt") + lines("structures.txt")
SECRET = [line for line in ALL if not line.startswith("- ")]
HARMLESS = [line[2:] for line in ALL if line.startswith("- ")]


def parsed(line: str) -> tuple[str, list[tuple[int, int]]]:
    """The line without its marks, and the places of its secrets."""
    text, places = "", []
    for piece in line.split("⟦"):
        if "⟧" in piece:
            secret, rest = piece.split("⟧")
            places.append((len(text), len(text) + len(secret)))
            text += secret + rest
        else:
            text += piece
    return text, places


@pytest.mark.parametrize("name", ["prose.txt", "structures.txt"])
def test_most_secrets_are_found(name):
    total = hit = 0
    missed = []
    for line in lines(name):
        if line.startswith("- "):
            continue
        text, places = parsed(line)
        spans = a_masker().spans(text)[1]
        for start, end in places:
            total += 1
            if any(span.start <= start and span.end >= end for span in spans):
                hit += 1
            else:
                missed.append(line)

    assert hit / total >= 0.98, missed


@pytest.mark.parametrize("text", HARMLESS)
def test_look_alikes_stay(text):
    assert found(text) == []


@pytest.mark.parametrize("line", SECRET)
def test_the_rest_of_the_line_stays(line):
    text, places = parsed(line)

    for span in a_masker().spans(text)[1]:
        assert any(span.start < end and span.end > start for start, end in places)
