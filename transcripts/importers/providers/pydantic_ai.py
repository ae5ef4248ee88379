"""Pydantic AI messages: requests and responses of parts.

Source: pydantic-ai-slim 2.68.0 messages.py (`ModelMessagesTypeAdapter`); `retry-prompt` parts are
of version 1.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    args_text,
    as_cost,
    as_count,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_text,
    opaque,
)
from transcripts.importers.providers.base import Provider, read_parts, result_text
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Opaque

NAME = "pydantic_ai"


def knows_messages(messages: list[Any]) -> bool:
    """Whether every entry is a request or a response with parts."""
    return bool(messages) and all(
        isinstance(m, dict)
        and m.get("kind") in ("request", "response")
        and isinstance(m.get("parts"), list)
        for m in messages
    )


def read_messages(messages: list[Any]) -> list[Turn]:
    turns: list[Turn] = []
    instructions = ""
    for message in messages:
        if message["kind"] == "response":
            reply = _read_response(message)
            turns.append(Turn("assistant", reply.text, reply=reply))
            continue
        said = as_text(message.get("instructions"))
        if said and said != instructions:
            instructions = said
            turns.append(Turn("system", said))
        turns += [_read_part(as_dict(part)) for part in message["parts"]]
    return turns


def _read_part(part: dict[str, Any]) -> Turn:
    kind = part.get("part_kind")
    if kind in ("tool-return", "builtin-tool-return") or (
        kind == "retry-prompt" and part.get("tool_name")
    ):
        return Turn("tool", answers=[_answer(part, kind)])
    if kind in ("user-prompt", "system-prompt", "retry-prompt"):
        text, others = read_parts(part.get("content"), ("text", "content"), ("text",))
        return Turn("system" if kind == "system-prompt" else "user", text, opaque=others)
    return Turn("user", opaque=[opaque(as_name(kind) or "part", part)])


def _answer(part: dict[str, Any], kind: Any) -> Answer:
    outcome = part.get("outcome")
    failed = None if outcome is None else outcome != "success"
    return Answer(
        result_text(part.get("content")),
        call_id=as_name(part.get("tool_call_id")),
        name=as_name(part.get("tool_name")),
        is_error=True if kind == "retry-prompt" else failed,
        opaque=[opaque("retry", part["retry"])] if part.get("retry") else [],
    )


def _read_response(message: dict[str, Any]) -> Reply:
    """The provider's own label is in `provider_details`; `finish_reason` is Pydantic AI's."""
    details = as_dict(message.get("provider_details"))
    raw = as_name(details.get("finish_reason"))
    reply = Reply(
        provider=as_name(message.get("provider_name")) if raw else NAME,
        stop_raw=raw or as_name(message.get("finish_reason")) or None,
        model=as_name(message.get("model_name")),
        started_at=as_moment(message.get("timestamp")),
    )
    texts: list[str] = []
    thoughts: list[str] = []
    for part in map(as_dict, as_list(message.get("parts"))):
        kind = part.get("part_kind")
        if kind == "text":
            texts.append(as_text(part.get("content")))
        elif kind == "thinking":
            thoughts.append(as_text(part.get("content")))
            if part.get("signature"):
                reply.opaque.append(Opaque("thinking_signature", as_text(part["signature"])))
        elif kind in ("tool-call", "builtin-tool-call"):
            name, args = as_name(part.get("tool_name")), args_text(part.get("args"))
            call_id = as_name(part.get("tool_call_id"))
            call = CallDraft(name, args, call_id, server_side=kind == "builtin-tool-call")
            reply.calls.append(call)
        elif kind == "builtin-tool-return" and _joined(reply, part):
            continue
        else:
            reply.opaque.append(opaque(as_name(kind) or "part", part))
    reply.text = "\n".join(texts)
    reply.reasoning = "\n".join(thoughts)
    _read_usage(reply, as_dict(message.get("usage")))
    return reply


def _joined(reply: Reply, part: dict[str, Any]) -> bool:
    for call in reply.calls:
        if call.server_side and call.id == part.get("tool_call_id") and call.result is None:
            call.result, call.joined = result_text(part.get("content")), "id"
            return True
    return False


def _read_usage(reply: Reply, usage: dict[str, Any]) -> None:
    reply.tokens_in = as_count(usage.get("input_tokens", usage.get("request_tokens")))
    reply.tokens_out = as_count(usage.get("output_tokens", usage.get("response_tokens")))
    reply.tokens_cached = as_count(usage.get("cache_read_tokens"))
    reply.tokens_reasoning = as_count(usage.get("output_reasoning_tokens"))
    reply.cost = as_cost(usage.get("cost"))


PROVIDER = Provider(
    name=NAME,
    title="Pydantic AI messages",
    knows_messages=knows_messages,
    read_messages=read_messages,
    priority=45,
)
