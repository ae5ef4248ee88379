"""What the loop shows the model, in any of the shapes that loops use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Shown:
    """One message as the model was shown it. `results` are {"id", "name", "text", "is_error"}."""

    role: str
    text: str
    results: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)


def text_of(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, (list, tuple)):
        return "\n".join(filter(None, (text_of(part) for part in content)))
    part = as_dict(content)
    for name in ("text", "content", "output", "refusal", "thinking"):
        if name in part and part[name] is not None:
            return text_of(part[name])
    return json.dumps(part, ensure_ascii=False, default=str) if part else str(content)


def as_dict(value: Any) -> dict[str, Any]:
    """A client library's object as a dict; an empty one where there is nothing to read."""
    if isinstance(value, Mapping):
        return dict(value)
    for method in ("model_dump", "to_dict", "dict"):
        if callable(getattr(value, method, None)):
            dumped = getattr(value, method)()
            return dict(dumped) if isinstance(dumped, Mapping) else {}
    return dict(getattr(value, "__dict__", {}))


def shown_message(message: Any) -> Shown:
    """Read a message in OpenAI's or Anthropic's shape, or a plain string."""
    if isinstance(message, str):
        return Shown("user", message)
    raw = as_dict(message)
    role = str(raw.get("role") or raw.get("type") or "user")
    shown = Shown(role, "")
    texts = []
    content = raw.get("content")
    for part in content if isinstance(content, (list, tuple)) else [content]:
        block = {} if part is None or isinstance(part, str) else as_dict(part)
        if block.get("type") == "tool_result":
            flag = bool(block.get("is_error"))
            text = text_of(block.get("content"))
            shown.results.append(result_entry(block.get("tool_use_id"), text, flag))
        elif block.get("type") == "tool_use":
            shown.calls.append({k: block.get(k) for k in ("id", "name")})
        else:
            texts.append(text_of(part))
    shown.text = "\n".join(filter(None, texts))
    for asked in raw.get("tool_calls") or []:
        entry = as_dict(asked)
        name = as_dict(entry.get("function")).get("name")
        shown.calls.append({"id": entry.get("id"), "name": name})
    if role in ("tool", "function"):
        flag = bool(raw.get("is_error"))
        name = str(raw.get("name") or "")
        shown.results.append(result_entry(raw.get("tool_call_id"), shown.text, flag, name))
        shown.text = ""
    return shown


def result_entry(id_: Any, text: str, flag: bool, name: str = "") -> dict[str, Any]:
    return {"id": str(id_ or ""), "name": name, "text": text, "is_error": flag}
