"""Reads spans from OTLP's JSON, which is not protobuf's own: ids are hex, enumerations numbers.

Field names in snake case and enumerations by name are taken too, since senders and exports write
them. Source: opentelemetry-proto docs/specification.md, "JSON Protobuf Encoding".
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from transcripts.importers.fields import as_dict, as_list, as_name, as_text
from transcripts.importers.spans.span import (
    MAX_DEPTH,
    TOO_DEEP,
    Event,
    Rejected,
    Source,
    Span,
    why_rejected,
)

_STATUS = {"STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}
_MAX_NANOSECONDS: Final = 2**64


def knows(value: Any) -> bool:
    """Whether this is a request, or the data of a file exporter: an object with `resourceSpans`."""
    return isinstance(value, dict) and isinstance(_pick(value, "resourceSpans"), list)


def read_spans(value: dict[str, Any]) -> Iterator[Span | Rejected]:
    """Each span of a request."""
    for group in map(as_dict, as_list(_pick(value, "resourceSpans"))):
        resource = _attributes(as_dict(group.get("resource")).get("attributes"))
        scopes = _pick(group, "scopeSpans") or _pick(group, "instrumentationLibrarySpans")
        for scope in map(as_dict, as_list(scopes)):
            source = Source(resource, as_text(as_dict(scope.get("scope")).get("name")))
            for span in as_list(scope.get("spans")):
                yield _span(as_dict(span), source)


def _span(value: dict[str, Any], source: Source) -> Span | Rejected:
    trace_id = as_text(_pick(value, "traceId")).lower()
    span_id = as_text(_pick(value, "spanId")).lower()
    if why := why_rejected(trace_id, span_id):
        return Rejected(why)
    status = as_dict(value.get("status"))
    code = status.get("code", 0)
    events = map(as_dict, as_list(value.get("events")))
    return Span(
        trace_id,
        span_id,
        as_text(_pick(value, "parentSpanId")).lower().strip("0") and _parent(value),
        as_text(value.get("name")),
        _nanoseconds(_pick(value, "startTimeUnixNano")),
        _nanoseconds(_pick(value, "endTimeUnixNano")),
        _attributes(value.get("attributes")),
        _STATUS.get(code, 0) if isinstance(code, str) else code if isinstance(code, int) else 0,
        as_text(status.get("message")),
        [Event(as_text(e.get("name")), _attributes(e.get("attributes"))) for e in events],
        source,
    )


def _parent(value: dict[str, Any]) -> str:
    return as_text(_pick(value, "parentSpanId")).lower()


def _pick(value: dict[str, Any], key: str) -> Any:
    if key in value:
        return value[key]
    return value.get("".join(f"_{c.lower()}" if c.isupper() else c for c in key))


def _nanoseconds(value: Any) -> int:
    text = as_name(value)
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 24 else 0
    return number if number < _MAX_NANOSECONDS else 0


def _attributes(value: Any) -> dict[str, Any]:
    """Pairs of key and value; exports that write a plain object are taken as they are."""
    if isinstance(value, dict):
        return {key: _plain(found) for key, found in value.items()}
    pairs = map(as_dict, as_list(value))
    return {as_text(pair.get("key")): _any_value(as_dict(pair.get("value")), 0) for pair in pairs}


def _any_value(value: dict[str, Any], depth: int) -> Any:
    if depth > MAX_DEPTH:
        return TOO_DEEP
    for kind, found in value.items():
        match kind:
            case "stringValue" | "string_value" | "bytesValue" | "bytes_value":
                return as_text(found)
            case "boolValue" | "bool_value":
                return found is True
            case "intValue" | "int_value":
                return _integer(found)
            case "doubleValue" | "double_value":
                return _plain(found)
            case "arrayValue" | "array_value":
                entries = as_list(as_dict(found).get("values"))
                return [_any_value(as_dict(entry), depth + 1) for entry in entries]
            case "kvlistValue" | "kvlist_value":
                pairs = map(as_dict, as_list(as_dict(found).get("values")))
                return {
                    as_text(pair.get("key")): _any_value(as_dict(pair.get("value")), depth + 1)
                    for pair in pairs
                }
    return None


def _integer(value: Any) -> int | None:
    text = as_name(value)
    if len(text) < 24 and text.lstrip("-").isdecimal() and text.isascii():
        return int(text)
    return None


def _plain(value: Any) -> Any:
    """Numbers as a span keeps them."""
    return float(value) if isinstance(value, Decimal) else value
