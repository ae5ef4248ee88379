"""AWS Bedrock Converse: blocks named by their only key.

Source: botocore 1.44.8 data/bedrock-runtime. `inputTokens` leaves out the cache where
`totalTokens` says so.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    args_text,
    as_count,
    as_dict,
    as_list,
    as_name,
    as_number,
    as_text,
    json_text,
    opaque,
)
from transcripts.importers.providers.base import Provider, Request, left_over, read_tools
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Opaque

NAME = "aws.bedrock.converse"
_BLOCKS = frozenset({"toolUse", "toolResult", "reasoningContent"})
_REPLY_FIELDS = frozenset({"output", "stopReason", "usage", "metrics", "ResponseMetadata"})


def knows_messages(messages: list[Any]) -> bool:
    """Whether these are messages of blocks without `type`, at least one a tool use, result or
    thought.
    """
    return bool(messages) and all(map(_is_message, messages)) and any(map(_has_block, messages))


def knows_request(value: Any) -> bool:
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
        return False
    return "modelId" in value or "toolConfig" in value or any(map(_has_block, messages))


def knows_reply(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "stopReason" in value
        and isinstance(as_dict(value.get("output")).get("message"), dict)
    )


def read_messages(messages: list[Any]) -> list[Turn]:
    return [_read_message(message) for message in messages]


def read_request(value: dict[str, Any]) -> Request:
    turns = read_messages(value["messages"])
    if value.get("system"):
        system = _read_content(value["system"])
        turns.insert(0, Turn("system", system.text, opaque=system.opaque))
    specs = [
        as_dict(tool).get("toolSpec")
        for tool in as_list(as_dict(value.get("toolConfig")).get("tools"))
    ]
    tools = [
        {**spec, "inputSchema": as_dict(spec.get("inputSchema")).get("json")}
        for spec in specs
        if isinstance(spec, dict)
    ]
    return Request(turns, read_tools(tools), as_name(value.get("modelId")))


def read_reply(value: dict[str, Any]) -> Reply:
    reply = _read_content(value["output"]["message"].get("content"))
    reply.stop_raw = as_name(value.get("stopReason")) or None
    reply.duration_ms = as_number(as_dict(value.get("metrics")).get("latencyMs"))
    usage = as_dict(value.get("usage"))
    reply.tokens_out = as_count(usage.get("outputTokens"))
    reply.tokens_in = as_count(usage.get("inputTokens"))
    reply.tokens_cached = as_count(usage.get("cacheReadInputTokens"))
    cached = (reply.tokens_cached or 0) + (as_count(usage.get("cacheWriteInputTokens")) or 0)
    total = as_count(usage.get("totalTokens"))
    if reply.tokens_in is not None and total == reply.tokens_in + (reply.tokens_out or 0) + cached:
        reply.tokens_in += cached
    reply.opaque += left_over(value, _REPLY_FIELDS)
    return reply


def _read_message(message: dict[str, Any]) -> Turn:
    role = as_text(message.get("role"))
    blocks = as_list(message.get("content"))
    if role == "assistant":
        reply = _read_content(blocks)
        return Turn(role, reply.text, reply=reply)
    results = [b["toolResult"] for b in blocks if isinstance(as_dict(b).get("toolResult"), dict)]
    rest = _read_content([b for b in blocks if "toolResult" not in as_dict(b)])
    return Turn(
        role, rest.text, answers=[_answer(result) for result in results], opaque=rest.opaque
    )


def _read_content(blocks: Any) -> Reply:
    reply = Reply(provider=NAME)
    texts: list[str] = []
    thoughts: list[str] = []
    for found in as_list(blocks):
        block = as_dict(found)
        if isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif isinstance(use := block.get("toolUse"), dict):
            args = args_text(use.get("input"))
            reply.calls.append(
                CallDraft(as_name(use.get("name")), args, as_name(use.get("toolUseId")))
            )
        elif isinstance(text := as_dict(block.get("reasoningContent")).get("reasoningText"), dict):
            thoughts.append(as_text(text.get("text")))
            if text.get("signature"):
                reply.opaque.append(Opaque("thinking_signature", as_text(text["signature"])))
        else:
            reply.opaque.append(opaque(next(iter(block), "part"), found))
    reply.text = "\n".join(texts)
    reply.reasoning = "\n".join(thoughts)
    return reply


def _answer(result: dict[str, Any]) -> Answer:
    """A tool result; without a status it succeeded, as the API says."""
    return Answer(
        _result_text(as_list(result.get("content"))),
        call_id=as_name(result.get("toolUseId")),
        is_error=result.get("status") == "error",
    )


def _result_text(blocks: list[Any]) -> str:
    texts = []
    for block in map(as_dict, blocks):
        if isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif "json" in block:
            texts.append(json_text(block["json"]))
        else:
            return json_text(blocks)
    return "\n".join(texts)


def _is_message(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    return (
        isinstance(content, list)
        and message.get("role") in ("user", "assistant")
        and all(isinstance(block, dict) and "type" not in block for block in content)
    )


def _has_block(message: dict[str, Any]) -> bool:
    return any(_BLOCKS & block.keys() for block in message["content"])


PROVIDER = Provider(
    name=NAME,
    title="Bedrock Converse",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_message=_is_message,
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=25,
)
