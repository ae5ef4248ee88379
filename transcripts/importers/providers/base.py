"""What a provider module offers, and how messages of content parts are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from transcripts.importers.fields import as_list, as_text, json_text, opaque
from transcripts.importers.turns import Reply, Turn
from transcripts.record import Opaque, Tool


@dataclass(slots=True)
class Request:
    """One model request: what the model read, in order, and the tools it was offered.

    `continues`: `turns` are what is new since the request before, which the service remembers.
    """

    turns: list[Turn] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    model: str = ""
    continues: bool = False


def _knows_none(value: Any) -> bool:
    return False


def _reads_no_request(value: dict[str, Any]) -> Request:
    raise NotImplementedError


def _reads_no_reply(value: dict[str, Any]) -> Reply:
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Provider:
    """One wire format of messages: a model service's, or a framework's.

    `name` is its name in the table of stop labels. `knows_*` look at shape alone and never raise,
    whatever the value; `read_*` are called only where the matching one said yes. `knows_message`
    is given where a request's `messages_field` holds messages of which each is read by itself, as
    one turn; a request's turns are then what stands before them, and they.
    """

    name: str
    title: str
    knows_messages: Callable[[list[Any]], bool]
    read_messages: Callable[[list[Any]], list[Turn]]
    knows_request: Callable[[Any], bool] = _knows_none
    read_request: Callable[[dict[str, Any]], Request] = _reads_no_request
    knows_reply: Callable[[Any], bool] = _knows_none
    read_reply: Callable[[dict[str, Any]], Reply] = _reads_no_reply
    priority: int = 0
    knows_message: Callable[[Any], bool] | None = None
    messages_field: str = "messages"


def read_parts(
    content: Any, text_keys: Sequence[str] = ("text",), text_types: Sequence[str] = ()
) -> tuple[str, list[Opaque]]:
    """The text of a message's content, and its parts that are no text.

    `content` is a string, null, or a list of strings and parts. A part is text where its `type` is
    among `text_types` and the value of one of `text_keys` is a string.
    """
    if not isinstance(content, list):
        return as_text(content), []
    texts: list[str] = []
    others: list[Opaque] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, dict):
            others.append(opaque("part", part))
            continue
        kind = part.get("type", "text")
        text = next((part[key] for key in text_keys if isinstance(part.get(key), str)), None)
        if text is not None and kind in text_types:
            texts.append(text)
        else:
            others.append(opaque(kind if isinstance(kind, str) else "part", part))
    return "\n".join(texts), others


def result_text(content: Any, text_types: Sequence[str] = ("text",)) -> str:
    """A tool result's content as text: parts that are all text are joined, others kept as JSON
    text.
    """
    if isinstance(content, list) and content:
        texts = [_part_text(part, text_types) for part in content]
        known = [text for text in texts if text is not None]
        if len(known) == len(content):
            return "\n".join(known)
    return as_text(content)


def _part_text(part: Any, text_types: Sequence[str]) -> str | None:
    if isinstance(part, dict) and part.get("type", "text") in text_types:
        part = part.get("text")
    return part if isinstance(part, str) else None


def left_over(value: dict[str, Any], known: frozenset[str]) -> list[Opaque]:
    """The fields of an object that nobody reads, as opaque parts; those that are null or empty say
    nothing.
    """
    return [
        opaque(key, found)
        for key, found in value.items()
        if key not in known and found not in (None, "", [], {}, False)
    ]


def read_tools(value: Any) -> list[Tool]:
    """Tool definitions in any of the usual shapes: OpenAI (nested or flat), Anthropic, MCP."""
    tools = []
    for entry in as_list(value):
        if not isinstance(entry, dict):
            continue
        inner = next(
            (entry[key] for key in ("function", "custom") if isinstance(entry.get(key), dict)),
            entry,
        )
        schema = next(
            (inner[k] for k in ("parameters", "input_schema", "inputSchema") if inner.get(k)), None
        )
        name = inner.get("name") or entry.get("type")
        if isinstance(name, str) and name:
            description = as_text(inner.get("description"))
            tools.append(Tool(name, description, "" if schema is None else json_text(schema)))
    return tools


def read_message_object(
    read_messages: Callable[[list[Any]], list[Turn]],
) -> Callable[[dict[str, Any]], Request]:
    """The reading of an object that holds a list of messages and perhaps tools."""

    def read(value: dict[str, Any]) -> Request:
        return Request(read_messages(value["messages"]), read_tools(value.get("tools")))

    return read


def knows_message_object(
    knows_messages: Callable[[list[Any]], bool],
) -> Callable[[Any], bool]:
    """Whether a value is an object with a list of messages that are known."""

    def knows(value: Any) -> bool:
        messages = value.get("messages") if isinstance(value, dict) else None
        return isinstance(messages, list) and knows_messages(messages)

    return knows
