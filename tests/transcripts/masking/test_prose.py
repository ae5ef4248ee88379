"""Sentences in seven languages that were written for no rule: see data/masking/prose.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcripts.masking.builders import a_masker, found

SENTENCES = Path(__file__).parents[2] / "data" / "masking" / "prose.txt"
LINES = [line for line in SENTENCES.read_text().splitlines() if line and line[0] != "#"]
SPOKEN = [line for line in LINES if not line.startswith("- ")]
HARMLESS = [line[2:] for line in LINES if line.startswith("- ")]


def parsed(line: str) -> tuple[str, list[tuple[int, int]]]:
    """The sentence without its marks, and the places of its secrets."""
    text, places = "", []
    for piece in line.split("⟦"):
        if "⟧" in piece:
            secret, rest = piece.split("⟧")
            places.append((len(text), len(text) + len(secret)))
            text += secret + rest
        else:
            text += piece
    return text, places


def test_most_spoken_secrets_are_found():
    total = hit = 0
    missed = []
    for line in SPOKEN:
        text, places = parsed(line)
        spans = a_masker().spans(text)[1]
        for start, end in places:
            total += 1
            if any(span.start <= start and span.end >= end for span in spans):
                hit += 1
            else:
                missed.append(line)

    assert hit / total >= 0.95, missed


@pytest.mark.parametrize("text", HARMLESS)
def test_talk_about_passwords_stays(text):
    assert found(text) == []


@pytest.mark.parametrize("line", SPOKEN)
def test_the_rest_of_the_sentence_stays(line):
    text, places = parsed(line)

    for span in a_masker().spans(text)[1]:
        assert any(span.start < end and span.end > start for start, end in places)
