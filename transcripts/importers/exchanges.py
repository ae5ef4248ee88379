"""What a model request read and what the model answered, in whichever shape a tracing tool recorded
it: a provider's request or reply, a list of messages, or text.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.conversation import (
    read_any_messages,
    read_any_reply,
    read_any_request,
)
from transcripts.importers.fields import args_text, as_dict, as_list, as_name, as_text, value_of
from transcripts.importers.literals import printed_fields
from transcripts.importers.providers.base import Request, read_tools
from transcripts.importers.providers.openai_chat import ROLES
from transcripts.importers.turns import CallDraft, Reply, Turn
from transcripts.record import Tool

_TEXT_KEYS = ("prompt", "input", "query", "question", "text", "content", "args")
_MESSAGE_KEYS = ("role", "content")
_PRINTED_FIELDS = ("role", "content", "name", "tool_calls", "tool_call_id")


def read_input(value: Any) -> tuple[Request | None, str]:
    """What a model request read, in whichever shape it was recorded."""
    if value in (None, "", [], {}):
        return None, ""
    if isinstance(value, str):
        return Request([Turn("user", value)]), ""
    if isinstance(value, list):
        messages, tools = _without_tools(list(map(_whole_message, value)))
        messages = _with_tool_roles(messages)
        found = read_any_messages(messages) or read_any_messages(_flat(messages))
        if found is not None:
            return Request(found[0], tools), found[1]
        if all(isinstance(entry, str) for entry in messages):
            return Request([Turn("user", text) for text in messages], tools), ""
        return Request([Turn("user", as_text(value))]), ""
    if not isinstance(value, dict):
        return Request([Turn("user", as_text(value))]), ""
    if value.keys() == {"content"} and value["content"] in _MESSAGE_KEYS:
        # The keys of a message were listed in place of the message.
        return None, ""
    asked = read_any_request(value) or read_any_request(as_dict(value.get("body")))
    if asked is not None:
        return asked
    for key in ("messages", "input_messages", "input"):
        inner, name = read_input(value[key]) if isinstance(value.get(key), list) else (None, "")
        if inner is not None and value[key]:
            inner.tools += read_tools(value.get("tools"))
            return inner, name
    single = read_any_messages([value])
    if single is not None:
        return Request(single[0]), single[1]
    text = next((value[key] for key in _TEXT_KEYS if value.get(key)), value)
    return Request([Turn("user", as_text(text))]), ""


def _whole_message(entry: Any) -> Any:
    """A message that was recorded as the text that Python prints for it (`role='user' …`), or
    whose tool requests stand in its text, as JSON.
    """
    if isinstance(entry, dict) and (calls := _calls_in_text(entry.get("content"))):
        return {**entry, "role": "assistant", "content": None, "tool_calls": calls}
    if not isinstance(entry, str) or not entry.startswith("role="):
        return entry
    fields = printed_fields(entry)
    kept = {key: fields[key] for key in _PRINTED_FIELDS if fields.get(key) is not None}
    return {"content": None, **kept} if fields.get("role") in ROLES else entry


def _calls_in_text(content: Any) -> list[Any]:
    if not isinstance(content, str) or not content.startswith("[{") or '"function"' not in content:
        return []
    calls = [as_dict(call) for call in as_list(value_of(content))]
    told = all(c.get("id") and as_name(as_dict(c.get("function")).get("name")) for c in calls)
    return calls if told else []


def _with_tool_roles(messages: list[Any]) -> list[Any]:
    """Some recorders give a tool's result the name of the tool for a role, and no id."""
    waiting: list[tuple[str, str]] = []
    named = []
    for message in messages:
        role = as_name(as_dict(message).get("role"))
        calls = [as_dict(call) for call in as_list(as_dict(message).get("tool_calls"))]
        waiting += [
            (as_name(as_dict(call.get("function")).get("name")), as_name(call.get("id")))
            for call in calls
        ]
        found = next((one for one in waiting if one[0] == role), None)
        if found is not None and role not in ROLES:
            waiting.remove(found)
            message = {**message, "role": "tool", "name": role, "tool_call_id": found[1]}
        named.append(message)
    return named


def _without_tools(messages: list[Any]) -> tuple[list[Any], list[Tool]]:
    """Some recorders list the offered tools among the messages."""
    offered = [m for m in messages if as_dict(as_dict(m).get("content")).get("type") == "function"]
    rest = [m for m in messages if m not in offered] if offered else messages
    return rest, read_tools([as_dict(m)["content"] for m in offered])


def _flat(messages: list[Any]) -> list[Any]:
    """Lists of lists, as batch interfaces record them, with one entry."""
    return messages[0] if len(messages) == 1 and isinstance(messages[0], list) else []


def read_output(value: Any) -> tuple[Reply, str]:
    """What the model answered, in whichever shape it was recorded."""
    if value in (None, "", [], {}):
        return Reply(), ""
    if isinstance(value, str):
        return Reply(text=value), ""
    answered = read_any_reply(value) or _wrapped_reply(value)
    if answered is not None:
        return answered
    messages = [_whole_message(m) for m in value] if isinstance(value, list) else [value]
    found = read_any_messages(messages) or read_any_messages(_flat(messages))
    if found is not None:
        replies = [turn.reply for turn in found[0] if turn.reply is not None]
        if replies:
            return _merged(replies), found[1]
    calls = _bare_calls(messages)
    if calls:
        return Reply(calls=calls), ""
    for key in ("messages", "generations", "output", "response", "text", "content"):
        if isinstance(value, dict) and value.get(key):
            return read_output(value_of(value[key]))
    return Reply(text=as_text(value)), ""


def _wrapped_reply(value: Any) -> tuple[Reply, str] | None:
    """A choice, or a candidate, without the response around it."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("message"), dict):
        return read_any_reply({"choices": [value]})
    if isinstance(as_dict(value.get("content")).get("parts"), list):
        usage = value.get("usage_metadata", value.get("usageMetadata"))
        return read_any_reply({"candidates": [value], "usageMetadata": usage})
    return None


def _merged(replies: list[Reply]) -> Reply:
    """One reply of output messages that stand for one: text here, each call there."""
    first = replies[0]
    for other in replies[1:]:
        first.text = "\n".join(filter(None, (first.text, other.text)))
        first.calls += other.calls
        first.stop_raw = first.stop_raw or other.stop_raw
    return first


def _bare_calls(entries: list[Any]) -> list[CallDraft]:
    calls = []
    for entry in map(as_dict, entries):
        name = as_name(entry.get("toolName") or as_dict(entry.get("function")).get("name"))
        if not name:
            return []
        function = as_dict(entry.get("function"))
        args = entry.get("input", entry.get("args", function.get("arguments")))
        call_id = as_name(entry.get("toolCallId") or entry.get("id"))
        calls.append(CallDraft(name, args_text(args), call_id))
    return calls
