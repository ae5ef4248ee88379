"""Reads what a person searches for: words, "exact phrases", parts*, -words not to be there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from transcripts.text_index.words import (
    INNER,
    LONGEST,
    atoms_of,
    folded,
    has_pairs,
    is_joined,
    written,
)

# More words than this narrow nothing further.
MOST_TERMS = 12
_PIECES = re.compile(r'(-?)(?:"([^"]*)"?|“([^”]*)”?|(\S+))')
# Where a word begins (also behind an escape of JSON, folded) and ends.
_EDGE, _END = r"(?:(?<![^\W_])|(?<=/[nrt]))", r"(?![^\W_])"
# Shorter words are not looked for within others.
_INNER_LEAST = 3
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


@dataclass(frozen=True)
class Asked:
    """What is searched for. `terms` are text queries, all of which a run's rows must meet; `loose`
    ones are met by more, for where nothing meets the others; `without` must not be met. `phrases`
    must stand in one text as they are; `shows` finds what is to be marked, `loose_shows` what is
    where beginnings and parts of words count. All look at folded text.
    """

    terms: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    phrases: tuple[re.Pattern[str], ...] = ()
    loose_phrases: tuple[re.Pattern[str], ...] = ()
    shows: tuple[re.Pattern[str], ...] = ()
    loose_shows: tuple[re.Pattern[str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def loosened(self) -> Asked:
        """The same with parts of identifiers, and beginnings and parts of words."""
        return Asked(
            self.loose,
            self.loose,
            self.without,
            self.loose_phrases,
            self.loose_phrases,
            self.loose_shows,
            self.loose_shows,
        )


class _Reading:
    def __init__(self) -> None:
        self.terms: dict[str, None] = {}
        self.loose: dict[str, None] = {}
        self.without: dict[str, None] = {}
        self.phrases: list[re.Pattern[str]] = []
        self.loose_phrases: list[re.Pattern[str]] = []
        self.shows: list[re.Pattern[str]] = []
        self.loose_shows: list[re.Pattern[str]] = []

    def phrase(self, words: list[str]) -> None:
        for word in words:
            self.terms.update(dict.fromkeys(_terms(word)))
            self.loose.update(dict.fromkeys(map(_lexeme, atoms_of(word))))
        pattern = re.compile(_EDGE + r"[^\w]{1,9}".join(_loosely(word) for word in words) + _END)
        if any(has_pairs(word) for word in words):
            pattern = re.compile(r"[^\w]{0,9}".join(re.escape(folded(word)) for word in words))
        self.phrases.append(pattern)
        self.loose_phrases.append(pattern)
        self.shows.append(pattern)
        self.loose_shows.append(pattern)

    def word(self, word: str, *, begins: bool) -> None:
        atoms = [_lexeme(atom) for atom in atoms_of(word)]
        if begins:
            last = f"'{atoms_of(word)[-1][:LONGEST]}':*"
            for terms in (self.terms, self.loose):
                terms.update(dict.fromkeys([*atoms[:-1], last]))
        else:
            self.terms.update(dict.fromkeys(_terms(word)))
            self.loose.update(dict.fromkeys([*atoms[:-1], _loose_term(word)]))
        if has_pairs(word):
            self.shows.append(re.compile(re.escape(folded(word))))
            self.loose_shows.append(self.shows[-1])
            if len(atoms) > 1:
                self.phrases.append(self.shows[-1])
                self.loose_phrases.append(self.shows[-1])
            return
        pattern = _EDGE + _loosely(word)
        self.shows.append(re.compile(pattern if begins else pattern + _END))
        self.loose_shows.append(_loose_show(word))
        if is_joined(word):
            self.loose_phrases.append(re.compile(pattern))


def asked_of(text: str) -> Asked:
    """What `text` asks for; false where it holds no word."""
    reading = _Reading()
    for found in list(_PIECES.finditer(text))[:MOST_TERMS]:
        minus, *quoted, bare = found.groups()
        phrase = quoted[0] if quoted[0] is not None else quoted[1]
        words = written(bare if phrase is None else phrase)
        if not words:
            continue
        if minus:
            reading.without[" & ".join(term for word in words for term in _terms(word))] = None
        elif phrase is not None and len(words) > 1:
            reading.phrase(words)
        else:
            begins = bool(bare) and bare.endswith("*")
            for word in words:
                reading.word(word, begins=begins and word is words[-1])
    return Asked(
        tuple(reading.terms),
        tuple(reading.loose),
        tuple(reading.without) if reading.terms else (),
        tuple(reading.phrases),
        tuple(reading.loose_phrases),
        tuple(reading.shows),
        tuple(reading.loose_shows),
    )


def _terms(word: str) -> list[str]:
    """The text queries that a word as written takes: an identifier whole, letters in pairs."""
    if is_joined(word) and not has_pairs(word):
        return [_lexeme(folded(word))]
    atoms = atoms_of(word)
    if len(atoms) == 1 and has_pairs(word) and len(atoms[0]) == 1:
        # One letter begins a pair, or is the last.
        return [f"{_lexeme(atoms[0])}:*"]
    return [_lexeme(atom) for atom in atoms]


def _loose_term(word: str) -> str:
    """A text query that the last word of an identifier meets also as a beginning, within a longer
    word, and with an umlaut where two letters are written for it, or the other way round.
    """
    atom = atoms_of(word)[-1][:LONGEST]
    beginnings = [atom, re.sub("([aou])e", r"\1", atom)]
    written_out = word.casefold().translate(_UMLAUTS)
    if written_out != word.casefold():
        beginnings.append(atoms_of(written_out)[-1][:LONGEST])
    if len(atom) >= _INNER_LEAST and atom.isalpha():
        beginnings += [INNER + each for each in tuple(beginnings)]
    return " | ".join(f"{_lexeme(each)}:*" for each in dict.fromkeys(beginnings))


def _loose_show(word: str) -> re.Pattern[str]:
    pattern = re.sub("([aou])e?", r"\1e?", _loosely(word)) if word.isalpha() else _loosely(word)
    within = word.isalpha() and len(word) > _INNER_LEAST
    return re.compile(pattern if within else _EDGE + pattern)


def _lexeme(word: str) -> str:
    return "'" + word[:LONGEST].replace("'", "''").replace("\\", "\\\\") + "'"


def _loosely(word: str) -> str:
    return r"[_\-./@:\\]{1,3}".join(re.escape(atom) for atom in atoms_of(word))
