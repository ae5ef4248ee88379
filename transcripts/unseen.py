"""Characters that change what one sees without being seen."""

from __future__ import annotations

import re

# All of C0 and C1 but tab and newline, soft hyphen, and the format, tag, variation and filler
# characters that change what one sees without being seen; line and paragraph separators.
UNSEEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff\U0001d173-\U0001d17a]"
)
# Letters of some languages are joined, or kept apart, by these two.
_LEFT_OUT = re.compile(f"(?![\u200c\u200d]){UNSEEN}")


def name_cleaned(name: str) -> str:
    """A person's name on one line, without characters that could make it look like another's."""
    return " ".join(_LEFT_OUT.sub("", name.replace("\t", " ").replace("\n", " ")).split())
