"""OpenInference: attributes under dotted, numbered keys; see `transcripts.importers.openinference`.

Source: openinference-semantic-conventions 0.1.42.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transcripts.importers import openinference
from transcripts.importers.fields import as_dict, as_name, value_of
from transcripts.importers.spans.span import Span, text_of
from transcripts.importers.spans.told import AGENT, Told, cost, count, told, whole_input

KIND_KEY: Final = "openinference.span.kind"


def knows(attributes: Mapping[str, Any]) -> bool:
    return KIND_KEY in attributes


def read(span: Span) -> Told:
    attributes = span.attributes
    said = text_of(attributes, KIND_KEY).upper()
    if said not in ("LLM", "TOOL"):
        found = told(span, AGENT if said == "AGENT" else "")
        found.agent = text_of(attributes, "agent.name") or (span.name if said == "AGENT" else "")
        return found
    read = openinference.observation(
        attributes,
        id=span.span_id,
        parent=span.parent_id,
        name=span.name,
        start=None,
        end=None,
        kind=said,
    )
    found = told(span, read.kind, read.name)
    found.input, found.output = read.input, read.output
    found.call_id, found.stop_raw, found.tools = read.call_id, read.stop_raw, read.tools
    found.model = read.model or text_of(
        attributes, "llm.response.model_name", "llm.request.model_name"
    )
    found.provider = text_of(attributes, "llm.provider", "llm.system").lower()
    found.tokens_cached = count(attributes, "llm.token_count.prompt_details.cache_read")
    written = count(attributes, "llm.token_count.prompt_details.cache_write")
    prompt = count(attributes, "llm.token_count.prompt")
    found.tokens_in = whole_input(prompt, found.tokens_cached, written)
    found.tokens_out = count(attributes, "llm.token_count.completion")
    found.tokens_reasoning = count(attributes, "llm.token_count.completion_details.reasoning")
    found.cost = cost(attributes.get("llm.cost.total"))
    if found.kind == "llm":
        raw = as_dict(value_of(attributes.get("output.value")))
        found.response_id = as_name(raw.get("id"))
    return found
