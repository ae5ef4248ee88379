"""The load: runs of an agent as spans, two a round, in requests as an exporter sends them.

As the peers were measured: 500 spans a request, about 3.4 KB a span,
protobuf; each request of the model repeats the last two rounds. The same name gives the same bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.transcripts.importers.spans.wire import protobuf_of

BATCH = 500
ROUNDS = 25
SPANS_A_RUN = 2 * ROUNDS
# Unique text of a round, in characters; a request repeats the last two rounds.
REPLY, QUERY, RESULT = 300, 100, 1500
REPEATED = 4
BEGAN = 1_796_032_800


def batches(count: int, name: str) -> Iterator[bytes]:
    """Requests of `BATCH` spans, each with whole runs."""
    chance = random.Random(name)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(3_000)]
    for _ in range(count // BATCH):
        spans = [
            span
            for _ in range(BATCH // SPANS_A_RUN)
            for span in run_spans(f"{chance.getrandbits(128) | 1:032x}", chance, words)
        ]
        resource = [{"key": "service.name", "value": {"stringValue": "helpdesk"}}]
        group = {
            "resource": {"attributes": resource},
            "scopeSpans": [{"scope": {"name": "bench"}, "spans": spans}],
        }
        yield protobuf_of({"resourceSpans": [group]})


def run_spans(trace: str, chance: random.Random, words: list[str]) -> list[dict[str, Any]]:
    """The spans of one run: the agent's, then requests and tools, and a last answer."""

    def text(length: int) -> str:
        return " ".join(chance.choices(words, k=length // 8))

    first = [
        message("system", {"type": "text", "content": "You are the helpdesk agent."}),
        message("user", {"type": "text", "content": f"Ticket {trace[:8]}: my VPN disconnects."}),
    ]
    maker = SpanMaker(trace, chance)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helpdesk"}
    maker.add("invoke_agent helpdesk", agent)
    history: list[dict[str, Any]] = []
    for number in range(1, ROUNDS + 1):
        args = {"query": text(QUERY), "page": number}
        call = {"type": "tool_call", "id": f"call_{number}", "name": "search", "arguments": args}
        is_last = number == ROUNDS
        reply = message("assistant", {"type": "text", "content": text(REPLY)}, call)
        if is_last:
            reply["parts"].pop()
        maker.add(
            "chat gpt-4o",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-4o",
                "gen_ai.response.model": "gpt-4o-2024-08-06",
                "gen_ai.response.id": f"{trace[:12]}-{number}",
                "gen_ai.response.finish_reasons": ["stop" if is_last else "tool_calls"],
                "gen_ai.usage.input_tokens": 100 * number,
                "gen_ai.usage.output_tokens": 40,
                "gen_ai.input.messages": json.dumps([*first, *history[-REPEATED:]]),
                "gen_ai.output.messages": json.dumps([reply]),
            },
        )
        if is_last:
            break
        result = text(RESULT)
        maker.add(
            "execute_tool search",
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "search",
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.id": f"call_{number}",
                "gen_ai.tool.call.arguments": json.dumps(args),
                "gen_ai.tool.call.result": result,
            },
        )
        part = {"type": "tool_call_response", "id": f"call_{number}", "response": result}
        history += [reply, message("tool", part)]
    return maker.spans


def message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


@dataclass
class SpanMaker:
    """Names the spans of a trace; the first one is the parent of the others. No name comes twice:
    Phoenix takes a span whose id it knows for the same one, whatever its trace.
    """

    trace: str
    chance: random.Random
    spans: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, attributes: dict[str, Any]) -> None:
        number = len(self.spans) + 1
        start = (BEGAN + 2 * number) * 10**9
        self.spans.append(
            {
                "traceId": self.trace,
                "spanId": f"{self.chance.getrandbits(64) | 1:016x}",
                "parentSpanId": self.spans[0]["spanId"] if self.spans else "",
                "name": name,
                "startTimeUnixNano": start,
                "endTimeUnixNano": start + 10**9,
                "attributes": [
                    {"key": key, "value": any_value(value)} for key, value in attributes.items()
                ],
            }
        )


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(entry) for entry in value]}}
    return {"intValue": value} if isinstance(value, int) else {"stringValue": value}
