"""Mistral chat completions: the shape of OpenAI's, with thoughts as parts and labels of their own.

Source: mistralai 3.7.0 client/models. Told from OpenAI's by the model's name, since nothing else
differs.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import as_dict, as_list, as_name
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import Provider, Request, read_parts
from transcripts.importers.turns import Reply, Turn

NAME = "mistral"
_MODELS = (
    "mistral",
    "ministral",
    "magistral",
    "codestral",
    "devstral",
    "pixtral",
    "voxtral",
    "open-mi",
)


def knows_reply(value: Any) -> bool:
    return openai_chat.knows_reply(value) and as_name(value.get("model")).startswith(_MODELS)


def knows_request(value: Any) -> bool:
    return openai_chat.knows_request(value) and as_name(value.get("model")).startswith(_MODELS)


def read_reply(value: dict[str, Any]) -> Reply:
    message = as_dict(as_dict(value["choices"][0]).get("message")) if value["choices"] else {}
    return _as_mistral(openai_chat.read_reply(value), message)


def read_messages(messages: list[Any]) -> list[Turn]:
    turns = openai_chat.read_messages(messages)
    for turn, message in zip(turns, messages, strict=True):
        if turn.reply is not None:
            _as_mistral(turn.reply, message)
    return turns


def read_request(value: dict[str, Any]) -> Request:
    request = openai_chat.read_request(value)
    request.turns = read_messages(value["messages"])
    return request


def _as_mistral(reply: Reply, message: dict[str, Any]) -> Reply:
    reply.provider = NAME
    thoughts = [
        read_parts(part.get("thinking"), ("text",), ("text",))[0]
        for part in as_list(message.get("content"))
        if isinstance(part, dict) and part.get("type") == "thinking"
    ]
    if thoughts:
        reply.reasoning = "\n".join(thoughts)
        reply.opaque = [part for part in reply.opaque if part.kind != "thinking"]
    reply.opaque = [part for part in reply.opaque if part.kind != "prefix"]
    return reply


PROVIDER = Provider(
    name=NAME,
    title="Mistral chat completions",
    knows_messages=lambda messages: False,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_message=openai_chat.is_message,
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=5,
)
