"""The run as one list of OpenAI chat messages, with the tools that were offered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.export.base import Exporter
from transcripts.importers.fields import json_text
from transcripts.importers.parsing import ParseError, parse
from transcripts.masking.types import MaskedRun
from transcripts.record import Message, Round, RunRecord


def chat_request(run: RunRecord) -> dict[str, Any]:
    """`{"model", "messages", "tools"}`: every message once, in the order in which they came up."""
    written: dict[str, Any] = {"model": run.model} if run.model else {}
    written["messages"] = list(_messages(run))
    if run.tools:
        written["tools"] = [_tool(tool.name, tool.description, tool.schema) for tool in run.tools]
    return written


def _messages(run: RunRecord) -> Iterator[dict[str, Any]]:
    by_key = run.message_by_key
    shown: set[str] = set()
    for round_ in run.rounds:
        for placed in round_.input.added if round_.input else ():
            message = by_key.get(placed.key)
            if message is not None and placed.key not in shown and _is_own(message):
                yield _plain(message)
            shown.add(placed.key)
        yield from _round(round_)
    for message in run.messages:
        if message.key not in shown and _is_own(message):
            yield _plain(message)


def _is_own(message: Message) -> bool:
    """Whether a message says something that no round says."""
    return message.reply_of is None and message.result_of is None


def _plain(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.name:
        written["name"] = message.name
    if message.call_id:
        written["tool_call_id"] = message.call_id
    return written


def _round(round_: Round) -> Iterator[dict[str, Any]]:
    reply: dict[str, Any] = {"role": "assistant", "content": round_.reply or None}
    if not round_.calls:
        yield {**reply, "content": round_.reply}
        return
    ids = [call.id or f"call_{round_.number}_{i}" for i, call in enumerate(round_.calls)]
    reply["tool_calls"] = [
        {"id": id_, "type": "function", "function": {"name": call.name, "arguments": call.args}}
        for id_, call in zip(ids, round_.calls, strict=True)
    ]
    yield reply
    for id_, call in zip(ids, round_.calls, strict=True):
        if call.result is not None:
            yield {"role": "tool", "tool_call_id": id_, "content": call.result}


def _tool(name: str, description: str, schema: str) -> dict[str, Any]:
    function: dict[str, Any] = {"name": name}
    if description:
        function["description"] = description
    if schema:
        try:
            function["parameters"] = parse(schema).value
        except ParseError:
            function["parameters"] = {}
    return {"type": "function", "function": function}


def _write(run: MaskedRun) -> str:
    return json_text(chat_request(run.record)) + "\n"


EXPORTER = Exporter(
    name="openai",
    title="OpenAI chat messages",
    suffix=".json",
    media_type="application/json",
    write=_write,
    loses=(
        "stops",
        "error_flags",
        "measures",
        "reasoning",
        "dropped",
        "opaque",
        "orphans",
        "gaps",
        "about",
    ),
)
