"""What was found once in a run is masked everywhere in it, without keeping it in plain text."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

import re2

from transcripts.masking.fold import compiled, fold
from transcripts.masking.placeholders import RunKey
from transcripts.masking.spans import Hit, Rank
from transcripts.masking.values import DIGIT, LETTER, SYMBOL

# A shorter or plainer value would take innocent words and numbers with it.
SHORTEST: Final = 6
# Longer values are found by their own rules wherever they stand.
LONGEST: Final = 512
# With more values than this in one run, those beyond are found by their own rules alone.
MOST: Final = 500
TOKEN: Final = re.compile(r"[^\s\"'`<>()\[\]{},;|&]{6,512}")
CUTS: Final = re.compile(r"[=:@/?#]")
TRAILING: Final = ".,:;!?"
# Between a family and a ticket in what is stored; no family holds it.
MARK: Final = ":"


class KnownValues:
    """The secrets of one run: digests with families to store, plain values for this call alone.

    `stored` is what `to_store` answered before; a bare family is read too.
    """

    __slots__ = ("_key", "_matcher", "_news", "_news_matcher", "_plain", "_stored", "_told")

    def __init__(self, key: RunKey, stored: Mapping[str, str]) -> None:
        self._key = key
        self._stored = frozenset(stored)
        self._plain: dict[str, None] = {}
        self._matcher: Any = None
        self._news: dict[str, None] = {}
        self._news_matcher: Any = None
        self._told: dict[str, str] = dict(stored)

    def learn(self, value: str, family: str) -> str:
        """Remember a secret; answers the family under which it is known."""
        digest = self._key.digest(value)
        if is_distinct(value) and value not in self._plain and len(self._plain) < MOST:
            self._plain[value] = None
            self._matcher = None
            if digest not in self._stored:
                self._news[value] = None
                self._news_matcher = None
        told = self._told.get(digest)
        if told is None:
            told = self._told[digest] = f"{family}{MARK}{self._key.ticket(value)}"
        return told.partition(MARK)[0]

    def to_store(self) -> dict[str, str]:
        """Digests of all secrets seen, each with `family:ticket` (see `RunKey.ticket`)."""
        return dict(self._told)

    def count(self) -> int:
        """How many plain values this call has learned."""
        return len(self._plain)

    def may_be_in(self, text: str) -> bool:
        """Whether a value that this call learned may stand in `text`, however written."""
        return bool(self._plain) and self._forms().search(fold(text)) is not None

    def news_may_be_in(self, text: str) -> bool:
        """The same of the values that were not among those stored."""
        if not self._news:
            return False
        if self._news_matcher is None:
            self._news_matcher = _matcher(self._news)
        return self._news_matcher.search(fold(text)) is not None

    def news(self) -> int:
        """How many values were learned that were not among those stored."""
        return len(self._news)

    def stands_in(self, text: str) -> bool:
        """Whether a known value stands in `text`."""
        if not (self._plain or self._stored):
            return False
        return next(self.hits(text, fold(text)), None) is not None

    def hits(self, text: str, folded: bytes) -> Iterator[Hit]:
        """Where known values stand in `text`; `folded` is `fold(text)`."""
        if self._plain:
            for found in self._forms().finditer(folded):
                start, end = found.span()
                value = text[start:end]
                if value in self._plain and _stands_alone(text, start, end):
                    yield self._hit(start, end, value)
        if self._stored:
            for start, end in _tokens(text):
                value = text[start:end]
                if is_distinct(value) and self._key.digest(value) in self._stored:
                    yield self._hit(start, end, value)

    def _hit(self, start: int, end: int, value: str) -> Hit:
        family = self._told.get(self._key.digest(value), "known").partition(MARK)[0]
        return Hit(start, end, "known-value", family, Rank.KNOWN)

    def _forms(self) -> Any:
        """All plain values as they are written in texts, JSON, URLs and HTML, as one pattern."""
        if self._matcher is None:
            self._matcher = _matcher(self._plain)
        return self._matcher


def _matcher(values: Iterable[str]) -> Any:
    forms = {form for value in values for form in _written(value)}
    # The longest first: where one value begins another, the whole is meant.
    ordered = sorted(forms, key=len, reverse=True)
    return compiled("|".join(re2.escape(form) for form in ordered).encode("latin-1"))


def is_distinct(value: str) -> bool:
    """Whether `value` is odd enough to be looked for everywhere."""
    if not SHORTEST <= len(value) <= LONGEST:
        return False
    kinds = sum(bool(kind.search(value)) for kind in (DIGIT, LETTER, SYMBOL))
    return kinds >= 2 and (len(value) >= 8 or bool(DIGIT.search(value)))


def _written(value: str) -> Iterator[str]:
    escaped = json.dumps(value, ensure_ascii=False)[1:-1]
    twice = json.dumps(escaped, ensure_ascii=False)[1:-1]
    url = quote(value.encode("utf-8", "surrogatepass"), safe="")
    for form in (value, escaped, twice, url, html.escape(value)):
        yield fold(form).decode("latin-1")


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() and text[start].isalnum()) and not (
        after.isalnum() and text[end - 1].isalnum()
    )


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    """Words of `text`, and their parts at signs that stand beside secrets."""
    for found in TOKEN.finditer(text):
        start, end = found.span()
        bare = start + len(found.group().rstrip(TRAILING))
        yield start, end
        if bare < end:
            yield start, bare
        marks = [cut.start() for cut in CUTS.finditer(text, start, bare)]
        for at, mark in enumerate(marks[:8]):
            yield mark + 1, bare
            for later in marks[at + 1 : 9]:
                yield mark + 1, later
