"""Where OpenTelemetry exporters send spans: OTLP over HTTP, in protobuf or JSON.

Answers as OTLP asks: in the encoding of the request, errors as `google.rpc.Status`, spans that are
not taken as partial success. Source: opentelemetry-proto 1.9, docs/specification.md.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Final

import msgspec
from django.db import InterfaceError, OperationalError, transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from transcripts.api_keys import KeyAuth
from transcripts.bodies import read_body
from transcripts.choices import DeliveryKind, KeyScope
from transcripts.importers.fields import json_text
from transcripts.importers.parsing import ParseError, parse
from transcripts.importers.spans import json_form, protobuf
from transcripts.importers.spans.span import BrokenError, Rejected
from transcripts.models import ApiKey
from transcripts.problems import ProblemError
from transcripts.queueing import DELIVER, enqueue
from transcripts.record import count_by
from transcripts.services.deliveries import delivery_accept

logger = logging.getLogger(__name__)

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
# google.rpc.Code by status of HTTP.
CODES: Final = {400: 3, 401: 16, 403: 7, 405: 12, 413: 8, 415: 3, 422: 3, 429: 8, 503: 14}
INTERNAL: Final = 13

may_send = KeyAuth(KeyScope.INGEST)
Counts = tuple[int, dict[str, int]]


@csrf_exempt
def spans_send(request: HttpRequest) -> HttpResponse:
    """Take a request of spans in; 200 once it cannot be lost."""
    said = (request.content_type or "").lower()
    try:
        if request.method != "POST":
            raise ProblemError(405, "Spans are sent by POST.", headers={"Allow": "POST"})
        key = may_send(request)
        if said not in (PROTOBUF, JSON):
            raise ProblemError(415, f"Send {PROTOBUF} or {JSON}, not {said[:80] or 'nothing'}.")
        content = read_body(request)
        count, rejected = _counted(content, said)
        if count > sum(rejected.values()):
            _accept(key, content)
    except ProblemError as error:
        return _failed(said, error.status, error.detail, error.headers)
    except (OperationalError, InterfaceError) as error:
        logger.warning("the database does not answer (%s)", type(error).__name__)
        detail = "The database does not answer. Send it again."
        return _failed(said, 503, detail, {"Retry-After": "5"})
    except Exception as error:
        # The text of an error may quote what was sent, so neither answer nor log repeats it.
        logger.error("spans were not taken: %s", type(error).__name__)
        return _failed(said, 500, "An error of Agentdesk. It is in the log.", {})
    return _taken(said, rejected)


def _accept(key: ApiKey, content: bytes) -> None:
    delivery, _ = delivery_accept(
        project=key.project,
        kind=DeliveryKind.SPANS,
        content=content,
        format="otlp",
        api_key=key,
    )
    transaction.on_commit(partial(enqueue, DELIVER, str(delivery.pk)))


def _counted(content: bytes, media: str) -> Counts:
    """How many spans there are, and how many are not taken, by why; 400 where it is no request."""
    try:
        if media == PROTOBUF:
            return protobuf.check_spans(content)
        spans = list(json_form.read_spans(_request_of(content)))
    except BrokenError as error:
        raise ProblemError(400, f"This is no ExportTraceServiceRequest: {error}.") from None
    return len(spans), count_by(span.why for span in spans if isinstance(span, Rejected))


def _request_of(content: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            value = parse(content.decode()).value
        except ParseError as error:
            place = f"line {error.line}, column {error.column}"
            raise BrokenError(f"{place}: {error.error}") from None
        except UnicodeDecodeError as error:
            raise BrokenError(f"byte {error.start} is not UTF-8") from None
    if not json_form.knows(value) and value != {}:
        raise BrokenError("there is no resourceSpans")
    return value if isinstance(value, dict) else {}


def _taken(media: str, rejected: dict[str, int]) -> HttpResponse:
    """An `ExportTraceServiceResponse`; with nothing in it when all spans were taken."""
    count = sum(rejected.values())
    why = ", ".join(f"{number} {reason}" for reason, number in rejected.items())
    if media == JSON:
        partial_success = {"rejectedSpans": str(count), "errorMessage": f"Not taken: {why}."}
        body = json_text({"partialSuccess": partial_success} if count else {}).encode()
    else:
        inner = _number(1, count) + _text(2, f"Not taken: {why}.")
        body = _part(1, inner) if count else b""
    return HttpResponse(body, content_type=media)


def _failed(media: str, status: int, detail: str, headers: dict[str, str]) -> HttpResponse:
    """A `google.rpc.Status`; as JSON where the request was neither form."""
    code = CODES.get(status, INTERNAL)
    if media == PROTOBUF:
        body: bytes = _number(1, code) + _text(2, detail)
    else:
        media = JSON
        body = json_text({"code": code, "message": detail}).encode()
    return HttpResponse(body, status=status, content_type=media, headers=headers)


def _text(field: int, text: str) -> bytes:
    return _part(field, text.encode())


def _part(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
