"""Gemini `generateContent`, of the Gemini API and of Vertex AI: contents of parts, and candidates.

Source: google-genai 3.6.1 google/genai/types.py. Python dumps may be in snake_case. Ids of
function calls are often absent, and there is no stop label for a wanted tool.
"""

from __future__ import annotations

import re
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
from transcripts.importers.providers.base import Provider, Request, left_over, read_tools
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Opaque, Tool

NAME = "google.generate_content"
_HUMP = re.compile(r"_([a-z])")
_REPLY_FIELDS = frozenset(
    {
        "candidates",
        "usageMetadata",
        "modelVersion",
        "responseId",
        "createTime",
        "promptFeedback",
        "sdkHttpResponse",
        "automaticFunctionCallingHistory",
        "parsed",
    }
)


def knows_messages(contents: list[Any]) -> bool:
    """Whether these are contents: parts without a `type`, by a user, the model or a function."""
    return bool(contents) and all(map(_is_content, contents))


def knows_request(value: Any) -> bool:
    contents = value.get("contents") if isinstance(value, dict) else None
    return isinstance(contents, str) or (isinstance(contents, list) and knows_messages(contents))


def knows_reply(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    candidates = value.get("candidates")
    if isinstance(candidates, list) and candidates:
        return all(
            isinstance(c, dict) and ("content" in c or "finishReason" in c or "finish_reason" in c)
            for c in candidates
        )
    return isinstance(value.get("promptFeedback", value.get("prompt_feedback")), dict)


def read_request(value: dict[str, Any]) -> Request:
    given = value["contents"]
    turns = [Turn("user", given)] if isinstance(given, str) else read_messages(given)
    config = as_dict(value.get("config") or value.get("generationConfig"))
    body = _camel(value) | _camel({k: v for k, v in config.items() if "ystem" in k or k == "tools"})
    system = body.get("systemInstruction")
    if system:
        reply = read_parts_of(system)
        turns.insert(0, Turn("system", reply.text, opaque=reply.opaque))
    return Request(turns, _tools(body.get("tools")), as_name(value.get("model")))


def read_messages(contents: list[Any]) -> list[Turn]:
    return [read_content(content) for content in contents]


def read_content(content: dict[str, Any]) -> Turn:
    """One content: a reply of role model, or texts and function responses."""
    role = as_text(content.get("role")) or "user"
    if role == "model":
        reply = read_parts_of(content)
        return Turn("assistant", reply.text, reply=reply)
    parts = [_camel(part) for part in as_list(content.get("parts"))]
    answers = [_answer(part["functionResponse"]) for part in parts if "functionResponse" in part]
    rest = read_parts_of({"parts": [part for part in parts if "functionResponse" not in part]})
    return Turn("user" if rest.text else role, rest.text, answers=answers, opaque=rest.opaque)


def read_reply(value: dict[str, Any]) -> Reply:
    body = _camel(value)
    candidates = [_camel(candidate) for candidate in as_list(body.get("candidates"))]
    first = candidates[0] if candidates else {}
    reply = read_parts_of(first.get("content"))
    label = first.get("finishReason")
    reply.stop_raw = as_name(label) or None
    reply.error = as_text(first.get("finishMessage"))
    feedback = _camel(body.get("promptFeedback"))
    if not candidates and feedback.get("blockReason"):
        reply.refused = True
        reply.stop_raw = as_name(feedback["blockReason"])
        reply.error = as_text(feedback.get("blockReasonMessage"))
    reply.model = as_name(body.get("modelVersion"))
    reply.started_at = as_moment(body.get("createTime"))
    _read_usage(reply, _camel(body.get("usageMetadata")))
    reply.opaque += [opaque("candidate", other) for other in candidates[1:]]
    reply.opaque += left_over(body, _REPLY_FIELDS)
    known = frozenset({"content", "finishReason", "finishMessage", "index"})
    reply.opaque += left_over(first, known)
    return reply


def read_parts_of(content: Any) -> Reply:
    """The parts of a content that the model wrote."""
    reply = Reply(provider=NAME)
    if isinstance(content, str):
        reply.text = content
        return reply
    texts: list[str] = []
    thoughts: list[str] = []
    for found in as_list(as_dict(content).get("parts")):
        part = _camel(found) if isinstance(found, dict) else {"text": as_text(found)}
        if isinstance(part.get("text"), str):
            (thoughts if part.get("thought") is True else texts).append(part["text"])
        elif isinstance(part.get("functionCall"), dict):
            call = as_dict(part["functionCall"])
            name, args = as_name(call.get("name")), args_text(call.get("args"))
            reply.calls.append(CallDraft(name, args, as_name(call.get("id"))))
        else:
            kind = next(iter(part.keys() - {"thoughtSignature"}), "part")
            reply.opaque.append(opaque(kind, found))
        if part.get("thoughtSignature"):
            signature = as_text(part["thoughtSignature"])
            reply.opaque.append(Opaque("thinking_signature", signature))
    reply.text = "".join(texts)
    reply.reasoning = "".join(thoughts)
    return reply


def _answer(response: Any) -> Answer:
    """A function response: by convention `output` holds the result and `error` what went wrong."""
    body = as_dict(response)
    content: Any = body.get("response")
    flag: bool | None = None
    if isinstance(content, dict) and content.get("error"):
        content, flag = content["error"], True
    elif isinstance(content, dict) and content.keys() == {"output"}:
        content, flag = content["output"], False
    return Answer(as_text(content), as_name(body.get("id")), as_name(body.get("name")), flag)


def _read_usage(reply: Reply, usage: dict[str, Any]) -> None:
    """Token counts; what the model thought counts as output beside what it wrote."""
    written = as_count(usage.get("candidatesTokenCount"))
    thought = as_count(usage.get("thoughtsTokenCount"))
    reply.tokens_in = as_count(usage.get("promptTokenCount"))
    reply.tokens_cached = as_count(usage.get("cachedContentTokenCount"))
    reply.tokens_reasoning = thought
    if written is not None or thought is not None:
        reply.tokens_out = (written or 0) + (thought or 0)


def _tools(value: Any) -> list[Tool]:
    declared = []
    for tool in as_list(value):
        body = _camel(tool)
        declared += as_list(body.get("functionDeclarations"))
    return read_tools(declared)


def _is_content(content: Any) -> bool:
    if not isinstance(content, dict) or content.get("role", "user") not in (
        "user",
        "model",
        "function",
    ):
        return False
    parts = content.get("parts")
    return isinstance(parts, list) and all(
        isinstance(part, dict) and "type" not in part and "part_kind" not in part for part in parts
    )


def _camel(value: Any) -> dict[str, Any]:
    """An object with its snake_case keys as camelCase; null entries of Python dumps left out."""
    return {
        _HUMP.sub(lambda match: match[1].upper(), key): found
        for key, found in as_dict(value).items()
        if found is not None
    }


PROVIDER = Provider(
    name=NAME,
    title="Gemini contents",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_request,
    read_request=read_request,
    knows_message=_is_content,
    messages_field="contents",
    knows_reply=knows_reply,
    read_reply=read_reply,
    priority=30,
)
