"""The GenAI semantic conventions of OpenTelemetry, as they are and as they were.

Source: semantic-conventions-genai (docs/gen-ai), semantic-conventions 1.27 to 1.41, and what
opentelemetry-util-genai 1.3b0, OpenLLMetry 0.62, Vercel AI SDK 7 and the SDKs' own spans write.
Older spellings are taken too. Tokens of the input include those of the cache there; senders that
count them apart are found out by saying fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transcripts.importers.fields import as_dict, as_list, as_name, as_text
from transcripts.importers.literals import python_literal
from transcripts.importers.providers.base import read_tools
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

_KIND_BY_OPERATION: Final = {
    "chat": "llm",
    "generate_content": "llm",
    "text_completion": "llm",
    "execute_tool": "tool",
    "invoke_agent": AGENT,
    "invoke_workflow": AGENT,
}
_ROLE_BY_EVENT: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_DETAILS: Final = "gen_ai.client.inference.operation.details"


def knows(attributes: Mapping[str, Any]) -> bool:
    return any(
        key in attributes
        for key in ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.system")
    )


def read(span: Span) -> Told:
    attributes = span.attributes
    for event in span.events:
        if event.name == _DETAILS:
            attributes = {**event.attributes, **attributes}
    operation = text_of(attributes, "gen_ai.operation.name")
    kind = _KIND_BY_OPERATION.get(operation, "")
    if not operation and text_of(attributes, "gen_ai.request.model"):
        kind = "llm"
    found = told(span, kind)
    found.agent = text_of(attributes, "gen_ai.agent.name", "gen_ai.workflow.name")
    found.provider = text_of(attributes, "gen_ai.provider.name", "gen_ai.system").lower()
    if kind == "llm":
        read_usage(found, attributes)
        _read_messages(found, span, attributes)
    elif kind == "tool":
        _read_tool(found, span, attributes)
    elif kind == AGENT:
        found.input = structured(attributes.get("gen_ai.input.messages"))
        found.output = structured(attributes.get("gen_ai.output.messages"))
    return found


def read_usage(found: Told, attributes: Mapping[str, Any]) -> None:
    """Model, ids and tokens of a model request."""
    found.model = text_of(attributes, "gen_ai.response.model", "gen_ai.request.model")
    found.response_id = text_of(attributes, "gen_ai.response.id")
    cached = count(
        attributes,
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
    )
    written = count(
        attributes,
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
    )
    said = count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    found.tokens_in = whole_input(said, cached, written)
    found.tokens_cached = cached
    found.tokens_out = count(
        attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"
    )
    # No convention has the cost; several tools write it by this name.
    found.cost = cost(attributes.get("gen_ai.usage.cost"))
    found.tokens_reasoning = count(
        attributes,
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "llm.usage.reasoning_tokens",
    )


def _read_messages(found: Told, span: Span, attributes: Mapping[str, Any]) -> None:
    raw = text_of(attributes, "anthropic.message.stop_reason")
    found.raw_label = raw
    found.stop_raw = raw or first_label(attributes.get("gen_ai.response.finish_reasons"))
    asked = structured(attributes.get("gen_ai.input.messages", attributes.get("gen_ai.prompt")))
    system = structured(attributes.get("gen_ai.system_instructions"))
    if system:
        asked = [_system_message(system), *(asked if isinstance(asked, list) else [])]
    answered = structured(
        attributes.get("gen_ai.output.messages", attributes.get("gen_ai.completion"))
    )
    if asked is None and answered is None:
        asked, answered = _of_events(span)
    if found.stop_raw and isinstance(answered, list):
        # The label in the message is deprecated, and often normalised.
        answered = [
            {key: part for key, part in message.items() if key != "finish_reason"}
            if isinstance(message, dict)
            else message
            for message in answered
        ]
    found.input, found.output = asked, answered
    found.tools = read_tools(structured(attributes.get("gen_ai.tool.definitions")))


def _system_message(system: Any) -> dict[str, Any]:
    if not isinstance(system, list):
        system = [{"type": "text", "content": as_text(system)}]
    return {"role": "system", "parts": system}


def _of_events(span: Span) -> tuple[list[Any] | None, Any]:
    """Messages as events of the span, as conventions before 1.37 had them."""
    asked: list[Any] = []
    answered = None
    for event in span.events:
        body = {key: structured(value) for key, value in event.attributes.items()}
        if event.name in _ROLE_BY_EVENT:
            role = as_name(body.get("role")) or _ROLE_BY_EVENT[event.name]
            message = {"role": role, "content": as_text(body.get("content"))}
            if as_list(body.get("tool_calls")):
                message["tool_calls"] = body["tool_calls"]
            if role == "tool":
                message["tool_call_id"] = as_name(body.get("id"))
            asked.append(message)
        elif event.name == "gen_ai.choice" and answered is None:
            message = as_dict(body.get("message")) or {"content": as_text(body.get("content"))}
            answered = {"choices": [{"message": {"role": "assistant", **message}}]}
            if isinstance(body.get("finish_reason"), str):
                answered["choices"][0]["finish_reason"] = body["finish_reason"]
    return asked or None, answered


def _read_tool(found: Told, span: Span, attributes: Mapping[str, Any]) -> None:
    name = text_of(attributes, "gen_ai.tool.name", "traceloop.entity.name")
    found.name = name or span.name.removeprefix("execute_tool ")
    found.call_id = text_of(attributes, "gen_ai.tool.call.id")
    args = attributes.get("gen_ai.tool.call.arguments", attributes.get("traceloop.entity.input"))
    result = attributes.get("gen_ai.tool.call.result", attributes.get("traceloop.entity.output"))
    found.input = callback_input(args)
    found.output = callback_output(result)


def callback_input(value: Any) -> Any:
    """A tool's arguments; out of the callback's payload where OpenLLMetry wrote the whole of it."""
    said = structured(value)
    if not isinstance(said, dict) or "input_str" not in said:
        return value if isinstance(value, str) else said
    if isinstance(said.get("inputs"), dict):
        return said["inputs"]
    text = as_text(said["input_str"])
    literal = python_literal(text.encode()) if text[:1] in ("{", "[") else None
    return text if literal is None else literal.value


def callback_output(value: Any) -> Any:
    """A tool's result, in the same way; a message in it says the call's id."""
    said = structured(value)
    if isinstance(said, dict) and isinstance(said.get("output"), dict):
        return said["output"]
    return value if isinstance(value, str) else said
