"""LangChain messages in their three dumps: `dumpd` objects, `messages_to_dict`, and flat
`model_dump`.

Source: langchain-core 1.8.3 langchain_core/messages. LangGraph state and LangSmith inputs hold the
flat one.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    args_text,
    as_cost,
    as_count,
    as_dict,
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

NAME = "langchain"
_ROLES = {
    "human": "user",
    "HumanMessageChunk": "user",
    "system": "system",
    "SystemMessageChunk": "system",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "ToolMessageChunk": "tool",
    "function": "tool",
    "chat": "user",
    "developer": "developer",
}
_LABELS = (
    ("finish_reason", ""),
    ("stop_reason", "anthropic"),
    ("stopReason", "aws.bedrock.converse"),
    ("done_reason", "ollama"),
)
_TEXT_TYPES = ("text", "text-plain", "output_text", "refusal")
_FIELDS = frozenset(
    {
        "content",
        "type",
        "id",
        "name",
        "role",
        "example",
        "tool_calls",
        "invalid_tool_calls",
        "tool_call_chunks",
        "tool_call_id",
        "status",
        "usage_metadata",
        "response_metadata",
        "additional_kwargs",
        "chunk_position",
    }
)


def knows_messages(messages: list[Any]) -> bool:
    """Whether every entry is a message in one of the three dumps."""
    return bool(messages) and all(_fields_of(message) is not None for message in messages)


def knows_request(value: Any) -> bool:
    """Whether this is a graph's state or a chain's input: an object with such messages."""
    messages = value.get("messages") if isinstance(value, dict) else None
    return isinstance(messages, list) and knows_messages(messages)


def read_request(value: dict[str, Any]) -> Request:
    return Request(read_messages(value["messages"]), read_tools(value.get("tools")))


def read_messages(messages: list[Any]) -> list[Turn]:
    return [read_message(message) for message in messages]


def knows_reply(value: Any) -> bool:
    fields = _fields_of(value)
    return fields is not None and _ROLES[fields["type"]] == "assistant"


def read_reply(value: dict[str, Any]) -> Reply:
    return _read_ai(_fields_of(value) or {})


def read_message(message: Any) -> Turn:
    fields = _fields_of(message) or {}
    role = _ROLES[fields["type"]]
    name = as_name(fields.get("name"))
    if role == "assistant":
        reply = _read_ai(fields)
        return Turn(role, reply.text, name, reply=reply)
    if role == "tool":
        status = fields.get("status")
        answer = Answer(
            result_text(fields.get("content"), _TEXT_TYPES),
            call_id=as_name(fields.get("tool_call_id")),
            name=name,
            is_error=None if status is None else status == "error",
            opaque=_others(fields),
        )
        return Turn(role, name=name, answers=[answer])
    text, others = read_parts(fields.get("content"), ("text",), _TEXT_TYPES)
    return Turn(role, text, name, opaque=others + _others(fields))


def _read_ai(fields: dict[str, Any]) -> Reply:
    blocks = [b for b in as_list(fields.get("content")) if isinstance(b, dict)]
    calls_said = {"tool_call", "tool_use", "function_call", "tool_call_chunk", "input_json_delta"}
    rest = fields.get("content")
    if isinstance(rest, list):
        hidden = calls_said | {"thinking", "reasoning"}
        rest = [b for b in rest if not (isinstance(b, dict) and as_name(b.get("type")) in hidden)]
    text, others = read_parts(rest, ("text", "refusal"), _TEXT_TYPES)
    reply = Reply(text=text, opaque=others + _others(fields))
    reply.reasoning = "\n".join(filter(None, map(_thought, blocks)))
    kwargs = as_dict(fields.get("additional_kwargs"))
    if not reply.reasoning and isinstance(kwargs.get("reasoning_content"), str):
        reply.reasoning = kwargs["reasoning_content"]
    if isinstance(kwargs.get("refusal"), str):
        reply.refused = True
        reply.text = reply.text or kwargs["refusal"]
    reply.calls = _read_calls(fields, kwargs)
    _read_metadata(reply, as_dict(fields.get("response_metadata")))
    usage = as_dict(fields.get("usage_metadata"))
    reply.tokens_in = as_count(usage.get("input_tokens"))
    reply.tokens_out = as_count(usage.get("output_tokens"))
    reply.tokens_cached = as_count(as_dict(usage.get("input_token_details")).get("cache_read"))
    reply.tokens_reasoning = as_count(as_dict(usage.get("output_token_details")).get("reasoning"))
    return reply


def _read_metadata(reply: Reply, metadata: dict[str, Any]) -> None:
    for key, provider in _LABELS:
        if isinstance(metadata.get(key), str):
            reply.stop_raw = metadata[key]
            reply.provider = as_name(metadata.get("model_provider")) or provider
            break
    reply.model = as_name(metadata.get("model_name") or metadata.get("model"))
    reply.cost = as_cost(as_dict(metadata.get("token_usage")).get("cost"))


def _read_calls(fields: dict[str, Any], kwargs: dict[str, Any]) -> list[CallDraft]:
    """Calls as parsed; those that were not parsed keep the text that the model wrote."""
    entries = as_list(fields.get("tool_calls")) + as_list(fields.get("invalid_tool_calls"))
    calls = [
        CallDraft(as_name(c.get("name")), args_text(c.get("args")), as_name(c.get("id")))
        for c in map(as_dict, entries)
    ]
    if calls:
        return calls
    for call in map(as_dict, as_list(kwargs.get("tool_calls"))):
        function = as_dict(call.get("function"))
        args = args_text(function.get("arguments"))
        calls.append(CallDraft(as_name(function.get("name")), args, as_name(call.get("id"))))
    if legacy := as_dict(kwargs.get("function_call")):
        calls.append(CallDraft(as_name(legacy.get("name")), args_text(legacy.get("arguments"))))
    return calls


def _thought(block: dict[str, Any]) -> str:
    if block.get("type") not in ("thinking", "reasoning"):
        return ""
    return as_text(block.get("thinking") or block.get("reasoning") or block.get("text"))


def _others(fields: dict[str, Any]) -> list[Any]:
    kwargs = as_dict(fields.get("additional_kwargs"))
    read = frozenset({"tool_calls", "function_call", "refusal", "reasoning_content", "parsed"})
    parts = left_over(fields, _FIELDS)
    return parts + [opaque(part.kind, part.body) for part in left_over(kwargs, read)]


def _fields_of(message: Any) -> dict[str, Any] | None:
    """A message's fields whichever dump it is of, or None for what is no message."""
    if not isinstance(message, dict):
        return None
    fields = message
    if message.get("type") == "constructor" and "messages" in as_list(message.get("id")):
        fields = as_dict(message.get("kwargs"))
    elif isinstance(message.get("data"), dict) and "content" in message["data"]:
        fields = {"type": message.get("type"), **message["data"]}
    elif "role" in message and message.get("type") != "chat":
        return None
    known = isinstance(fields.get("type"), str) and fields["type"] in _ROLES
    return fields if known and "content" in fields else None


PROVIDER = Provider(
    name=NAME,
    title="LangChain messages",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=50,
)
