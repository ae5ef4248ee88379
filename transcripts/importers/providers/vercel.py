"""Vercel AI SDK: model messages with typed results, and UI messages whose parts hold call and
result.

Source: ai 7.0.173 and 6.0.326 dist/index.d.ts. Version 4 wrote `args`, `result` and
`toolInvocations`.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    args_text,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_text,
    opaque,
)
from transcripts.importers.providers.base import (
    Provider,
    knows_message_object,
    read_message_object,
    result_text,
)
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn

NAME = "vercel.ai_sdk"
_OWN_PARTS = frozenset({"tool-call", "tool-result", "tool-approval-request", "step-start"})
_FAILED = frozenset({"error-text", "error-json", "execution-denied"})


def knows_messages(messages: list[Any]) -> bool:
    """Whether these are messages of parts, at least one a tool call or result of this SDK."""
    return (
        bool(messages)
        and all(isinstance(m, dict) and isinstance(m.get("role"), str) for m in messages)
        and all(isinstance(m.get("parts", m.get("content")), list | str) for m in messages)
        and any(map(_is_own, messages))
    )


def read_messages(messages: list[Any]) -> list[Turn]:
    turns: list[Turn] = []
    for message in messages:
        turns += _read_ui(message) if "parts" in message else [_read_model(message)]
    return turns


def _read_model(message: dict[str, Any]) -> Turn:
    role = as_text(message.get("role"))
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
    reply = _read_parts(parts)
    answers = [_answer(part) for part in map(as_dict, parts) if part.get("type") == "tool-result"]
    if role == "assistant":
        # A tool that the service runs has its result in the same message.
        return Turn(role, reply.text, reply=_with_results(reply, answers))
    return Turn(role, reply.text, answers=answers, opaque=reply.opaque)


def _read_ui(message: dict[str, Any]) -> list[Turn]:
    """A UI message is one message of the user, or all rounds between two of them."""
    role = as_text(message.get("role"))
    if role != "assistant":
        said = _read_parts(message["parts"])
        return [Turn(role, said.text, opaque=said.opaque)]
    steps: list[list[Any]] = [[]]
    for part in message["parts"]:
        if as_dict(part).get("type") == "step-start":
            steps.append([])
        else:
            steps[-1].append(part)
    metadata = as_dict(message.get("metadata"))
    replies = [_read_parts(step) for step in steps if step]
    for reply in replies:
        reply.model = as_name(metadata.get("model"))
        reply.started_at = as_moment(message.get("createdAt"))
    return [Turn(role, reply.text, reply=reply) for reply in replies]


def _read_parts(parts: list[Any]) -> Reply:
    reply = Reply(provider=NAME)
    texts: list[str] = []
    thoughts: list[str] = []
    for part in map(as_dict, parts):
        kind = as_text(part.get("type"))
        if kind == "text":
            texts.append(as_text(part.get("text")))
        elif kind == "reasoning":
            thoughts.append(as_text(part.get("text") or part.get("reasoning")))
        elif kind == "tool-call":
            args = args_text(part.get("input", part.get("args")))
            name, call_id = as_name(part.get("toolName")), as_name(part.get("toolCallId"))
            server_side = part.get("providerExecuted") is True
            reply.calls.append(CallDraft(name, args, call_id, server_side=server_side))
        elif kind == "tool-invocation":
            reply.calls.append(_ui_call(as_dict(part.get("toolInvocation"))))
        elif (kind.startswith("tool-") or kind == "dynamic-tool") and "state" in part:
            reply.calls.append(_ui_call(part))
        elif kind != "tool-result":
            reply.opaque.append(opaque(kind or "part", part))
    reply.text = "\n".join(texts)
    reply.reasoning = "\n".join(thoughts)
    return reply


def _ui_call(part: dict[str, Any]) -> CallDraft:
    name = as_name(part.get("toolName")) or as_text(part.get("type")).removeprefix("tool-")
    call = CallDraft(
        name,
        args_text(part.get("input", part.get("args", part.get("rawInput")))),
        as_name(part.get("toolCallId")),
    )
    state = part.get("state")
    if state in ("output-available", "result"):
        call.result = as_text(part.get("output", part.get("result")))
        call.is_error = False
    elif state == "output-error":
        call.result, call.is_error = as_text(part.get("errorText")), True
    elif state == "output-denied":
        denied = as_dict(part.get("approval")).get("reason")
        call.result, call.is_error = as_text(denied) or "denied", True
    return call


def _answer(part: dict[str, Any]) -> Answer:
    output = part.get("output", part.get("result"))
    flag: bool | None = None
    if isinstance(part.get("isError"), bool):
        flag = part["isError"]
    if (
        isinstance(output, dict)
        and isinstance(output.get("type"), str)
        and output["type"] != "content"
    ):
        flag = output["type"] in _FAILED
        output = output.get("value", output.get("reason"))
    elif isinstance(output, dict) and output.get("type") == "content":
        flag, output = False, output.get("value")
    return Answer(
        result_text(output), as_name(part.get("toolCallId")), as_name(part.get("toolName")), flag
    )


def _with_results(reply: Reply, answers: list[Answer]) -> Reply:
    for answer in answers:
        for call in reply.calls:
            if call.id == answer.call_id and call.result is None:
                call.result, call.is_error, call.joined = answer.content, answer.is_error, "id"
                break
    return reply


def _is_own(message: dict[str, Any]) -> bool:
    parts = message.get("parts", message.get("content"))
    return "toolInvocations" in message or any(
        as_name(part.get("type")) in _OWN_PARTS
        or (isinstance(part.get("type"), str) and "toolCallId" in part)
        or ("parts" in message and part.get("type") == "text")
        for part in map(as_dict, as_list(parts))
    )


PROVIDER = Provider(
    name=NAME,
    title="Vercel AI SDK messages",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_message_object(knows_messages),
    read_request=read_message_object(read_messages),
    priority=24,
)
