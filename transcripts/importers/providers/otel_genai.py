"""Messages of the OpenTelemetry GenAI conventions: roles and parts with a `type`.

Source: semantic-conventions-genai gen-ai-input-messages.json and gen-ai-output-messages.json, and
opentelemetry-util-genai 1.3b0 types.py. A result's part has no error flag.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import args_text, as_dict, as_list, as_name, as_text, opaque
from transcripts.importers.providers.base import Provider, left_over, result_text
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn

NAME = "otel.genai"
_FIELDS = frozenset({"role", "parts", "name", "finish_reason"})


def knows_messages(messages: list[Any]) -> bool:
    """Whether every entry is a message of typed parts, none of them of another framework."""
    return bool(messages) and all(map(_is_message, messages))


def read_messages(messages: list[Any]) -> list[Turn]:
    return [read_message(message) for message in messages]


def knows_reply(value: Any) -> bool:
    """Whether these are output messages: a list of one or more of the assistant's."""
    return (
        isinstance(value, list)
        and knows_messages(value)
        and all(message.get("role") == "assistant" for message in value)
    )


def read_reply(value: Any) -> Reply:
    """The first output message; further ones are further choices."""
    reply = read_message(value[0]).reply or Reply()
    reply.opaque += [opaque("choice", other) for other in value[1:]]
    return reply


def read_message(message: dict[str, Any]) -> Turn:
    role = as_text(message.get("role"))
    reply = Reply(provider=NAME, stop_raw=as_name(message.get("finish_reason")) or None)
    answers: list[Answer] = []
    texts: list[str] = []
    thoughts: list[str] = []
    for part in map(as_dict, as_list(message.get("parts"))):
        kind = part.get("type")
        if kind == "text":
            texts.append(as_text(part.get("content", part.get("text"))))
        elif kind in ("reasoning", "thinking"):
            thoughts.append(as_text(part.get("content", part.get("text"))))
        elif kind in ("tool_call", "server_tool_call"):
            name, args = as_name(part.get("name")), args_text(part.get("arguments"))
            server_side = kind == "server_tool_call"
            call = CallDraft(name, args, as_name(part.get("id")), server_side=server_side)
            reply.calls.append(call)
        elif kind in ("tool_call_response", "server_tool_call_response"):
            content = part.get("response", part.get("result"))
            answers.append(Answer(result_text(content), as_name(part.get("id"))))
        else:
            reply.opaque.append(opaque(as_name(kind) or "part", part))
    reply.text = "\n".join(texts)
    reply.reasoning = "\n".join(thoughts)
    reply.opaque += left_over(message, _FIELDS)
    if role == "assistant":
        return Turn(role, reply.text, reply=reply)
    return Turn(role, reply.text, answers=answers, opaque=reply.opaque)


def _is_message(message: Any) -> bool:
    parts = message.get("parts") if isinstance(message, dict) else None
    return (
        isinstance(parts, list)
        and isinstance(message.get("role"), str)
        and "kind" not in message
        and all(isinstance(p, dict) and isinstance(p.get("type"), str) for p in parts)
        and not any("state" in p or p["type"] in ("step-start", "dynamic-tool") for p in parts)
        and any("content" in p or p["type"].startswith(("tool_call", "server_tool")) for p in parts)
    )


PROVIDER = Provider(
    name=NAME,
    title="OpenTelemetry GenAI messages",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=28,
)
