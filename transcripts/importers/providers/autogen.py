"""AutoGen AgentChat messages and events, and the message list of a saved agent.

Source: autogen-agentchat and autogen-core 0.7.5. Neither holds the model's name or a stop label.
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
    knows_message_object,
    read_message_object,
    read_parts,
)
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn

NAME = "autogen"
_TYPES = frozenset(
    {
        "TextMessage",
        "MultiModalMessage",
        "StopMessage",
        "HandoffMessage",
        "ToolCallSummaryMessage",
        "StructuredMessage",
        "ToolCallRequestEvent",
        "ToolCallExecutionEvent",
        "ThoughtEvent",
        "MemoryQueryEvent",
        "UserInputRequestedEvent",
        "ModelClientStreamingChunkEvent",
        "SelectSpeakerEvent",
        "SelectorEvent",
        "CodeGenerationEvent",
        "CodeExecutionEvent",
        "UserMessage",
        "SystemMessage",
        "AssistantMessage",
        "FunctionExecutionResultMessage",
    }
)
_PEOPLE = frozenset({"user", "user_proxy", "human"})
# The text of a summary repeats the results that came just before it.
_REPEATS = frozenset({"ToolCallSummaryMessage", "ModelClientStreamingChunkEvent"})


def knows_messages(messages: list[Any]) -> bool:
    """Whether every entry has a type of this framework."""
    return bool(messages) and all(
        isinstance(m, dict) and as_name(m.get("type")) in _TYPES for m in messages
    )


def read_messages(messages: list[Any]) -> list[Turn]:
    turns: list[Turn] = []
    thought = ""
    for message in messages:
        kind = message["type"]
        if kind == "ThoughtEvent":
            thought = as_text(message.get("content"))
            continue
        if kind in _REPEATS:
            continue
        turn = _read_message(message, kind)
        if turn.reply is not None:
            turn.reply.reasoning = thought or turn.reply.reasoning
            thought = ""
        turns.append(turn)
    return turns


def _read_message(message: dict[str, Any], kind: str) -> Turn:
    source = as_name(message.get("source"))
    content = message.get("content")
    if kind in ("ToolCallExecutionEvent", "FunctionExecutionResultMessage"):
        return Turn("tool", answers=[_answer(as_dict(entry)) for entry in as_list(content)])
    if kind in ("ToolCallRequestEvent", "AssistantMessage") or (
        kind.endswith("Message") and not _is_person(source, kind)
    ):
        reply = _read_reply(message)
        return Turn("assistant", reply.text, source, reply=reply)
    role = "system" if kind == "SystemMessage" else "user"
    if kind.endswith("Message"):
        text, others = read_parts(content)
        return Turn(role, text, source, opaque=others)
    return Turn("event", name=source, opaque=[opaque(kind, message)])


def _read_reply(message: dict[str, Any]) -> Reply:
    content = message.get("content")
    usage = as_dict(message.get("models_usage"))
    reply = Reply(
        provider=NAME,
        reasoning=as_text(message.get("thought")),
        tokens_in=as_count(usage.get("prompt_tokens")),
        tokens_out=as_count(usage.get("completion_tokens")),
        started_at=as_moment(message.get("created_at")),
    )
    calls = [as_dict(entry) for entry in as_list(content)]
    if calls and all("name" in call and "arguments" in call for call in calls):
        reply.calls = [
            CallDraft(as_name(c["name"]), args_text(c["arguments"]), as_name(c.get("id")))
            for c in calls
        ]
    else:
        reply.text, reply.opaque = read_parts(content)
    return reply


def _answer(entry: dict[str, Any]) -> Answer:
    return Answer(
        as_text(entry.get("content")),
        as_name(entry.get("call_id")),
        as_name(entry.get("name")),
        as_flag(entry.get("is_error")),
    )


def _is_person(source: str, kind: str) -> bool:
    return kind in ("UserMessage", "SystemMessage") or source.casefold() in _PEOPLE


PROVIDER = Provider(
    name=NAME,
    title="AutoGen messages",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_message_object(knows_messages),
    read_request=read_message_object(read_messages),
    priority=40,
)
