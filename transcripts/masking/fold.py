"""A text as bytes of the same length, which is what the linear-time matchers read fastest."""

from __future__ import annotations

import codecs
from typing import Any, Final

import re2

# Typographic signs as their plain forms.
PLAIN: Final = {
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u2192\u21d2\u279c\u2794\u27f6", ">"),
    **dict.fromkeys("\u2007\u202f\u2009\u200a\u3000", " "),
    **dict.fromkeys("\u2028\u2029", "\n"),
    "\uff1a": ":",
    "\uff1d": "=",
}
# The same within Latin-1, and the zero byte as a blank.
PLAIN_BYTES: Final = bytes.maketrans(b"\xab\xbb`\xb4\xa0\x85\x00", b"\"\"'' \n ")


def _plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(PLAIN.get(sign, "?") for sign in signs), error.end


codecs.register_error("agentdesk.plainly", _plainly)


def fold(text: str) -> bytes:
    """`text` with one Latin-1 byte a character; what Latin-1 lacks becomes plain or `?`."""
    return text.encode("latin-1", "agentdesk.plainly").translate(PLAIN_BYTES)


def ascii_copy(text: str) -> bytes:
    """`text` with one ASCII byte a character, for the engine; what ASCII lacks becomes `?`.

    The engine reads other bytes as the start of UTF-16 or drops them, and then its places are off.
    """
    return text.encode("ascii", "replace").replace(b"\0", b" ")


def pattern(source: str) -> Any:
    """`source` compiled for folded text, without case. Raises `re2.error` if it is no pattern."""
    return compiled(source.encode("latin-1"), ignore_case=True)


def gate(*patterns: Any) -> Any:
    """A pattern that matches in a text where one of `patterns` does, which `pattern` made.

    Most texts hold nothing that any rule looks for, and one search says so for many.
    """
    union = b"|".join(b"(?:%s)" % each.pattern for each in patterns)
    return compiled(union, ignore_case=True, captures=False)


def compiled(source: bytes, *, ignore_case: bool = False, captures: bool = True) -> Any:
    """A pattern of Latin-1 bytes, compiled. Raises `re2.error` if re2 does not take it."""
    options = re2.Options()
    options.never_capture = not captures
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = not ignore_case
    options.log_errors = False
    options.max_mem = 64 << 20
    return re2.compile(source, options)
