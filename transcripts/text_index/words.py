"""Takes text apart into what can be searched for, in any language.

A word is letters and digits with their marks. Words that `_ - . / @ :` or a backslash join are one
identifier, which is kept whole, and in its parts at each joint, so that `INC-4417`, a path and an
e-mail address are found as they are written and by each of their parts. Scripts that set no space
between words (Chinese, Japanese, Korean, Thai and others) are kept as pairs of letters that stand
side by side. Upper and lower case, full and half width, and accents on letters make no difference;
nor do vowel signs of Arabic and Hebrew, and letters that are written in two ways (ø and o, œ and
oe).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

# What is longer is cut here, in the index and in what is searched for alike.
LONGEST = 64
# An identifier of more parts is a path or a blob, of which no part between is worth its place.
MOST_PARTS = 16

# ASCII text is taken apart by two calls that are written in C; joints stay at the ends of words.
_KEPT = "abcdefghijklmnopqrstuvwxyz0123456789_-./@:\\"
_SPACED = {code: chr(code) if chr(code) in _KEPT else " " for code in range(128)}
_EDGES = "_-./@:\\"
# Letters, digits and the marks that letters carry, which are no letters to `re`: all from the Latin
# supplement on, but for the blocks and signs that are punctuation or symbols.
_LETTER = (
    "[0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u037d\u037f-\u0386\u0388-\u0559"
    "\u0561-\u0588\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7-\u05f2\u0610-\u061a"
    "\u0620-\u0669\u066e-\u06d3\u06d5-\u0963\u0966-\u0e4e\u0e50-\u0e59\u0e5c-\u0f00\u0f15-\u1049"
    "\u1050-\u10fa\u10fc-\u135f\u1369-\u166c\u166f-\u169a\u16a0-\u16ea\u16ee-\u1734\u1737-\u17d3"
    "\u17d7\u17dc-\u17ff\u180b-\u1fff\u200c\u200d\u2c00-\u2cf8\u2cfd-\u2dff\u3005-\u3007\u3021-\u3029"
    "\u3031-\u3035\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\ud7ff\uf900-\ufd3d\ufd50-\ufdfb"
    "\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc\U00010000-\U0001efff"
    "\U00020000-\U0003ffff]"
)
_ANY = re.compile(rf"{_LETTER}+(?:[_\-./@:\\]{{1,3}}{_LETTER}+)*")
_PAIRED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]+"
)
# Accents, vowel signs and joiners, which people write or leave out.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u200c\u200d\ufe0e\ufe0f]"
)
# Letters that Unicode does not take apart into one of these and an accent.
_ALIKE = {
    "ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ŧ": "t",
    "\u0131": "i", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "\u0647",
}  # fmt: skip
_ALIKE_LETTERS = re.compile(f"[{''.join(_ALIKE)}]")
# Of JSON within JSON the escapes are still there where the outer ones are undone; it might also be
# a path, so that the word is kept with its first letter and without.
_INNER_ESCAPE = re.compile(r"\\[nrt]([^\\/.@:_-]+)")
# Long words are made of others ("Zugangsberechtigung"); those of Arabic and Hebrew begin with
# articles and prepositions. What begins within them is kept, with a mark of its own.
INNER = "~"
SHORTEST_COMPOUND, LONGEST_COMPOUND = 15, 40
_PREFIXED = re.compile("[\u05d0-\u05ea\u0620-\u064a\u066e-\u06d3]{4,40}")
_JOINTS = (re.compile("[/:]+"), re.compile("@+"), re.compile(r"\.+"), re.compile("[_-]+"))
_ATOMS = re.compile(r"[/:@._-]+")
_ESCAPES = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_ESCAPED = {"n": "\n", "t": "\t", "r": "\n", "b": " ", "f": " "}


def readable(text: str) -> str:
    """The text as a person reads it: in JSON, what its escapes stand for."""
    if "\\" not in text or text.lstrip()[:1] not in '{["':
        return text
    return _ESCAPES.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    code, letter = found.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)


def places_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each word and identifier stands, from and to, and what it is as written."""
    for found in _ANY.finditer(text):
        yield found.start(), found.end(), found.group()


def written(text: str) -> list[str]:
    """The words and identifiers of a text as they are written, in order."""
    words = (word.strip(_EDGES) for word in _ANY.findall(text))
    return [word for word in words if atoms_of(word)]


def words_in(text: str) -> set[str]:
    """Everything by which a text is found: its words, its identifiers, and their parts."""
    if text.isascii():
        found = set(text.lower().translate(_SPACED).split())
        joined = [word for word in found if not word.isalnum()]
        found.difference_update(joined)
    else:
        found, joined = set(), _ANY.findall(text)
    for word in joined:
        found.update(parts_of(word))
    return found


@lru_cache(maxsize=50_000)
def parts_of(word: str) -> tuple[str, ...]:
    """What a word is kept as: itself, where it is an identifier at each joint, and its atoms."""
    whole = folded(word).strip(_EDGES)
    atoms = atoms_of(whole)
    parts = dict.fromkeys(atoms)
    if len(atoms) > 1 and _ATOMS.search(whole):
        parts[whole] = None
        if len(atoms) <= MOST_PARTS:
            _add_pieces(whole, 0, parts)
    for inner in _INNER_ESCAPE.findall(word) if "\\" in word else ():
        parts.update(dict.fromkeys(atoms_of(inner)))
    if atoms and len(atoms[-1]) == 2 and _PAIRED.fullmatch(atoms[-1]):
        # The last letter stands in no pair's first place.
        parts[atoms[-1][1]] = None
    return tuple(parts)


def inner_parts(word: str) -> Iterator[str]:
    """What begins within a folded word, as it is kept: "~berechtigung" of "zugangsberechtigung"."""
    if len(word) > LONGEST_COMPOUND or not word.isalpha():
        return
    if len(word) >= SHORTEST_COMPOUND and not _PAIRED.search(word):
        starts = range(3, len(word) - 3)
    elif not word.isascii() and _PREFIXED.fullmatch(word):
        starts = range(1, min(4, len(word) - 2))
    else:
        return
    for start in starts:
        yield INNER + word[start:]


def _add_pieces(text: str, joint: int, parts: dict[str, None]) -> None:
    for at in range(joint, len(_JOINTS)):
        pieces = [piece for piece in _JOINTS[at].split(text) if piece]
        if len(pieces) == 1:
            continue
        for piece in pieces:
            if _ATOMS.search(piece):
                parts[piece] = None
                _add_pieces(piece, at + 1, parts)
        return


def atoms_of(word: str) -> list[str]:
    """The smallest parts of a word or identifier, in order: words, and pairs of letters."""
    atoms: list[str] = []
    for piece in _ATOMS.split(folded(word)):
        if not piece:
            continue
        if piece.isascii():
            atoms.append(piece)
        else:
            atoms += _with_pairs(piece)
    return atoms


def _with_pairs(piece: str) -> Iterator[str]:
    at = 0
    for found in _PAIRED.finditer(piece):
        if found.start() > at:
            yield piece[at : found.start()]
        letters = found.group()
        if len(letters) == 1:
            yield letters
        for i in range(len(letters) - 1):
            yield letters[i : i + 2]
        at = found.end()
    if at < len(piece):
        yield piece[at:]


def has_pairs(word: str) -> bool:
    """Whether some of a word's letters are kept in pairs."""
    return not word.isascii() and bool(_PAIRED.search(folded(word)))


def is_joined(word: str) -> bool:
    """Whether it is an identifier of several parts."""
    return bool(_ATOMS.search(folded(word)))


def folded(word: str) -> str:
    """A word without case, width and accents; one kind of slash."""
    if word.isascii():
        return word.lower().replace("\\", "/")
    plain = unicodedata.normalize("NFKC", _ACCENTS.sub("", unicodedata.normalize("NFKD", word)))
    plain = plain.casefold().replace("\\", "/")
    return _ALIKE_LETTERS.sub(lambda found: _ALIKE[found[0]], plain)
