"""Reads `ExportTraceServiceRequest` from its protobuf bytes.

By hand, since the few messages of OTLP are plain: fields of numbers and lengths. That takes no
library, says where bytes break off, and passes over what it does not know, as protobuf asks.
Source: opentelemetry-proto 1.9, trace.proto, common.proto, resource.proto.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transcripts.importers.spans.span import (
    BROKEN,
    MAX_DEPTH,
    TOO_DEEP,
    BrokenError,
    Event,
    Rejected,
    Source,
    Span,
    why_rejected,
)

# Wire types.
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_DOUBLE = struct.Struct("<d")
_UINT64 = struct.Struct("<Q")
Value = int | bytes


@dataclass(frozen=True, slots=True)
class Request:
    """The bytes of a request, where a file is one."""

    content: bytes


def looks_like_spans(content: bytes) -> bool:
    """Whether bytes are an OTLP request: nothing but fields 1 that hold resources or spans.

    A text that begins with a line break has the same first byte.
    """
    if content[:1] != b"\n":
        return False
    try:
        groups = [value for _, value in _fields(content)]
        inner = [
            field for group in groups if isinstance(group, bytes) for field, _ in _fields(group)
        ]
    except BrokenError:
        return False
    return bool(inner) and set(inner) <= {1, 2, 3, 1000}


def read_spans(content: bytes) -> Iterator[Span | Rejected]:
    """Each span of a request, a broken one as rejected; raises `BrokenError` where more is."""
    for raw, source in _raw_spans(content):
        try:
            yield _span(raw, source)
        except BrokenError as error:
            yield Rejected(f"{BROKEN}: {error}")


def check_spans(content: bytes) -> tuple[int, dict[str, int]]:
    """How many spans there are, and how many are to be rejected, by why. Reads no attributes."""
    count = 0
    rejected: dict[str, int] = {}
    for field, group in _fields(content):
        if field != 1:
            continue
        for scope_field, scope in _fields(_message(group)):
            if scope_field != 2:
                continue
            for span_field, raw in _fields(_message(scope)):
                if span_field == 2:
                    count += 1
                    if why := _why_rejected(_message(raw)):
                        rejected[why] = rejected.get(why, 0) + 1
    return count, rejected


def _why_rejected(raw: bytes) -> str:
    trace_id = span_id = b""
    for field, value in _fields(raw):
        if field == 1:
            trace_id = _message(value)
        elif field == 2:
            span_id = _message(value)
    return why_rejected(trace_id.hex(), span_id.hex())


def _raw_spans(content: bytes) -> Iterator[tuple[bytes, Source]]:
    for field, group in _fields(content):
        if field != 1:
            continue
        resource: dict[str, Any] = {}
        scopes = []
        for inner, value in _fields(_message(group)):
            if inner == 1:
                resource = _attributes(_message(value), 1)
            elif inner == 2:
                scopes.append(_message(value))
        for scope in scopes:
            source = Source(resource)
            spans = []
            for inner, value in _fields(scope):
                if inner == 1:
                    source = Source(resource, _scope_name(_message(value)))
                elif inner == 2:
                    spans.append(_message(value))
            for raw in spans:
                yield raw, source


def _scope_name(raw: bytes) -> str:
    return next((_text(value) for field, value in _fields(raw) if field == 1), "")


def _span(raw: bytes, source: Source) -> Span | Rejected:
    span = Span("", "", attributes={}, events=[], source=source)
    attributes = span.attributes
    for field, value in _fields(raw):
        if field == 9:
            key, found = _key_value(_message(value), 0)
            attributes[key] = found
        elif field == 1:
            span.trace_id = _message(value).hex()
        elif field == 2:
            span.span_id = _message(value).hex()
        elif field == 4:
            span.parent_id = _message(value).hex()
        elif field == 5:
            span.name = _text(value)
        elif field == 7:
            span.start = _fixed64(value)
        elif field == 8:
            span.end = _fixed64(value)
        elif field == 11:
            span.events.append(_event(_message(value)))
        elif field == 15:
            _status(span, _message(value))
    why = why_rejected(span.trace_id, span.span_id)
    return Rejected(why) if why else span


def _event(raw: bytes) -> Event:
    event = Event("", {})
    for field, value in _fields(raw):
        if field == 2:
            event.name = _text(value)
        elif field == 3:
            key, found = _key_value(_message(value), 0)
            event.attributes[key] = found
    return event


def _status(span: Span, raw: bytes) -> None:
    for field, value in _fields(raw):
        if field == 2:
            span.status_message = _text(value)
        elif field == 3 and isinstance(value, int):
            span.status = value


def _attributes(raw: bytes, number: int) -> dict[str, Any]:
    return dict(_key_value(_message(v), 0) for field, v in _fields(raw) if field == number)


def _key_value(raw: bytes, depth: int) -> tuple[str, Any]:
    key, value = "", None
    for field, found in _fields(raw):
        if field == 1:
            key = _text(found)
        elif field == 2:
            value = _any_value(_message(found), depth)
    return key, value


def _any_value(raw: bytes, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return TOO_DEEP
    for field, value in _fields(raw):
        if field == 1:
            return _text(value)
        if field == 2:
            return bool(value)
        if field == 3 and isinstance(value, int):
            return value - 2**64 if value >= 2**63 else value
        if field == 4:
            return _DOUBLE.unpack(_message(value))[0]
        if field == 5:
            found = [v for f, v in _fields(_message(value)) if f == 1]
            return [_any_value(_message(entry), depth + 1) for entry in found]
        if field == 6:
            pairs = [v for f, v in _fields(_message(value)) if f == 1]
            return dict(_key_value(_message(pair), depth + 1) for pair in pairs)
        if field == 7:
            return base64.b64encode(_message(value)).decode()
    return None


def _message(value: Value) -> bytes:
    if isinstance(value, bytes):
        return value
    raise BrokenError("a number stands where a message is due")


def _text(value: Value) -> str:
    return _message(value).decode("utf-8", "replace")


def _fixed64(value: Value) -> int:
    raw = _message(value)
    if len(raw) != _UINT64.size:
        raise BrokenError("a time is not 8 bytes long")
    return int(_UINT64.unpack(raw)[0])


def _fields(raw: bytes) -> Iterator[tuple[int, Value]]:
    """Number and value of each field: integers of variable length as such, all else as bytes."""
    at, end = 0, len(raw)
    while at < end:
        tag = raw[at]
        at += 1
        if tag > 127:
            tag, at = _varint(raw, at - 1)
        kind = tag & 7
        if kind == _LENGTH:
            if at >= end:
                raise BrokenError(f"it breaks off within a field of {end} bytes")
            length = raw[at]
            at += 1
            if length > 127:
                length, at = _varint(raw, at - 1)
            stop = at + length
            if stop > end:
                raise BrokenError(
                    f"it breaks off: a field says {length} bytes, and {end - at} are left"
                )
            yield tag >> 3, raw[at:stop]
            at = stop
        elif kind == _VARINT:
            value, at = _varint(raw, at)
            yield tag >> 3, value
        elif kind in (_FIXED64, _FIXED32):
            stop = at + (8 if kind == _FIXED64 else 4)
            if stop > end:
                raise BrokenError("it breaks off within a number")
            yield tag >> 3, raw[at:stop]
            at = stop
        else:
            raise BrokenError(f"wire type {kind} is not used in OTLP; this is no protobuf of it")


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(raw):
            raise BrokenError("it breaks off within a number")
        byte = raw[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), at
        shift += 7
        if shift > 63:
            raise BrokenError("a number is longer than 10 bytes")
