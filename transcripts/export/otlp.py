"""The run as spans of OpenTelemetry, in OTLP's JSON, by the GenAI semantic conventions.

A span for the agent, one for each model request with what it read and answered, one for each tool
that answered. `transcripts.importers.otlp` reads it back. Source: semantic-conventions-genai
(docs/gen-ai/gen-ai-spans.md, gen-ai-agent-spans.md), opentelemetry-proto 1.9 ("JSON Protobuf
Encoding"): ids are hex, integers of 64 bits are texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from transcripts.export.base import Exporter
from transcripts.export.losses import MAX_INPUT, has_times
from transcripts.export.span_messages import (
    call_id,
    input_message,
    output_message,
    result_text,
    tool_definitions,
)
from transcripts.importers.fields import json_text
from transcripts.masking.types import MaskedRun
from transcripts.record import Call, Ending, Round, RunRecord

SCOPE = "agentdesk.export"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OK, _ERROR = 1, 2
_INTERNAL, _CLIENT = 1, 3


def otlp_request(run: RunRecord) -> dict[str, Any]:
    """The run as an `ExportTraceServiceRequest`."""
    spans = _Spans(run)
    resource = {
        "service.name": run.labels.get("service", "") or "unknown_service",
        "service.version": run.code_version,
        "deployment.environment.name": run.labels.get("environment", ""),
        "agentdesk.run_id": run.run_id,
    }
    scope = {"scope": {"name": SCOPE}, "spans": list(spans.written())}
    return {
        "resourceSpans": [
            {"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}
        ]
    }


class _Spans:
    """Writes spans with ids that ascend, so that their order is known where no times are."""

    def __init__(self, run: RunRecord) -> None:
        self._run = run
        digest = hashlib.blake2b(run.run_id.encode("utf-8", "surrogatepass"), digest_size=20)
        self._trace = digest.hexdigest()[:32]
        self._prefix = digest.hexdigest()[32:]
        self._count = 0
        self._timed = has_times(run)
        self._left = MAX_INPUT

    def written(self) -> Iterator[dict[str, Any]]:
        run = self._run
        failed = run.ending == Ending.ERROR
        root = self._span(
            f"invoke_agent {run.agent}".strip(),
            "",
            run.started_at,
            run.ended_at,
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": run.agent,
                "gen_ai.provider.name": run.provider,
                "gen_ai.request.model": run.model,
                "gen_ai.conversation.id": run.labels.get("conversation", ""),
                "agentdesk.ticket_id": run.ticket_id,
                "user.id": run.labels.get("user", ""),
            },
            _ERROR if failed else 0,
            run.ending_reason if failed else "",
        )
        yield root
        for round_, keys in run.inputs():
            yield self._request(round_, keys, root["spanId"])
            for index, call in enumerate(round_.calls):
                if call.result is not None:
                    yield self._execution(round_, index, call, root["spanId"])

    def _request(self, round_: Round, keys: list[str] | None, parent: str) -> dict[str, Any]:
        run = self._run
        model = round_.model or run.model
        first = round_ is run.rounds[0]
        start = round_.started_at if self._timed else None
        stops = None if round_.stop_raw is None else [round_.stop_raw]
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": run.provider,
            "gen_ai.request.model": model,
            "gen_ai.response.model": round_.model,
            "gen_ai.response.finish_reasons": stops,
            "gen_ai.usage.input_tokens": round_.tokens_in,
            "gen_ai.usage.output_tokens": round_.tokens_out,
            "gen_ai.usage.cache_read.input_tokens": round_.tokens_cached,
            "gen_ai.usage.reasoning.output_tokens": round_.tokens_reasoning,
            "gen_ai.usage.cost": _dollars(round_, run),
            "gen_ai.tool.definitions": tool_definitions(run.tools) if first else "",
            "gen_ai.input.messages": self._input(keys),
            "gen_ai.output.messages": json_text([output_message(round_)]),
            "error.type": "_OTHER" if round_.error else "",
        }
        return self._span(
            f"chat {model}".strip(),
            parent,
            start,
            _end(start, round_.duration_ms),
            attributes,
            _ERROR if round_.error else 0,
            round_.error,
            kind=_CLIENT,
        )

    def _input(self, keys: list[str] | None) -> str:
        """What a request read, as JSON text; empty where it is not known, or would be too much."""
        if keys is None or self._left <= 0:
            return ""
        by_key = self._run.message_by_key
        messages = [input_message(by_key[key], self._run) for key in keys if key in by_key]
        text = json_text(messages) if messages else ""
        self._left -= len(text)
        return text if self._left > 0 else ""

    def _execution(self, round_: Round, index: int, call: Call, parent: str) -> dict[str, Any]:
        # When the tool began is in no record; its round's begin keeps the order.
        start = round_.started_at if self._timed else None
        status = {True: _ERROR, False: _OK, None: 0}[call.is_error]
        return self._span(
            f"execute_tool {call.name}".strip(),
            parent,
            start,
            _end(start, call.duration_ms),
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": call.name,
                "gen_ai.tool.call.id": call_id(round_, index),
                "gen_ai.tool.call.arguments": call.args,
                "gen_ai.tool.call.result": result_text(call.result or ""),
                "error.type": "_OTHER" if call.is_error and call.result else "",
            },
            status,
        )

    def _span(
        self,
        name: str,
        parent: str,
        start: datetime | None,
        end: datetime | None,
        attributes: Mapping[str, Any],
        status: int,
        message: str = "",
        kind: int = _INTERNAL,
    ) -> dict[str, Any]:
        self._count += 1
        span: dict[str, Any] = {
            "traceId": self._trace,
            "spanId": f"{self._prefix}{self._count:08x}",
            "name": name,
            "kind": kind,
            "startTimeUnixNano": _nanoseconds(start),
            "endTimeUnixNano": _nanoseconds(end),
            "attributes": _attributes(attributes),
        }
        if parent:
            span["parentSpanId"] = parent
        if status or message:
            span["status"] = {"code": status, **({"message": message} if message else {})}
        return span


def _end(start: datetime | None, duration_ms: float | None) -> datetime | None:
    if start is None or duration_ms is None:
        return None
    try:
        return start + timedelta(milliseconds=duration_ms)
    except OverflowError:
        return None


def _nanoseconds(moment: datetime | None) -> str:
    """Since 1970; 0 where no time is known."""
    if moment is None:
        return "0"
    passed = moment - _EPOCH
    seconds = passed.days * 86_400 + passed.seconds
    return str(max(0, seconds * 10**9 + passed.microseconds * 1000))


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Those that say something, as pairs of key and value."""
    return [
        {"key": key, "value": _value(value)}
        for key, value in values.items()
        if value is not None and (value != "" or key == "gen_ai.tool.call.result")
    ]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(entry) for entry in value]}}
    return {"stringValue": value}


def _dollars(round_: Round, run: RunRecord) -> float | None:
    """The cost, by the attribute that several tools read; it has no currency, and means dollars."""
    known = round_.cost is not None and run.currency in ("", "USD")
    return float(round_.cost) if known and round_.cost is not None else None


def _write(run: MaskedRun) -> str:
    return json_text(otlp_request(run.record)) + "\n"


EXPORTER = Exporter(
    name="otlp",
    title="OpenTelemetry spans (OTLP JSON)",
    suffix=".otlp.json",
    media_type="application/json",
    write=_write,
    loses=(
        "plain_stops",
        "cost",
        "times",
        "no_flag",
        "details",
        "message_names",
        "call_ids",
        "links",
        "orphans",
        "gaps",
        "long_inputs",
    ),
)
