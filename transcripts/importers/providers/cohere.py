"""Cohere v2 chat: tool calls in OpenAI's form beside a plan, results as documents.

Source: cohere 7.3.1 types.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import as_count, as_dict, as_list, as_name, as_text
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import Provider, Request, left_over
from transcripts.importers.turns import Reply, Turn

NAME = "cohere.v2"


def knows_messages(messages: list[Any]) -> bool:
    """Whether these are chat messages with a plan or with documents as results."""
    return openai_chat.knows_messages(messages) and any(map(_is_own, messages))


def knows_request(value: Any) -> bool:
    return openai_chat.knows_request(value) and any(map(_is_own, value["messages"]))


def knows_reply(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("finish_reason"), str)
        and isinstance(value.get("message"), dict)
        and value["message"].get("role") == "assistant"
    )


def read_messages(messages: list[Any]) -> list[Turn]:
    return [_read_message(message) for message in messages]


def read_request(value: dict[str, Any]) -> Request:
    request = openai_chat.read_request(value)
    request.turns = read_messages(value["messages"])
    return request


def read_reply(value: dict[str, Any]) -> Reply:
    reply = _read_assistant(value["message"])
    reply.stop_raw = value["finish_reason"]
    reply.model = as_name(value.get("model"))
    usage = as_dict(value.get("usage"))
    tokens = as_dict(usage.get("tokens") or usage.get("billed_units"))
    reply.tokens_in = as_count(tokens.get("input_tokens"))
    reply.tokens_out = as_count(tokens.get("output_tokens"))
    reply.tokens_cached = as_count(usage.get("cached_tokens"))
    known = frozenset({"id", "finish_reason", "message", "usage", "model"})
    reply.opaque += left_over(value, known)
    return reply


def _read_message(message: dict[str, Any]) -> Turn:
    if message.get("role") == "assistant":
        reply = _read_assistant(message)
        return Turn("assistant", reply.text, reply=reply)
    turn = openai_chat.read_message(message)
    for answer in turn.answers:
        documents = [_document_text(part) for part in as_list(message.get("content"))]
        known = [text for text in documents if text is not None]
        if known and len(known) == len(documents):
            answer.content = "\n".join(known)
    return turn


def _read_assistant(message: dict[str, Any]) -> Reply:
    reply = openai_chat.read_assistant({k: v for k, v in message.items() if k != "tool_plan"})
    reply.provider = NAME
    reply.reasoning = as_text(message.get("tool_plan")) or reply.reasoning
    return reply


def _document_text(part: Any) -> str | None:
    """The data of a document, which is text or an object."""
    document = as_dict(as_dict(part).get("document"))
    return as_text(document["data"]) if "data" in document else None


def _is_own(message: dict[str, Any]) -> bool:
    return "tool_plan" in message or any(
        isinstance(part, dict) and part.get("type") == "document"
        for part in as_list(message.get("content"))
    )


PROVIDER = Provider(
    name=NAME,
    title="Cohere chat",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_message=openai_chat.is_message,
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=6,
)
