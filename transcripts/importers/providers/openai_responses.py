"""OpenAI Responses: items in, items out, and no stop label for a wanted tool.

Source: openai 3.57.0 openai/types/responses. Calls and results are joined by `call_id`; `id` names
the item.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    args_text,
    as_count,
    as_dict,
    as_list,
    as_moment,
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

NAME = "openai.responses"
_TEXT_TYPES = ("input_text", "output_text", "text", "refusal", "summary_text", "reasoning_text")
# Calls that the caller must run, and those that the service has run when it answers.
_CLIENT_CALLS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "mcp_approval_request",
    }
)
_SERVER_CALLS = frozenset(
    {
        "file_search_call",
        "web_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "tool_search_call",
    }
)
_OUTPUTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "computer_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "mcp_approval_response",
    }
)
_MARKS = _CLIENT_CALLS | _SERVER_CALLS | _OUTPUTS | {"reasoning", "message"}
_REPLY_FIELDS = frozenset(
    {
        "id",
        "object",
        "created_at",
        "completed_at",
        "status",
        "error",
        "incomplete_details",
        "instructions",
        "model",
        "output",
        "usage",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "previous_response_id",
        "metadata",
        "temperature",
        "top_p",
        "text",
        "reasoning",
        "truncation",
        "service_tier",
        "store",
        "max_output_tokens",
        "user",
        "background",
    }
)


def knows_messages(items: list[Any]) -> bool:
    """Whether these are items: at least one of a type that only this API has, the others items or
    messages.
    """
    return all(map(_is_item, items)) and any(
        isinstance(item, dict) and as_name(item.get("type")) in _MARKS for item in items
    )


def knows_request(value: Any) -> bool:
    if not isinstance(value, dict) or "messages" in value or "output" in value:
        return False
    given = value.get("input")
    if isinstance(given, list) and given and all(map(_is_item, given)):
        return True
    return isinstance(given, str) and "model" in value


def knows_reply(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("output"), list)
        and (value.get("object") == "response" or as_name(value.get("id")).startswith("resp_"))
    )


def read_request(value: dict[str, Any]) -> Request:
    given = value["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    turns = read_messages(items)
    if isinstance(value.get("instructions"), str):
        turns.insert(0, Turn("system", value["instructions"]))
    return Request(
        turns,
        read_tools(value.get("tools")),
        as_name(value.get("model")),
        continues=bool(value.get("previous_response_id") or value.get("conversation")),
    )


def read_messages(items: list[Any]) -> list[Turn]:
    """Items as turns; what the model wrote between two inputs is one reply."""
    turns: list[Turn] = []
    written: list[dict[str, Any]] = []
    for item in items:
        if is_written(item):
            written.append(item)
            continue
        if written:
            turns.append(_reply_turn(written))
            written = []
        turns.append(_read_item(item))
    if written:
        turns.append(_reply_turn(written))
    return turns


def read_reply(value: dict[str, Any]) -> Reply:
    reply = read_output(value.get("output"))
    details = as_dict(value.get("incomplete_details"))
    error = as_dict(value.get("error"))
    label = as_name(value.get("status")) or None
    if label == "incomplete":
        label = as_name(details.get("reason")) or label
    elif label == "failed":
        label = as_name(error.get("code")) or label
    reply.stop_raw = label
    reply.error = as_text(error.get("message") or error.get("code"))
    reply.model = as_name(value.get("model"))
    reply.started_at = as_moment(value.get("created_at"))
    started, ended = reply.started_at, as_moment(value.get("completed_at"))
    if started and ended and ended >= started:
        reply.duration_ms = (ended - started).total_seconds() * 1000
    usage = as_dict(value.get("usage"))
    reply.tokens_in = as_count(usage.get("input_tokens"))
    reply.tokens_out = as_count(usage.get("output_tokens"))
    cached = as_dict(usage.get("input_tokens_details")).get("cached_tokens")
    reply.tokens_cached = as_count(cached)
    reasoned = as_dict(usage.get("output_tokens_details")).get("reasoning_tokens")
    reply.tokens_reasoning = as_count(reasoned)
    reply.opaque += left_over(value, _REPLY_FIELDS)
    return reply


def read_output(items: Any) -> Reply:
    """One reply of its output items."""
    reply = Reply(provider=NAME)
    texts: list[str] = []
    thoughts: list[str] = []
    for item in as_list(items):
        kind = as_name(item.get("type", "message")) if isinstance(item, dict) else ""
        if kind == "message":
            text, others = read_parts(item.get("content"), ("text", "refusal"), _TEXT_TYPES)
            texts.append(text)
            reply.opaque += others
            last = as_list(item.get("content"))[-1:]
            reply.refused = bool(last) and as_dict(last[0]).get("type") == "refusal"
        elif kind == "reasoning":
            thoughts += _thoughts(item)
            if item.get("encrypted_content"):
                sealed = as_text(item["encrypted_content"])
                reply.opaque.append(Opaque("reasoning_encrypted_content", sealed))
        elif kind in _CLIENT_CALLS or kind in _SERVER_CALLS:
            reply.calls.append(_call(item))
        else:
            reply.opaque.append(opaque(kind or "item", item))
    reply.text = "\n".join(text for text in texts if text)
    reply.reasoning = "\n".join(thoughts)
    return reply


def _thoughts(item: dict[str, Any]) -> list[str]:
    read = (read_parts(item.get(key), ("text",), _TEXT_TYPES)[0] for key in ("summary", "content"))
    return [text for text in read if text]


def _call(item: dict[str, Any]) -> CallDraft:
    kind = as_text(item.get("type"))
    name = as_name(item.get("name")) or kind.removesuffix("_call").removesuffix("_request")
    args = next(
        (
            item[key]
            for key in ("arguments", "input", "action", "operation", "queries", "code")
            if item.get(key) is not None
        ),
        None,
    )
    call = CallDraft(name, args_text(args), as_name(item.get("call_id") or item.get("id")))
    if kind in _SERVER_CALLS:
        call.server_side = True
        output = next(
            (item[k] for k in ("output", "results", "outputs", "result") if item.get(k)), None
        )
        error = item.get("error")
        failed = bool(error) or item.get("status") in ("failed", "incomplete")
        call.is_error = failed
        call.result = _error_text(error) if error else as_text(output)
    return call


def _error_text(error: Any) -> str:
    body = as_dict(error)
    return result_text(body["content"]) if body.get("content") else as_text(error)


def _reply_turn(written: list[dict[str, Any]]) -> Turn:
    reply = read_output(written)
    return Turn("assistant", reply.text, reply=reply)


def _read_item(item: Any) -> Turn:
    kind = as_name(item.get("type")) if isinstance(item, dict) else ""
    if kind in _OUTPUTS:
        output = item.get("output", item.get("approve"))
        answer = Answer(
            result_text(output, _TEXT_TYPES),
            call_id=as_name(item.get("call_id") or item.get("approval_request_id")),
            is_error=True if item.get("status") in ("failed", "incomplete") else None,
        )
        return Turn("tool", answers=[answer])
    if isinstance(item, dict) and "role" in item:
        text, others = read_parts(item.get("content"), ("text",), _TEXT_TYPES)
        return Turn(as_text(item["role"]), text, opaque=others)
    return Turn("item", opaque=[opaque(kind or "item", item)])


def is_written(item: Any) -> bool:
    """Whether the model wrote this item."""
    if not isinstance(item, dict):
        return False
    kind = as_name(item.get("type", "message"))
    if kind == "message":
        return item.get("role") == "assistant"
    return kind == "reasoning" or kind in _CLIENT_CALLS or kind in _SERVER_CALLS


def _is_item(item: Any) -> bool:
    if not isinstance(item, dict) or "tool_calls" in item:
        return False
    if isinstance(item.get("type"), str) and "parts" not in item:
        return item["type"] != "message" or "role" in item
    return item.get("role") in ("system", "developer", "user", "assistant") and "content" in item


PROVIDER = Provider(
    name=NAME,
    title="OpenAI Responses",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=10,
)
