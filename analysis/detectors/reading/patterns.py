"""Patterns for transcript text: re2, which takes linear time on any text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import re2

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
# Bytes. A pattern that needs more falls back to a slower way of matching.
_OPTIONS.max_mem = 64 << 20


class Pattern:
    """A compiled pattern. Reads any text: re2 alone fails on lone surrogates, which JSON can
    hold.
    """

    __slots__ = ("_compiled",)

    def __init__(self, text: str) -> None:
        self._compiled = re2.compile(text, _OPTIONS)

    def search(self, text: str) -> Any:
        """The first match, or None."""
        return self._compiled.search(encodable(text))

    def finditer(self, text: str) -> Iterator[Any]:
        return iter(self._compiled.finditer(encodable(text)))

    def findall(self, text: str) -> list[Any]:
        return list(self._compiled.findall(encodable(text)))

    def sub(self, replacement: str, text: str) -> str:
        return str(self._compiled.sub(replacement, encodable(text)))


def encodable(text: str) -> str:
    """`text` as a plain string, with lone surrogates replaced."""
    # Masked text is a subclass that not all readers take.
    text = str(text)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
