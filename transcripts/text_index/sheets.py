"""Makes the rows of the text index: one holds the words of some rounds of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from transcripts.text_index.words import (
    LONGEST,
    SHORTEST_COMPOUND,
    inner_parts,
    readable,
    words_in,
)

# A row ends after so many characters of text or so many rounds: large ones are cheap to keep, small
# ones quick to look through for the line that is shown.
MOST_LETTERS = 160_000
MOST_ROUNDS = 100
# A text vector holds 1 MB; the words of a text that is longer than this are kept in several rows.
LONGEST_TEXT = 400_000
# The runs of a project, in the order of their arrival, by the thousand and by sixteen thousands.
STEPS = {"b": 10, "c": 14}


@dataclass(frozen=True)
class RoundText:
    """What of one round is searched. `marks` are tools called and stop reasons (`mark_of`)."""

    number: int
    texts: tuple[str, ...]
    marks: frozenset[str] = frozenset()


@dataclass
class Sheet:
    """One row: the rounds that it holds, and by which words and marks they are found."""

    rounds: list[int] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)
    letters: int = 0

    @property
    def full(self) -> bool:
        return self.letters >= MOST_LETTERS or len(self.rounds) >= MOST_ROUNDS

    def add(self, number: int, text: str, marks: Iterable[str]) -> None:
        """Add what a round holds, or a part of it."""
        if self.rounds[-1:] != [number]:
            self.rounds.append(number)
        self.words |= words_in(text)
        self.marks.update(marks)
        self.letters += len(text)

    def vector(self, scopes: Iterable[str]) -> str:
        """The row's words as Postgres reads a `tsvector`."""
        words = set(self.words)
        if max(map(len, words), default=0) > LONGEST:
            words = {word[:LONGEST] for word in words}
        words |= {
            inner
            for word in words
            if len(word) >= SHORTEST_COMPOUND or not word.isascii()
            for inner in inner_parts(word)
        }
        told = "' '".join(words)
        marks = "' '".join((*scopes, *sorted(self.marks)))
        return f"'{marks}' '{told}'" if told else f"'{marks}'"


def sheets_of(rounds: Iterable[RoundText]) -> Iterator[Sheet]:
    """The rows for rounds in ascending order; a round ends up in several where it is very long."""
    sheet = Sheet()
    for round_ in rounds:
        text = "\n".join(readable(text) for text in round_.texts)
        for start in range(0, max(len(text), 1), LONGEST_TEXT):
            if sheet.full:
                yield sheet
                sheet = Sheet()
            sheet.add(round_.number, text[start : start + LONGEST_TEXT], round_.marks)
    if sheet.rounds:
        yield sheet


def scopes_of(*, project_pk: int, run_pk: int) -> list[str]:
    """The marks by which runs are told apart: of a project, and of the project and a time."""
    return [
        f"#p{project_pk}",
        *(f"#{step}{project_pk}_{run_pk >> bits}" for step, bits in STEPS.items()),
    ]


def mark_of(kind: str, name: str) -> str:
    """The mark of a tool (`t`) or a stop reason (`s`): no text, so that any reader may ask for
    it.
    """
    plain = "".join(letter if letter not in "'\\\0" else "_" for letter in name)
    # Of a text vector's words none may be longer than 2,046 bytes.
    return f"#{kind}:{plain[:400]}"
