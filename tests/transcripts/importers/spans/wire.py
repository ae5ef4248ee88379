"""Writes OTLP's JSON as protobuf, by the numbers of its .proto files."""

from __future__ import annotations

import base64
import struct
from typing import Any

Part = dict[str, Any]


def protobuf_of(request: Part) -> bytes:
    """The bytes of an `ExportTraceServiceRequest` given as OTLP JSON."""
    return b"".join(_part(1, _group(group)) for group in request["resourceSpans"])


def _group(group: Part) -> bytes:
    resource = b"".join(_part(1, _pair(pair)) for pair in group["resource"]["attributes"])
    return _part(1, resource) + b"".join(_part(2, _scope(scope)) for scope in group["scopeSpans"])


def _scope(scope: Part) -> bytes:
    name = _part(1, _part(1, scope["scope"]["name"].encode()))
    return name + b"".join(_part(2, span_bytes(span)) for span in scope["spans"])


def span_bytes(span: Part) -> bytes:
    parts = [
        _part(1, bytes.fromhex(span["traceId"])),
        _part(2, bytes.fromhex(span["spanId"])),
        _part(4, bytes.fromhex(span.get("parentSpanId", ""))),
        _part(5, span["name"].encode()),
        _varint(6 << 3) + _varint(span.get("kind", 1)),
        _varint(7 << 3 | 1) + struct.pack("<Q", int(span["startTimeUnixNano"])),
        _varint(8 << 3 | 1) + struct.pack("<Q", int(span["endTimeUnixNano"])),
        *(_part(9, _pair(pair)) for pair in span["attributes"]),
    ]
    status = span.get("status", {})
    if status:
        code = _varint(3 << 3) + _varint(status.get("code", 0))
        parts.append(_part(15, _part(2, status.get("message", "").encode()) + code))
    return b"".join(parts)


def _pair(pair: Part) -> bytes:
    return _part(1, pair["key"].encode()) + _part(2, _value(pair["value"]))


def _value(value: Part) -> bytes:
    ((kind, found),) = value.items()
    if kind == "stringValue":
        return _part(1, found.encode())
    if kind == "boolValue":
        return _varint(2 << 3) + _varint(int(found))
    if kind == "intValue":
        return _varint(3 << 3) + _varint(int(found) % 2**64)
    if kind == "doubleValue":
        return _varint(4 << 3 | 1) + struct.pack("<d", float(found))
    if kind == "bytesValue":
        return _part(7, base64.b64decode(found))
    entries = (_value(entry) for entry in found["values"])
    return _part(5, b"".join(_part(1, entry) for entry in entries))


def _part(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)
