"""The shapes of the collection that no importer knows yet, read as plainly as may be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transcripts.record import Ending

Asked = tuple[str, str, str]
"""A call's id, tool, and arguments as JSON text."""
Chat = tuple[str, list["Said"], Ending | None]
"""A name, what was said, and how it ended where the file says so."""


@dataclass(frozen=True)
class Said:
    """One message: of the assistant with its calls, or of a tool that `answers` a call."""

    role: str
    text: str
    calls: tuple[Asked, ...] = ()
    answers: str = ""
    is_error: bool | None = None


def shape_of(documents: list[Any], path: Path) -> Iterator[Chat]:
    """The chats in a file, each with a name."""
    for i, document in enumerate(documents):
        entries = document if isinstance(document, list) else [document]
        for k, entry in enumerate(entries):
            if not isinstance(entry, dict):
                continue
            name = f"{path.stem[:40]}-{i + k}"
            if isinstance(entry.get("traj"), list):
                yield name, _messages(entry["traj"]), None
            elif isinstance(entry.get("trajectory"), list):
                done = (entry.get("info") or {}).get("exit_status") == "submitted"
                yield name, _shell(entry["trajectory"]), Ending.FINISHED if done else None
            elif isinstance(entry.get("answer_generation"), dict):
                yield name, _functions(entry["answer_generation"]), None
            elif isinstance(entry.get("history"), list):
                history = entry["history"]
                is_chat = bool(history) and isinstance(history[0], dict) and "role" in history[0]
                yield name, _messages(history) if is_chat else _events(history), None
            elif isinstance(entry.get("steps"), list):
                yield name, _steps(entry["steps"]), None
            elif isinstance(entry.get("samples"), list):
                for n, sample in enumerate(entry["samples"]):
                    yield f"{name}-{n}", _messages(sample.get("messages") or []), None
    if documents and all(isinstance(d, dict) and "type" in d for d in documents):
        yield path.stem, _session(documents), None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_text(part.get("text") or part.get("content") or "") for part in content)
    return "" if content is None else json.dumps(content)


def _args(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value or {})


def _messages(messages: list[dict[str, Any]]) -> list[Said]:
    """Chat messages with `tool_calls` and role `tool`."""
    said = []
    for message in messages:
        calls = []
        for call in message.get("tool_calls") or ():
            function = call.get("function")
            if isinstance(function, dict):
                calls.append((call["id"], function["name"], _args(function.get("arguments"))))
            else:
                calls.append((call["id"], str(function), _args(call.get("arguments"))))
        said.append(
            Said(
                message["role"],
                _text(message.get("content")),
                tuple(calls),
                message.get("tool_call_id") or next(iter(message.get("tool_call_ids") or ()), ""),
                True if message.get("error") else None,
            )
        )
    return said


def _shell(steps: list[dict[str, Any]]) -> list[Said]:
    """A command and what the shell answered."""
    said = []
    for i, step in enumerate(steps):
        if "observation" not in step:
            continue
        action = str(step.get("action") or "").strip()
        name = action.split(maxsplit=1)[0] if action else "none"
        ident = f"s{i}"
        call = (ident, name, json.dumps({"command": action}))
        said.append(Said("assistant", str(step.get("thought") or ""), (call,)))
        said.append(Said("tool", str(step.get("observation") or ""), answers=ident))
    return said


def _functions(answer: dict[str, Any]) -> list[Said]:
    """The last training sample: the whole chain of `function_call` and role `function`."""
    said, waiting = [], ""
    chains = answer.get("train_messages") or [[]]
    for i, message in enumerate(chains[-1]):
        call = message.get("function_call")
        if call:
            waiting = f"f{i}"
            asked = (waiting, str(call.get("name")), _args(call.get("arguments")))
            said.append(Said("assistant", _text(message.get("content")), (asked,)))
        elif message["role"] == "function":
            said.append(Said("tool", _text(message.get("content")), answers=waiting))
        else:
            said.append(Said(message["role"], _text(message.get("content"))))
    return said


def _events(history: list[Any]) -> list[Said]:
    """Actions and observations, in pairs or in a row."""
    flat = [e for entry in history for e in (entry if isinstance(entry, list) else [entry])]
    said, waiting = [], ""
    for i, event in enumerate(flat):
        args, extras = event.get("args") or {}, event.get("extras") or {}
        if "observation" in event:
            code = extras.get("exit_code", (extras.get("metadata") or {}).get("exit_code"))
            failed = bool(code) if isinstance(code, int) else None
            if waiting:
                text = _text(event.get("content"))
                said.append(Said("tool", text, answers=waiting, is_error=failed))
            waiting = ""
        elif event.get("action") in ("message", "finish"):
            by_agent = event.get("source") == "agent" or event["action"] == "finish"
            role = "assistant" if by_agent else "user"
            said.append(Said(role, _text(args.get("content") or event.get("content"))))
        elif event.get("action") not in (None, "system", "null"):
            waiting = f"e{i}"
            thought = str(args.pop("thought", "") or "")
            asked = (waiting, str(event["action"]), json.dumps(args))
            said.append(Said("assistant", thought, (asked,)))
    return said


def _steps(steps: list[dict[str, Any]]) -> list[Said]:
    """ATIF: steps of user and agent, each with calls and their observations."""
    said = []
    for step in steps:
        asked = tuple(
            (c["tool_call_id"], c["function_name"], _args(c.get("arguments")))
            for c in step.get("tool_calls") or ()
        )
        role = {"agent": "assistant"}.get(step.get("source", ""), step.get("source", "user"))
        said.append(Said(role, _text(step.get("message")), asked))
        for result in (step.get("observation") or {}).get("results") or ():
            said.append(
                Said(
                    "tool",
                    _text(result.get("content")),
                    answers=result.get("source_call_id") or (asked[0][0] if asked else ""),
                )
            )
    return said


def _session(lines: list[dict[str, Any]]) -> list[Said]:
    """Session lines of one agent: content blocks with `tool_use` and `tool_result`."""
    said: list[Said] = []
    last: str = ""
    for line in lines:
        message = line.get("message")
        if line["type"] not in ("user", "assistant") or not isinstance(message, dict):
            continue
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        text = "\n".join(b.get("text") or "" for b in blocks if b.get("type") == "text")
        if line["type"] == "user":
            said += [
                Said(
                    "tool",
                    _text(b.get("content")),
                    answers=str(b["tool_use_id"]),
                    is_error=bool(b.get("is_error")),
                )
                for b in blocks
                if b.get("type") == "tool_result"
            ]
            said += [Said("user", text)] if text else []
            continue
        asked = tuple(
            (str(b["id"]), str(b["name"]), _args(b.get("input")))
            for b in blocks
            if b["type"] == "tool_use"
        )
        if said and last and last == message.get("id") and said[-1].role == "assistant":
            old = said.pop()
            said.append(Said("assistant", f"{old.text}\n{text}".strip(), old.calls + asked))
        elif text or asked:
            said.append(Said("assistant", text, asked))
        last = message.get("id") or ""
    return said
