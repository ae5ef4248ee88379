"""OpenLLMetry (Traceloop): numbered prompts and completions until 0.53, and its workflow spans.

Later versions write the GenAI conventions, which `genai` reads. Source: openllmetry 0.52.6 and
0.62.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from transcripts.importers.fields import as_dict, as_text
from transcripts.importers.providers.base import read_tools
from transcripts.importers.spans.dialects.genai import callback_input, callback_output, read_usage
from transcripts.importers.spans.span import Span, text_of
from transcripts.importers.spans.told import AGENT, Told, structured, told

_KINDS: Final = {"tool": "tool", "agent": AGENT, "workflow": AGENT}
_NUMBERED: Final = re.compile(
    r"(gen_ai\.prompt|gen_ai\.completion|llm\.request\.functions)\.(\d{1,7})\.(.+)", re.DOTALL
)
_CALL: Final = re.compile(r"tool_calls\.(\d{1,7})\.(.+)", re.DOTALL)


def knows_numbered(attributes: Mapping[str, Any]) -> bool:
    return any(
        key.startswith(("gen_ai.prompt.", "gen_ai.completion.", "llm.request.type"))
        for key in attributes
    )


def knows(attributes: Mapping[str, Any]) -> bool:
    return any(key.startswith("traceloop.") for key in attributes)


def read(span: Span) -> Told:
    attributes = span.attributes
    if knows_numbered(attributes):
        return _read_model(span)
    kind = _KINDS.get(text_of(attributes, "traceloop.span.kind"), "")
    found = told(span, kind, text_of(attributes, "traceloop.entity.name"))
    if kind == AGENT:
        found.agent = text_of(attributes, "traceloop.entity.name")
    elif kind == "tool":
        found.input = callback_input(attributes.get("traceloop.entity.input"))
        found.output = callback_output(attributes.get("traceloop.entity.output"))
    return found


def _read_model(span: Span) -> Told:
    attributes = span.attributes
    embeds = text_of(attributes, "llm.request.type") in ("embedding", "rerank")
    found = told(span, "" if embeds else "llm")
    read_usage(found, attributes)
    found.provider = text_of(attributes, "gen_ai.system").lower()
    entries = _entries(attributes)
    found.input = [_message(entry) for entry in entries["gen_ai.prompt"]]
    completions = [_message(entry) for entry in entries["gen_ai.completion"]]
    if completions:
        found.output = completions[:1]
        label = entries["gen_ai.completion"][0].get("finish_reason")
        found.stop_raw = label if isinstance(label, str) and label else None
    found.tools = read_tools(
        [
            {**entry, "parameters": structured(entry.get("parameters"))}
            for entry in entries["llm.request.functions"]
        ]
    )
    return found


def _entries(attributes: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The numbered attributes as lists of objects, in order of their numbers."""
    numbered: dict[str, dict[int, dict[str, Any]]] = {
        "gen_ai.prompt": {},
        "gen_ai.completion": {},
        "llm.request.functions": {},
    }
    for key, value in attributes.items():
        if matched := _NUMBERED.fullmatch(key):
            group, number, rest = matched.groups()
            numbered[group].setdefault(int(number), {})[rest] = value
    return {group: [part for _, part in sorted(found.items())] for group, found in numbered.items()}


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    """A numbered entry as a chat message; content that is a list of typed parts becomes one."""
    content = entry.get("content")
    parts = structured(content)
    message: dict[str, Any] = {"role": as_text(entry.get("role")) or "assistant"}
    typed = isinstance(parts, list) and bool(parts) and all(as_dict(p).get("type") for p in parts)
    message["content"] = parts if typed else as_text(content)
    calls: dict[int, dict[str, Any]] = {}
    for key, value in entry.items():
        if matched := _CALL.fullmatch(key):
            calls.setdefault(int(matched[1]), {})[matched[2]] = value
    if calls and not (typed and any(part.get("type") == "tool_use" for part in parts)):
        message["tool_calls"] = [
            {
                "id": as_text(call.get("id")),
                "type": "function",
                "function": {
                    "name": as_text(call.get("name")),
                    "arguments": as_text(call.get("arguments")) or "{}",
                },
            }
            for _, call in sorted(calls.items())
        ]
    if entry.get("tool_call_id"):
        message["tool_call_id"] = as_text(entry["tool_call_id"])
    return message
