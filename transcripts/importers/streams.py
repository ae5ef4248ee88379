"""Replies that were recorded as streams of server-sent events, put together as the service would
have sent them whole.

Chat completion chunks, Responses events, Anthropic message events and Gemini chunks are known.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from transcripts.importers.fields import as_dict, as_list, as_name, as_text

_DONE = "[DONE]"
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def is_stream(text: str) -> bool:
    """Whether a recorded body is a stream of events."""
    return text.lstrip().startswith(("data:", "event:"))


def whole_reply(text: str) -> Any:
    """The reply as one value; the text itself where no service writes such events."""
    events = _events(text)
    for knows, join in _KINDS:
        if any(knows(event) for event in events):
            return join(events)
    return text


def _events(text: str) -> list[dict[str, Any]]:
    events = []
    for line in text.splitlines():
        body = line.removeprefix("data:").strip()
        if line.startswith("data:") and body != _DONE:
            try:
                events.append(as_dict(json.loads(body, parse_float=Decimal)))
            except (ValueError, RecursionError, ArithmeticError):
                # A stream that was cut breaks off within an event; what came before it counts.
                break
    return events


def _join_chat(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Chat completion chunks: texts and arguments come in pieces, calls are told apart by index."""
    whole: dict[str, Any] = {"object": "chat.completion", "choices": []}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[Any, dict[str, Any]] = {}
    label = None
    for event in events:
        for key in ("id", "model", "created", "usage"):
            whole[key] = event.get(key) or whole.get(key)
        for choice in map(as_dict, as_list(event.get("choices"))[:1]):
            delta = as_dict(choice.get("delta"))
            label = choice.get("finish_reason") or label
            for key in ("content", "refusal", "reasoning_content", "reasoning"):
                if isinstance(delta.get(key), str):
                    message[key] = as_text(message.get(key)) + delta[key]
            for piece in map(as_dict, as_list(delta.get("tool_calls"))):
                _join_call(calls.setdefault(str(piece.get("index", len(calls))), {}), piece)
    if calls:
        message["tool_calls"] = list(calls.values())
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": label}]
    return whole


def _join_call(call: dict[str, Any], piece: dict[str, Any]) -> None:
    function = call.setdefault("function", {"name": "", "arguments": ""})
    call["type"] = "function"
    call["id"] = piece.get("id") or call.get("id")
    for key in ("name", "arguments"):
        function[key] += as_text(as_dict(piece.get("function")).get(key))


def _join_responses(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The last event carries the whole response; a stream that was cut has the finished items."""
    for event in reversed(events):
        if as_name(event.get("type")) in _ENDS and isinstance(event.get("response"), dict):
            return dict(event["response"])
    begun = next((as_dict(e["response"]) for e in events if "response" in e), {})
    items = [
        e["item"] for e in events if e.get("type") == "response.output_item.done" and "item" in e
    ]
    return {"object": "response", **begun, "status": "incomplete", "output": items}


def _join_anthropic(events: list[dict[str, Any]]) -> dict[str, Any]:
    """A message of its start, its blocks in pieces, and what came last of label and usage."""
    whole: dict[str, Any] = {"type": "message", "role": "assistant", "content": []}
    blocks: dict[Any, dict[str, Any]] = {}
    for event in events:
        kind = event.get("type")
        at = str(event.get("index"))
        if kind == "message_start":
            whole |= as_dict(event.get("message"))
        elif kind == "content_block_start":
            blocks[at] = dict(as_dict(event.get("content_block")))
        elif kind == "content_block_delta" and at in blocks:
            _join_block(blocks[at], as_dict(event.get("delta")))
        elif kind == "message_delta":
            whole |= {k: v for k, v in as_dict(event.get("delta")).items() if v is not None}
            whole["usage"] = as_dict(whole.get("usage")) | as_dict(event.get("usage"))
    for block in blocks.values():
        if isinstance(written := block.pop("partial_json", None), str):
            block["input"] = written or {}
    whole["content"] = list(blocks.values())
    return whole


def _join_block(block: dict[str, Any], delta: dict[str, Any]) -> None:
    for key in ("text", "thinking", "signature", "partial_json"):
        if isinstance(delta.get(key), str):
            block[key] = as_text(block.get(key)) + delta[key]


def _join_gemini(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Chunks of one candidate: parts follow each other, label and usage are the last ones."""
    whole: dict[str, Any] = {}
    parts: list[Any] = []
    label = None
    for event in events:
        whole |= {k: v for k, v in event.items() if k != "candidates"}
        for candidate in map(as_dict, as_list(event.get("candidates"))[:1]):
            parts += as_list(as_dict(candidate.get("content")).get("parts"))
            label = candidate.get("finishReason") or label
    content = {"role": "model", "parts": parts}
    return {**whole, "candidates": [{"content": content, "finishReason": label}]}


_KINDS: tuple[tuple[Callable[[dict[str, Any]], bool], Callable[[Any], dict[str, Any]]], ...] = (
    (lambda event: event.get("object") == "chat.completion.chunk", _join_chat),
    (lambda event: as_text(event.get("type")).startswith("response."), _join_responses),
    (lambda event: event.get("type") == "message_start", _join_anthropic),
    (lambda event: "candidates" in event, _join_gemini),
)
