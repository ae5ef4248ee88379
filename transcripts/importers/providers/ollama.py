"""Ollama's own chat API: arguments as objects, no ids, and no stop label for a wanted tool.

Source: ollama 0.6.3 _types.py.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    as_count,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_number,
    as_text,
)
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import Provider, Request, left_over
from transcripts.importers.turns import Answer, Reply, Turn

NAME = "ollama"
_REPLY_FIELDS = frozenset(
    {
        "model",
        "created_at",
        "message",
        "done",
        "done_reason",
        "total_duration",
        "load_duration",
        "prompt_eval_count",
        "prompt_eval_duration",
        "eval_count",
        "eval_duration",
    }
)


def knows_messages(messages: list[Any]) -> bool:
    """Whether these are chat messages with a result named by its tool, or a call without id and
    type.
    """
    return openai_chat.knows_messages(messages) and any(map(_is_own, messages))


def knows_request(value: Any) -> bool:
    return openai_chat.knows_request(value) and any(map(_is_own, value["messages"]))


def knows_reply(value: Any) -> bool:
    return isinstance(value, dict) and "done" in value and isinstance(value.get("message"), dict)


def read_messages(messages: list[Any]) -> list[Turn]:
    return [_read_message(message) for message in messages]


def read_request(value: dict[str, Any]) -> Request:
    request = openai_chat.read_request(value)
    request.turns = read_messages(value["messages"])
    return request


def read_reply(value: dict[str, Any]) -> Reply:
    reply = _read_assistant(value["message"])
    label = value.get("done_reason")
    reply.stop_raw = label if isinstance(label, str) else None
    reply.model = as_name(value.get("model"))
    reply.started_at = as_moment(value.get("created_at"))
    reply.tokens_in = as_count(value.get("prompt_eval_count"))
    reply.tokens_out = as_count(value.get("eval_count"))
    nanoseconds = as_number(value.get("total_duration"))
    reply.duration_ms = None if nanoseconds is None else nanoseconds / 1e6
    reply.opaque += left_over(value, _REPLY_FIELDS)
    return reply


def _read_message(message: dict[str, Any]) -> Turn:
    if message.get("role") == "assistant":
        reply = _read_assistant(message)
        return Turn("assistant", reply.text, reply=reply)
    if message.get("role") == "tool":
        name = as_name(message.get("tool_name") or message.get("name"))
        return Turn("tool", answers=[Answer(as_text(message.get("content")), name=name)])
    return openai_chat.read_message(message)


def _read_assistant(message: dict[str, Any]) -> Reply:
    reply = openai_chat.read_assistant({k: v for k, v in message.items() if k != "thinking"})
    reply.provider = NAME
    reply.reasoning = as_text(message.get("thinking"))
    return reply


def _is_own(message: dict[str, Any]) -> bool:
    return "tool_name" in message or any(
        isinstance(as_dict(as_dict(call).get("function")).get("arguments"), dict)
        and not {"id", "type"} & call.keys()
        for call in as_list(message.get("tool_calls"))
    )


PROVIDER = Provider(
    name=NAME,
    title="Ollama chat",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_message=openai_chat.is_message,
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=7,
)
