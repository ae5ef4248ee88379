"""A text as bytes of the same length, which is what the linear-time matchers read fastest."""

from __future__ import annotations

from typing import Any, Final

import re2

# Typographic signs as their plain forms, and what would look like another encoding as blanks.
PLAIN: Final = {
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"), '"'),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u0060\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-"),
    **dict.fromkeys(map(ord, "\u2192\u21d2\u279c\u2794\u27f6"), ">"),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u202f\u2009\u200a\u3000\x00"), " "),
    **dict.fromkeys(map(ord, "\u2028\u2029\u0085"), "\n"),
    0xFF1A: ":",
    0xFF1D: "=",
}


def fold(text: str) -> bytes:
    """`text` with one Latin-1 byte a character; what Latin-1 lacks becomes `?`."""
    if text.isascii() and "\x00" not in text and "`" not in text:
        return text.encode("ascii")
    return text.translate(PLAIN).encode("latin-1", "replace")


def ascii_copy(text: str) -> bytes:
    """`text` with one ASCII byte a character, for the engine; what ASCII lacks becomes `?`.

    The engine reads other bytes as the start of UTF-16 or drops them, and then its places are off.
    """
    return text.encode("ascii", "replace").replace(b"\0", b" ")


def pattern(source: str, *, ignore_case: bool = True) -> Any:
    """`source` compiled for folded text. Raises `re2.error` if re2 does not take it."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = not ignore_case
    options.log_errors = False
    options.max_mem = 64 << 20
    return re2.compile(source.encode("latin-1"), options)
