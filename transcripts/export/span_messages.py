"""Messages as the GenAI conventions of OpenTelemetry write them: a role, and parts with a `type`.

Source: semantic-conventions-genai, gen-ai-input-messages.json and gen-ai-output-messages.json.
"""

from __future__ import annotations

import json
from typing import Any

from transcripts.export.native import object_or_text
from transcripts.importers.conversation import read_any_messages
from transcripts.importers.fields import json_text, value_of
from transcripts.importers.parsing import ParseError, parse
from transcripts.record import Message, Opaque, Round, RunRecord, Tool


def output_message(round_: Round) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if round_.reasoning:
        parts.append({"type": "reasoning", "content": round_.reasoning})
    if round_.reply or not round_.calls:
        parts.append({"type": "text", "content": round_.reply})
    parts += _requests(round_)
    parts += map(_opaque, round_.opaque)
    written: dict[str, Any] = {"role": "assistant", "parts": parts}
    if round_.stop_raw is not None:
        written["finish_reason"] = round_.stop_raw
    return written


def _requests(round_: Round) -> list[dict[str, Any]]:
    return [
        {
            "type": "tool_call",
            "id": call_id(round_, index),
            "name": call.name,
            "arguments": object_or_text(call.args),
        }
        for index, call in enumerate(round_.calls)
    ]


def call_id(round_: Round, index: int) -> str:
    """The call's id; a made one where it has none, since results are joined by it."""
    return round_.calls[index].id or f"call_{round_.number}_{index}"


def input_message(message: Message, run: RunRecord) -> dict[str, Any]:
    if message.reply_of is not None and (of := run.round_by_number.get(message.reply_of)):
        parts = [{"type": "text", "content": of.reply}] if of.reply or not of.calls else []
        return {"role": message.role, "parts": parts + _requests(of)}
    if message.result_of is not None and (of := run.round_by_number.get(message.result_of[0])):
        index = message.result_of[1]
        if index < len(of.calls):
            return _answer(message.role, call_id(of, index), of.calls[index].result or "")
    if message.call_id:
        return _answer(message.role, message.call_id, message.content)
    parts = [{"type": "text", "content": message.content}]
    if message.opaque and not message.content:
        parts = []
    written = {"role": message.role, "parts": [*parts, *map(_opaque, message.opaque)]}
    return {**written, "name": message.name} if message.name else written


def _answer(role: str, call_id: str, content: str) -> dict[str, Any]:
    part = {"type": "tool_call_response", "id": call_id, "response": content}
    return {"role": role, "parts": [part]}


def _opaque(part: Opaque) -> dict[str, Any]:
    """A part as it came, where it says its own type; else within one that does."""
    try:
        value = json.loads(part.body)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and value.get("type") == part.kind:
        return value
    return {"type": part.kind, "content": part.body}


def result_text(text: str) -> str:
    """A result as an attribute: within `{"output": …}` where a reader would take it for something
    else (a text in quotes, a message).
    """
    value = value_of(text) if text[:1] == "{" else None
    quoted = text[:1] == text[-1:] == '"'
    shaped = isinstance(value, dict) and (
        value.keys() == {"output"} or read_any_messages([value]) is not None
    )
    return json_text({"output": text}) if quoted or shaped else text


def tool_definitions(tools: tuple[Tool, ...]) -> str:
    written = []
    for tool in tools:
        entry: dict[str, Any] = {"type": "function", "name": tool.name}
        if tool.description:
            entry["description"] = tool.description
        if tool.schema:
            try:
                entry["parameters"] = parse(tool.schema).value
            except ParseError:
                entry["parameters"] = tool.schema
        written.append(entry)
    return json_text(written) if written else ""
