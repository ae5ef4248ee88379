"""Spans of the Vercel AI SDK before version 7: `ai.*`.

The outer spans (`ai.generateText`) repeat the inner ones (`ai.generateText.doGenerate`), which are
the model requests. Source: ai 6.0.326.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transcripts.importers.providers.base import read_tools
from transcripts.importers.spans.span import Span, text_of
from transcripts.importers.spans.told import AGENT, Told, count, first_label, structured, told


def knows(attributes: Mapping[str, Any]) -> bool:
    return any(key.startswith("ai.") for key in attributes)


def read(span: Span) -> Told:
    attributes = span.attributes
    operation = text_of(attributes, "ai.operationId") or span.name
    if operation == "ai.toolCall":
        found = told(span, "tool", text_of(attributes, "ai.toolCall.name"))
        found.call_id = text_of(attributes, "ai.toolCall.id")
        found.input = attributes.get("ai.toolCall.args")
        found.output = attributes.get("ai.toolCall.result")
        return found
    if not operation.endswith((".doGenerate", ".doStream")):
        found = told(span, AGENT if "Text" in operation else "")
        found.agent = text_of(attributes, "ai.telemetry.functionId")
        return found
    found = told(span, "llm")
    found.input = attributes.get("ai.prompt.messages")
    calls = structured(attributes.get("ai.response.toolCalls"))
    text = text_of(attributes, "ai.response.text")
    if isinstance(calls, list) and calls:
        parts = [{"type": "text", "text": text}] if text else []
        found.output = {"role": "assistant", "content": [*parts, *map(_call_part, calls)]}
    else:
        found.output = text
    found.stop_raw = first_label(attributes.get("ai.response.finishReason"))
    found.provider = text_of(attributes, "ai.model.provider", "gen_ai.system").partition(".")[0]
    found.model = text_of(attributes, "ai.response.model", "ai.model.id")
    found.response_id = text_of(attributes, "ai.response.id")
    found.tokens_in = count(attributes, "ai.usage.inputTokens", "ai.usage.promptTokens")
    found.tokens_out = count(attributes, "ai.usage.outputTokens", "ai.usage.completionTokens")
    found.tokens_cached = count(attributes, "ai.usage.cachedInputTokens")
    found.tokens_reasoning = count(attributes, "ai.usage.reasoningTokens")
    found.tools = read_tools(
        [structured(tool) for tool in structured(attributes.get("ai.prompt.tools")) or []]
    )
    return found


def _call_part(call: Any) -> Any:
    return {"type": "tool-call", **call} if isinstance(call, dict) else call
