"""Private key blocks: masked from first line to last, and to the end of the body if cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from transcripts.masking.spans import Hit, Rank

BEGIN: Final = re.compile(r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
END: Final = re.compile(r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
# What the body of a key is made of, headers and escaped line ends included, when the last line is
# missing.
BODY: Final = re.compile(
    r"(?:[A-Za-z0-9+/=\s\\\"',|>]|Proc-Type: ?\S+|DEK-Info: ?\S+|(?:Version|Comment): ?[^\n]*)*"
)
# Longest block in characters: an RSA key of 16,384 bits, escaped twice.
LONGEST: Final = 32_768
# Without a run of it there is no key: source code names the first and last lines, too.
MATERIAL: Final = re.compile(r"[A-Za-z0-9+/=]{16}")
PUTTY: Final = re.compile(r"Private-Lines: \d{1,4}\s+((?:[A-Za-z0-9+/=]{20,100}\s*)+)")


def private_keys(text: str) -> Iterator[Hit]:
    """Private key blocks in `text`, in one pass however many begin and never end."""
    at = 0
    ends: Iterator[int] = (found.end() for found in END.finditer(text))
    end = next(ends, None)
    while found := BEGIN.search(text, at):
        start = found.start()
        while end is not None and end <= start:
            end = next(ends, None)
        following = BEGIN.search(text, found.end())
        closes = end is not None and end - start <= LONGEST
        if closes and (following is None or following.start() >= (end or 0)):
            at = end or 0
        else:
            body = BODY.match(text, found.end(), min(len(text), found.end() + LONGEST))
            at = body.end() if body else found.end()
            if following is not None:
                at = min(at, following.start())
        if MATERIAL.search(text, found.end(), at):
            yield Hit(start, at, "private-key-block", "private-key", Rank.WHOLE)
    if "Private-Lines" in text:
        for block in PUTTY.finditer(text):
            yield Hit(*block.span(1), "putty-private-key", "private-key", Rank.WHOLE)
