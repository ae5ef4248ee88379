"""OpenInference attributes of a span: messages, tools, tokens and labels under dotted, numbered
keys.

Source: openinference-semantic-conventions 0.1.42. Not a format by itself: Phoenix's spans carry
them, and so do OTLP spans of that dialect.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    as_cost,
    as_count,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_text,
    value_of,
)
from transcripts.importers.observations import Observation
from transcripts.importers.providers.base import read_tools

_KINDS = {"LLM": "llm", "TOOL": "tool"}
# Deeper keys are kept whole: nothing that is read lies deeper.
_MAX_STEPS = 12


def observation(
    attributes: dict[str, Any], *, id: str, parent: str, name: str, start: Any, end: Any, kind: str
) -> Observation:
    """One span as an observation; `kind` is the span's kind where no attribute says it."""
    nested = nest(attributes)
    llm = as_dict(nested.get("llm"))
    tool = as_dict(nested.get("tool"))
    counts = as_dict(llm.get("token_count"))
    said = as_text(as_dict(as_dict(nested.get("openinference")).get("span")).get("kind")) or kind
    label = llm.get("finish_reason")
    return Observation(
        id=id,
        parent=parent,
        kind=_KINDS.get(said.upper(), ""),
        name=as_name(tool.get("name")) or name,
        started_at=as_moment(start),
        ended_at=as_moment(end),
        input=_messages(llm.get("input_messages")) or _value(nested.get("input")),
        output=_messages(llm.get("output_messages")) or _value(nested.get("output")),
        call_id=as_name(tool.get("id") or as_dict(nested.get("tool_call")).get("id")),
        stop_raw=label if isinstance(label, str) and label else None,
        provider="",
        model=as_name(llm.get("model_name")),
        tokens_in=as_count(counts.get("prompt")),
        tokens_out=as_count(counts.get("completion")),
        tokens_cached=as_count(as_dict(counts.get("prompt_details")).get("cache_read")),
        tokens_reasoning=as_count(as_dict(counts.get("completion_details")).get("reasoning")),
        cost=as_cost(as_dict(llm.get("cost")).get("total")),
        tools=read_tools([value_of(_schema(entry)) for entry in _entries(llm.get("tools"))]),
    )


def nest(attributes: dict[str, Any]) -> dict[str, Any]:
    """Dotted keys as nested objects; numbered levels stay objects with numbers as keys."""
    nested: dict[str, Any] = {}
    for key, value in attributes.items():
        steps = key.split(".", _MAX_STEPS)
        at = nested
        for step in steps[:-1]:
            below = at.setdefault(step, {})
            if not isinstance(below, dict):
                below = at[step] = {"": below}
            at = below
        known = at.get(steps[-1])
        if isinstance(known, dict):
            known[""] = value
        else:
            at[steps[-1]] = value
    return nested


def _entries(value: Any) -> list[Any]:
    """A list that may be written as an object with numbers as keys, in order of the numbers."""
    if isinstance(value, dict):
        numbered = [
            (int(key), found) for key, found in value.items() if key.isdecimal() and len(key) < 9
        ]
        return [found for _, found in sorted(numbered, key=lambda pair: pair[0])]
    return as_list(value_of(value))


def _messages(value: Any) -> list[dict[str, Any]]:
    """Chat messages in OpenAI's form."""
    messages = []
    for entry in _entries(value):
        body = as_dict(as_dict(nest(as_dict(entry))).get("message"))
        message: dict[str, Any] = {"role": as_text(body.get("role")) or "user"}
        parts = [as_dict(as_dict(p).get("message_content")) for p in _entries(body.get("contents"))]
        calls = [as_dict(as_dict(c).get("tool_call")) for c in _entries(body.get("tool_calls"))]
        # The calls stand among the parts too, without what they ask for.
        parts = [part for part in parts if not calls or part.get("type") != "tool_use"]
        message["content"] = parts if parts else as_text(body.get("content"))
        if calls:
            message["tool_calls"] = [{"type": "function", **call} for call in calls]
        for key in ("tool_call_id", "name"):
            if body.get(key):
                message[key] = body[key]
        messages.append(message)
    return messages


def _schema(entry: Any) -> Any:
    return as_dict(as_dict(entry).get("tool")).get("json_schema")


def _value(value: Any) -> Any:
    return value.get("value") if isinstance(value, dict) else value
