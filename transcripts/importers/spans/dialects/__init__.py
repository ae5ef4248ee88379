"""The dialects in which instrumentations describe model requests, one module each.

Decided for each span by its own attributes, since one trace may mix them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from transcripts.importers.spans.dialects import (
    genai,
    langfuse,
    openinference,
    openllmetry,
    vercel,
)
from transcripts.importers.spans.span import Span
from transcripts.importers.spans.told import Told, told


class Dialect(NamedTuple):
    """A dialect: `knows` by a span's attributes, `read` the span."""

    name: str
    knows: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Span], Told]


# The order decides: some instrumentations write a second dialect's attributes beside their own.
DIALECTS: Final = (
    Dialect("openinference", openinference.knows, openinference.read),
    Dialect("langfuse", langfuse.knows, langfuse.read),
    Dialect("openllmetry", openllmetry.knows_numbered, openllmetry.read),
    Dialect("genai", genai.knows, genai.read),
    Dialect("openllmetry", openllmetry.knows, openllmetry.read),
    Dialect("vercel", vercel.knows, vercel.read),
)
PLAIN: Final = "plain"


def read_span(span: Span) -> tuple[str, Told]:
    """A span by its dialect, with the dialect's name; `plain`: it is of no agent, and groups."""
    for dialect in DIALECTS:
        if dialect.knows(span.attributes):
            return dialect.name, dialect.read(span)
    return PLAIN, told(span, "")
