"""What the OpenAPI document says of `/v1/traces`, which answers as OTLP asks."""

from __future__ import annotations

from typing import Any, Final

from transcripts.otlp import CODES, INTERNAL, JSON, PROTOBUF

ADDRESS: Final = "/v1/traces"
SOURCE: Final = "https://opentelemetry.io/docs/specs/otlp/"
STATUS: Final = "OtlpStatus"
TAKEN: Final = "OtlpTaken"

SCHEMAS: Final[dict[str, Any]] = {
    STATUS: {
        "title": "google.rpc.Status",
        "type": "object",
        "properties": {
            "code": {"type": "integer", "description": "of google.rpc.Code"},
            "message": {"type": "string", "description": "what is wrong, and where"},
        },
        "required": ["code", "message"],
    },
    TAKEN: {
        "title": "ExportTraceServiceResponse",
        "type": "object",
        "properties": {
            "partialSuccess": {
                "type": "object",
                "description": "There where spans were not taken.",
                "properties": {
                    "rejectedSpans": {"type": "string", "description": "how many"},
                    "errorMessage": {"type": "string", "description": "how many of them, and why"},
                },
            }
        },
    },
}

# What each error means; what to do about it is in its message.
ERRORS: Final = {
    400: (
        "The body is no ExportTraceServiceRequest, or is packed badly.",
        "This is no ExportTraceServiceRequest: it breaks off: a field says 255 bytes, and 2 are "
        "left.",
    ),
    401: ("There is no key, or it is not known.", ""),
    403: ("The key may not send.", ""),
    405: ("Another method than POST.", "Spans are sent by POST."),
    413: (
        "Too large as it came, unpacked, or for how small it is packed; the limit is said.",
        "A request may have up to 33,554,432 bytes. Send it in parts.",
    ),
    415: (
        "Neither protobuf nor JSON, or packed by other means than gzip or zstd.",
        f"Send {PROTOBUF} or {JSON}, not text/html.",
    ),
    429: ("Too many requests of this key; `Retry-After` says for how long.", ""),
    500: ("An error of Agentdesk.", "An error of Agentdesk. It is in the log."),
    503: (
        "The database does not answer; `Retry-After` says when to try again.",
        "The database does not answer. Send it again.",
    ),
}


def spans_operation(security: list[dict[str, list[str]]]) -> dict[str, Any]:
    """The operation, as OpenAPI has it."""
    body = {"type": "object", "properties": {"resourceSpans": {"type": "array", "items": {}}}}
    return {
        "operationId": "spans_send",
        "summary": "Send spans of OpenTelemetry",
        "description": (
            "OTLP over HTTP. 200 once the spans cannot be lost; those without ids are counted in "
            "`partialSuccess`, and the others taken. Errors are `google.rpc.Status` in the "
            "encoding of the request."
        ),
        "externalDocs": {"url": SOURCE},
        "security": security,
        "requestBody": {
            "required": True,
            "content": {
                JSON: {"schema": body, "example": {"resourceSpans": []}},
                PROTOBUF: {"schema": {"type": "string", "format": "binary"}},
            },
        },
        "responses": {
            "200": {"description": "They are kept.", "content": _in_both(TAKEN)},
            **{str(status): _error(status) for status in ERRORS},
        },
    }


def _error(status: int) -> dict[str, Any]:
    said, example = ERRORS[status]
    content = _in_both(STATUS)
    if example:
        content[JSON]["example"] = {"code": CODES.get(status, INTERNAL), "message": example}
    return {"description": said, "content": content}


def _in_both(name: str) -> dict[str, Any]:
    return {
        JSON: {"schema": {"$ref": f"#/components/schemas/{name}"}},
        PROTOBUF: {"schema": {"type": "string", "format": "binary"}},
    }
