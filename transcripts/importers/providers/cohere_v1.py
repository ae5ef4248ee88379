"""Cohere v1 chat: one message, a history beside it, and calls without ids.

Source: cohere 7.3.1 types of the v1 client.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import args_text, as_count, as_dict, as_list, as_name, as_text
from transcripts.importers.providers.base import Provider, Request, left_over, read_tools
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn

NAME = "cohere.v1"
_ROLES = {"USER": "user", "SYSTEM": "system", "CHATBOT": "assistant", "TOOL": "tool"}
_REPLY_FIELDS = frozenset(
    {"response_id", "generation_id", "text", "chat_history", "finish_reason", "tool_calls", "meta"}
)


def knows_messages(messages: list[Any]) -> bool:
    """Whether these are entries of a history: a role in capitals and a message."""
    return bool(messages) and all(
        isinstance(m, dict)
        and as_name(m.get("role")) in _ROLES
        and ({"message", "tool_results", "tool_calls"} & m.keys())
        for m in messages
    )


def knows_request(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("message"), str)
        and ("chat_history" in value or "preamble" in value or "model" in value)
    )


def knows_reply(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("text"), str)
        and "generation_id" in value
        and "finish_reason" in value
    )


def read_messages(messages: list[Any]) -> list[Turn]:
    return [_read_message(message) for message in messages]


def read_request(value: dict[str, Any]) -> Request:
    turns = read_messages([as_dict(m) for m in as_list(value.get("chat_history"))])
    if value.get("preamble"):
        turns.insert(0, Turn("system", as_text(value["preamble"])))
    answers = _answers(value)
    if answers:
        turns.append(Turn("tool", answers=answers))
    if value["message"]:
        turns.append(Turn("user", value["message"]))
    return Request(turns, read_tools(value.get("tools")), as_name(value.get("model")))


def read_reply(value: dict[str, Any]) -> Reply:
    tokens = as_dict(as_dict(value.get("meta")).get("tokens"))
    label = value.get("finish_reason")
    return Reply(
        text=value["text"],
        calls=_calls(value),
        stop_raw=label if isinstance(label, str) else None,
        provider=NAME,
        tokens_in=as_count(tokens.get("input_tokens")),
        tokens_out=as_count(tokens.get("output_tokens")),
        opaque=left_over(value, _REPLY_FIELDS),
    )


def _read_message(message: dict[str, Any]) -> Turn:
    role = _ROLES.get(as_text(message.get("role")), "user")
    text = as_text(message.get("message"))
    if role == "assistant":
        reply = Reply(text=text, calls=_calls(message), provider=NAME)
        return Turn(role, text, reply=reply)
    return Turn(role, text, answers=_answers(message))


def _calls(value: dict[str, Any]) -> list[CallDraft]:
    return [
        CallDraft(as_name(call.get("name")), args_text(call.get("parameters")))
        for call in map(as_dict, as_list(value.get("tool_calls")))
    ]


def _answers(value: dict[str, Any]) -> list[Answer]:
    return [
        Answer(
            as_text(result.get("outputs")), name=as_name(as_dict(result.get("call")).get("name"))
        )
        for result in map(as_dict, as_list(value.get("tool_results")))
    ]


PROVIDER = Provider(
    name=NAME,
    title="Cohere v1 chat",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=8,
)
