"""Anthropic messages: content blocks, tool uses and tool results.

Source: anthropic 2.14.0 anthropic/types. `usage.input_tokens` leaves out what the cache read and
wrote.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    args_text,
    as_count,
    as_dict,
    as_flag,
    as_list,
    as_name,
    as_text,
    opaque,
)
from transcripts.importers.providers.base import (
    Provider,
    Request,
    left_over,
    read_parts,
    read_tools,
    result_text,
)
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Opaque

NAME = "anthropic"
_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"}
)
_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_MESSAGE_FIELDS = frozenset({"role", "content", "id", "type", "stop_reason", "stop_sequence"})
_REPLY_FIELDS = _MESSAGE_FIELDS | {"model", "usage", "container", "context_management"}


def knows_messages(messages: list[Any]) -> bool:
    """Whether these are messages of which at least one holds a block that only this service has."""
    return bool(messages) and all(map(_is_message, messages)) and any(map(_has_block, messages))


def knows_request(value: Any) -> bool:
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
        return False
    own = "anthropic_version" in value or as_name(value.get("model")).startswith("claude")
    return own or ("system" in value and "max_tokens" in value) or any(map(_has_block, messages))


def knows_reply(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "message"
        and value.get("role") == "assistant"
        and isinstance(value.get("content"), list)
    )


def read_messages(messages: list[Any]) -> list[Turn]:
    return [read_message(message) for message in messages]


def read_request(value: dict[str, Any]) -> Request:
    turns = read_messages(value["messages"])
    if value.get("system"):
        text, others = read_parts(value["system"], ("text",), ("text",))
        turns.insert(0, Turn("system", text, opaque=others))
    return Request(turns, read_tools(value.get("tools")), as_name(value.get("model")))


def read_message(message: dict[str, Any]) -> Turn:
    """One message: a reply of role assistant, or text and tool results of role user."""
    role = as_text(message.get("role"))
    if role == "assistant":
        reply = read_content(message.get("content"))
        reply.opaque += left_over(message, _MESSAGE_FIELDS)
        return Turn(role, reply.text, reply=reply)
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    results = [b for b in blocks if isinstance(b, dict) and b.get("type") == "tool_result"]
    rest = [b for b in blocks if b not in results] if blocks else content
    text, others = read_parts(rest, ("text",), ("text",))
    others += left_over(message, _MESSAGE_FIELDS)
    return Turn(role, text, answers=[_answer(block) for block in results], opaque=others)


def read_reply(value: dict[str, Any]) -> Reply:
    reply = read_content(value.get("content"))
    label = value.get("stop_reason")
    reply.stop_raw = label if isinstance(label, str) else None
    reply.model = as_name(value.get("model"))
    reply.opaque += left_over(value, _REPLY_FIELDS)
    read_usage(reply, as_dict(value.get("usage")))
    return reply


def read_usage(reply: Reply, usage: dict[str, Any]) -> None:
    """Token counts; those of the cache are added to the input, as other services count."""
    parts = [
        as_count(usage.get(name))
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    ]
    reply.tokens_in = None if parts[0] is None else sum(part or 0 for part in parts)
    reply.tokens_cached = parts[1]
    reply.tokens_out = as_count(usage.get("output_tokens"))


def read_content(content: Any) -> Reply:
    """The blocks of an assistant message; results of the service's own tools are joined to their
    calls.
    """
    reply = Reply(provider=NAME)
    texts: list[str] = []
    thoughts: list[str] = []
    if isinstance(content, str):
        reply.text = content
        return reply
    for block in as_list(content):
        kind = as_name(block.get("type")) if isinstance(block, dict) else ""
        if kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
            reply.opaque += left_over(block, frozenset({"type", "text", "cache_control"}))
        elif kind == "thinking":
            thoughts.append(as_text(block.get("thinking")))
            if signature := block.get("signature"):
                reply.opaque.append(Opaque("thinking_signature", as_text(signature)))
        elif kind == "tool_use" or kind in _SERVER_CALLS:
            reply.calls.append(_call(block))
        elif not _join_server_result(reply, block):
            reply.opaque.append(opaque(kind or "part", block))
    reply.text = "\n".join(texts)
    reply.reasoning = "\n".join(thoughts)
    return reply


def _call(block: dict[str, Any]) -> CallDraft:
    return CallDraft(
        as_name(block.get("name")),
        args_text(block.get("input")),
        as_name(block.get("id")),
        server_side=as_name(block.get("type")) in _SERVER_CALLS,
    )


def _answer(block: dict[str, Any]) -> Answer:
    """A tool result; without the flag it is no error, as the API says."""
    flag = as_flag(block.get("is_error"))
    known = frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"})
    return Answer(
        result_text(block.get("content")),
        call_id=as_name(block.get("tool_use_id")),
        is_error=False if flag is None else flag,
        opaque=left_over(block, known),
    )


def _join_server_result(reply: Reply, block: Any) -> bool:
    call_id = block.get("tool_use_id") if isinstance(block, dict) else None
    for call in reply.calls:
        if call_id and call.id == call_id and call.server_side and call.result is None:
            content = block.get("content")
            call.result = result_text(content)
            call.joined = "id"
            failed = as_name(as_dict(content).get("type")).endswith("_error")
            call.is_error = as_flag(block.get("is_error")) or failed
            return True
    return False


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("role") in ("user", "assistant", "system")
        and isinstance(message.get("content"), str | list)
        and "tool_calls" not in message
    )


def _has_block(message: dict[str, Any]) -> bool:
    return any(
        isinstance(block, dict) and as_name(block.get("type")) in _BLOCKS
        for block in as_list(message.get("content"))
    )


PROVIDER = Provider(
    name=NAME,
    title="Anthropic messages",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_message=_is_message,
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=20,
)
