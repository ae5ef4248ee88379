"""Spans of the Langfuse SDK: `langfuse.observation.*`, values as JSON text.

Source: langfuse 5.0.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transcripts.importers.fields import as_dict
from transcripts.importers.spans.span import Span, text_of
from transcripts.importers.spans.told import (
    AGENT,
    Told,
    cost,
    count,
    first_label,
    structured,
    told,
    whole_input,
)

_PREFIX: Final = "langfuse."
_KINDS: Final = {"generation": "llm", "tool": "tool", "agent": AGENT}


def knows(attributes: Mapping[str, Any]) -> bool:
    return any(key.startswith(_PREFIX) for key in attributes)


def read(span: Span) -> Told:
    attributes = span.attributes
    kind = _KINDS.get(text_of(attributes, "langfuse.observation.type").lower(), "")
    found = told(span, kind)
    found.agent = text_of(attributes, "langfuse.trace.name") or (span.name if kind == AGENT else "")
    if text_of(attributes, "langfuse.observation.level").upper() == "ERROR":
        found.failed = True
        found.error = text_of(attributes, "langfuse.observation.status_message") or span.error
    for key in ("environment", "release"):
        label = text_of(attributes, f"langfuse.{key}")
        if label and label != "default":
            found.labels[key] = label
    if kind not in ("llm", "tool"):
        return found
    found.input = attributes.get("langfuse.observation.input")
    found.output = attributes.get("langfuse.observation.output")
    found.call_id = text_of(attributes, "gen_ai.tool.call.id")
    found.model = text_of(attributes, "langfuse.observation.model.name")
    usage = as_dict(structured(attributes.get("langfuse.observation.usage_details")))
    found.tokens_cached = count(
        usage, "cache_read_input_tokens", "input_cache_read", "input_cached_tokens"
    )
    written = count(usage, "cache_creation_input_tokens", "input_cache_creation")
    said = count(usage, "input", "prompt_tokens", "input_tokens")
    found.tokens_in = whole_input(said, found.tokens_cached, written)
    found.tokens_out = count(usage, "output", "completion_tokens", "output_tokens")
    found.tokens_reasoning = count(usage, "output_reasoning", "output_reasoning_tokens")
    costs = as_dict(structured(attributes.get("langfuse.observation.cost_details")))
    found.cost = cost(costs.get("total"))
    metadata = as_dict(structured(attributes.get("langfuse.observation.metadata")))
    found.stop_raw = first_label(metadata.get("finish_reason"))
    found.response_id = text_of(attributes, "gen_ai.response.id")
    return found
