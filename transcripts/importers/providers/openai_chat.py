"""OpenAI chat completions, and the many services that answer in the same shape.

Source: openai 3.57.0 openai/types/chat. Groq, DeepSeek, xAI, Together, Fireworks, OpenRouter, vLLM
and Azure share it.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    args_text,
    as_count,
    as_dict,
    as_flag,
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

NAME = "openai.chat"
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_TEXT_TYPES = ("text", "input_text", "output_text", "refusal")
_MESSAGE_FIELDS = frozenset(
    [
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "refusal",
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "id",
        "index",
        "finish_reason",
        "stop_reason",
        "timestamp",
    ]
)
_RESULT_FIELDS = _MESSAGE_FIELDS | {"is_error"}
_REPLY_FIELDS = frozenset(
    [
        "id",
        "object",
        "created",
        "model",
        "choices",
        "usage",
        "service_tier",
        "system_fingerprint",
        "provider",
        "error",
    ]
)


def knows_messages(messages: list[Any]) -> bool:
    """Whether these are chat messages: every one an object with a known role and chat content."""
    return bool(messages) and all(is_message(message) for message in messages)


def knows_request(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(messages := value.get("messages"), list)
        and knows_messages(messages)
    )


def knows_reply(value: Any) -> bool:
    """Whether this is a chat completion: choices with messages."""
    choices = value.get("choices") if isinstance(value, dict) else None
    return (
        isinstance(choices, list)
        and all(isinstance(choice, dict) for choice in choices)
        and all(isinstance(choice.get("message"), dict) for choice in choices)
        and (bool(choices) or value.get("object") == "chat.completion")
    )


def read_messages(messages: list[Any]) -> list[Turn]:
    return [read_message(message) for message in messages]


def read_request(value: dict[str, Any]) -> Request:
    return Request(
        turns=read_messages(value["messages"]),
        tools=read_tools(value.get("tools") or value.get("functions")),
        model=as_name(value.get("model")),
    )


def read_message(message: dict[str, Any]) -> Turn:
    """One chat message; those of role assistant carry a reply."""
    role = as_text(message.get("role"))
    if isinstance(message.get("tool_responses"), list):
        # AutoGen 0.2: one message for the results of all calls.
        return Turn(role, answers=[_answer(as_dict(r)) for r in message["tool_responses"]])
    if role in ("tool", "function"):
        return Turn(role, answers=[_answer(message)])
    if role == "assistant":
        reply = read_assistant(message)
        return Turn(role, reply.text, as_name(message.get("name")), reply=reply)
    text, others = read_parts(message.get("content"), ("text",), _TEXT_TYPES)
    others += left_over(message, _MESSAGE_FIELDS)
    return Turn(role, text, as_name(message.get("name")), opaque=others)


def read_assistant(message: dict[str, Any]) -> Reply:
    """A message of role assistant, with or without the choice around it."""
    text, others = read_parts(message.get("content"), ("text", "refusal"), _TEXT_TYPES)
    refusal = message.get("refusal")
    refused = isinstance(refusal, str) or _last_part_refuses(message.get("content"))
    if isinstance(refusal, str) and refusal and not text:
        text = refusal
    elif isinstance(refusal, str) and refusal != text:
        others.append(opaque("refusal", refusal))
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if not isinstance(reasoning, str):
        reasoning = ""
    if details := message.get("reasoning_details"):
        others.append(opaque("reasoning_details", details))
    return Reply(
        text=text,
        reasoning=reasoning,
        calls=_read_calls(message),
        stop_raw=_label(message.get("finish_reason", message.get("stop_reason"))),
        provider=NAME,
        refused=refused,
        started_at=as_moment(message.get("timestamp")),
        opaque=others + left_over(message, _MESSAGE_FIELDS),
    )


def _answer(message: dict[str, Any]) -> Answer:
    return Answer(
        result_text(message.get("content"), _TEXT_TYPES),
        call_id=as_name(message.get("tool_call_id")),
        name=as_name(message.get("name")),
        is_error=as_flag(message.get("is_error")),
        opaque=left_over(message, _RESULT_FIELDS),
    )


def read_reply(value: dict[str, Any]) -> Reply:
    """A chat completion. Choices beyond the first are kept as opaque parts."""
    choices = as_list(value.get("choices"))
    choice = choices[0] if choices else {}
    reply = read_assistant(as_dict(choice.get("message")))
    reply.stop_raw = _label(choice.get("finish_reason"))
    reply.opaque += [opaque("choice", other) for other in choices[1:]]
    reply.opaque += left_over(value, _REPLY_FIELDS)
    reply.opaque += left_over(choice, frozenset({"index", "message", "finish_reason"}))
    reply.model = as_name(value.get("model"))
    reply.started_at = as_moment(value.get("created"))
    read_usage(reply, as_dict(value.get("usage")))
    if error := value.get("error") or choice.get("error"):
        reply.error = as_text(as_dict(error).get("message") or error)
    return reply


def read_usage(reply: Reply, usage: dict[str, Any]) -> None:
    """Token counts; `prompt_tokens` include what came from the cache."""
    reply.tokens_in = as_count(usage.get("prompt_tokens"))
    reply.tokens_out = as_count(usage.get("completion_tokens"))
    details = as_dict(usage.get("prompt_tokens_details"))
    reply.tokens_cached = as_count(details.get("cached_tokens"))
    details = as_dict(usage.get("completion_tokens_details"))
    reply.tokens_reasoning = as_count(details.get("reasoning_tokens"))


def is_message(message: Any) -> bool:
    if not isinstance(message, dict) or as_name(message.get("role")) not in ROLES:
        return False
    if "content" not in message and not (
        {"tool_calls", "function_call", "refusal"} & message.keys()
    ):
        return False
    content = message.get("content")
    return content is None or isinstance(content, str | list | dict)


def _read_calls(message: dict[str, Any]) -> list[CallDraft]:
    calls = []
    extra = as_dict(message.get("additional_kwargs"))
    for entry in as_list(message.get("tool_calls") or extra.get("tool_calls")):
        body = as_dict(entry)
        inner = as_dict(body.get("function") or body.get("custom") or body)
        args = inner.get("arguments", inner.get("input", inner.get("args")))
        calls.append(
            CallDraft(as_name(inner.get("name")), args_text(args), as_name(body.get("id")))
        )
    legacy = as_dict(message.get("function_call"))
    if legacy:
        calls.append(CallDraft(as_name(legacy.get("name")), args_text(legacy.get("arguments"))))
    return calls


def _last_part_refuses(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and isinstance(content[-1], dict)
        and content[-1].get("type") == "refusal"
    )


def _label(value: Any) -> str | None:
    return value if isinstance(value, str) else None


PROVIDER = Provider(
    name=NAME,
    title="OpenAI chat completions",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_message=is_message,
    knows_reply=knows_reply,
    read_reply=read_reply,
)
