"""One span as any OTLP exporter sends it, and what is wrong with those that cannot be taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

ERROR_STATUS: Final = 2
OK_STATUS: Final = 1
TRACE_ID_DIGITS: Final = 32
SPAN_ID_DIGITS: Final = 16


class Event(msgspec.Struct, array_like=True):
    """Something that happened within a span."""

    name: str
    attributes: dict[str, Any]


class Source(msgspec.Struct, array_like=True, frozen=True):
    """What made spans: the attributes of the process, and the instrumentation's name."""

    resource: dict[str, Any] = {}
    scope: str = ""


class Span(msgspec.Struct, array_like=True):
    """One span. Ids are lower-case hex, times nanoseconds since 1970 (0: not said).

    Attribute values are texts, booleans, integers, floats, None, and lists and objects of them;
    bytes are base64 text. `status` is 0 (unset), 1 (ok) or 2 (error).
    """

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    start: int = 0
    end: int = 0
    attributes: dict[str, Any] = {}
    status: int = 0
    status_message: str = ""
    events: list[Event] = []
    source: Source = Source()

    @property
    def failed(self) -> bool | None:
        """What the status says; a span that says nothing failed where it names an error."""
        if self.status == ERROR_STATUS or self.attributes.get("error.type"):
            return True
        return False if self.status == OK_STATUS else None

    @property
    def error(self) -> str:
        """The error's text, as far as the span has one."""
        if self.status_message:
            return self.status_message
        for event in self.events:
            if event.name == "exception" and (said := event.attributes.get("exception.message")):
                return str(said)
        return str(self.attributes.get("error.type") or "")


class Rejected(msgspec.Struct, array_like=True, gc=False):
    """A span that is not taken, and why."""

    why: str


class BrokenError(ValueError):
    """A request that is no OTLP, or breaks off; the message says where and quotes no content."""


# Values are read to this depth; what stands in the place of those below it.
MAX_DEPTH: Final = 32
TOO_DEEP: Final = f"(nested more than {MAX_DEPTH} deep, not kept)"
BROKEN: Final = "broken"
NO_TRACE_ID: Final = "without a trace id"
NO_SPAN_ID: Final = "without a span id"


def why_rejected(trace_id: str, span_id: str) -> str:
    """Why a span with these ids is not taken; empty where it is. Ids of zeros are none (OTLP)."""
    if len(trace_id) != TRACE_ID_DIGITS or not trace_id.strip("0"):
        return NO_TRACE_ID
    if len(span_id) != SPAN_ID_DIGITS or not span_id.strip("0"):
        return NO_SPAN_ID
    return ""


def text_of(attributes: Mapping[str, Any], *keys: str) -> str:
    """The first of these attributes that is a text with something in it."""
    for key in keys:
        value = attributes.get(key)
        if isinstance(value, str) and value:
            return value
    return ""
