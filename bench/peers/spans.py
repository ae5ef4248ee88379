"""A run as spans, in requests as an exporter sends them: the texts of the record, each where the
products look for it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from bench.otlp.load import BATCH, REPEATED, SpanMaker, message
from tests.transcripts.importers.spans.wire import protobuf_of
from transcripts.record import Call, Round, RunRecord

MODEL = "gpt-4o"


def trace_of(record: RunRecord) -> str:
    """The trace's id of a run: as many as it has rounds, in 32 hexadecimal digits."""
    return f"{len(record.rounds):032x}"


def requests_of(record: RunRecord) -> Iterator[bytes]:
    """OTLP requests in protobuf, of `BATCH` spans and a last one of what is left."""
    spans = spans_of(record)
    resource = [{"key": "service.name", "value": {"stringValue": "helpdesk"}}]
    for start in range(0, len(spans), BATCH):
        group = {
            "resource": {"attributes": resource},
            "scopeSpans": [{"scope": {"name": "bench"}, "spans": spans[start : start + BATCH]}],
        }
        yield protobuf_of({"resourceSpans": [group]})


def spans_of(record: RunRecord) -> list[dict[str, Any]]:
    """The agent's span, then one for each round and each call, in their order; a request repeats
    the last two rounds, as in `bench.otlp.load`.
    """
    trace = trace_of(record)
    maker = SpanMaker(trace, random.Random(trace))
    first = [message(each.role, _text(each.content)) for each in record.messages]
    maker.add("invoke_agent helpdesk", _agent(record))
    history: list[dict[str, Any]] = []
    for round_ in record.rounds:
        asked = [_asked(round_, at, call) for at, call in enumerate(round_.calls)]
        reply = message("assistant", _text(round_.reply), *asked)
        maker.add(f"chat {MODEL}", _chat(round_, [*first, *history[-REPEATED:]], reply))
        history.append(reply)
        for at, call in enumerate(round_.calls):
            maker.add(f"execute_tool {call.name}", _tool(round_, at, call))
            answer = {"type": "tool_call_response", "id": _id(round_, at), "response": call.result}
            history.append(message("tool", answer))
    return maker.spans


def _agent(record: RunRecord) -> dict[str, Any]:
    """The run's own input and output, also by the names that Phoenix shows them under."""
    ticket, answer = record.messages[0].content, record.rounds[-1].reply
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "helpdesk",
        "gen_ai.input.messages": json.dumps([message("user", _text(ticket))]),
        "gen_ai.output.messages": json.dumps([message("assistant", _text(answer))]),
        "input.value": ticket,
        "output.value": answer,
    }


def _chat(round_: Round, read: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": MODEL,
        "gen_ai.response.model": MODEL,
        "gen_ai.response.finish_reasons": ["tool_calls" if round_.calls else "stop"],
        "gen_ai.usage.input_tokens": round_.tokens_in or 0,
        "gen_ai.usage.output_tokens": 40,
        "gen_ai.input.messages": json.dumps(read),
        "gen_ai.output.messages": json.dumps([reply]),
    }


def _tool(round_: Round, at: int, call: Call) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": _id(round_, at),
        "gen_ai.tool.call.arguments": call.args,
        "gen_ai.tool.call.result": call.result,
    }


def _asked(round_: Round, at: int, call: Call) -> dict[str, Any]:
    arguments = json.loads(call.args)
    return {
        "type": "tool_call",
        "id": _id(round_, at),
        "name": call.name,
        "arguments": arguments,
    }


def _id(round_: Round, at: int) -> str:
    return f"call_{round_.number}_{at}"


def _text(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}
