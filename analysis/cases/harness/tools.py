"""The recorded tools and their mocks."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from analysis.cases.harness.reading import ToolFailed, brief, call_key, canonical, covers

MOCKS = frozenset(("result", "empty", "error", "timeout", "schema_error", "slow"))


RAISES = {
    kind.__name__: kind
    for kind in (
        RuntimeError, PermissionError, TimeoutError, ConnectionError, ConnectionRefusedError,
        ConnectionResetError, FileNotFoundError, LookupError, KeyError, ValueError, OSError,
    )
}  # fmt: skip


class RecordedTools:
    """Answers calls as recorded: the nth call of one key gets the nth answer, then the last."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.mocks = case.get("mocks", [])
        self.answers: dict[str, deque[dict[str, Any]]] = {}
        self.args_of: dict[str, list[str]] = {}
        self.counts: dict[str, int] = {}
        self.unanswered: set[str] = set()
        for entry in case["run"]["rounds"]:
            for call in entry.get("calls") or []:
                key = call_key(call["name"], call.get("args", {}))
                if call.get("result") is None:
                    self.unanswered.add(key)
                    continue
                self.answers.setdefault(key, deque()).append(call)
                self.args_of.setdefault(call["name"], []).append(canonical(call.get("args", {})))

    def answer(self, name: str, args: Any) -> dict[str, Any]:
        """{"result", "is_error", "raises", "mock", "recorded", "wait" (seconds)} of one call.

        `result` None: the recorded run made this call and ended before it was answered.
        """
        self.counts[name] = self.counts.get(name, 0) + 1
        mock = self.mock_of(name, args)
        if mock is not None and mock["answer"] != "slow":
            return mocked(mock, name)
        key = call_key(name, args)
        queue = self.answers.get(key)
        if queue is None:
            known = key in self.unanswered
            return {
                "result": None if known else self.not_recorded(name, args),
                "is_error": None if known else True,
                "raises": "" if known else "RuntimeError",
                "mock": "", "recorded": known, "wait": 0,
            }  # fmt: skip
        call = queue.popleft() if len(queue) > 1 else queue[0]
        result = call["result"]
        return {
            "result": result if isinstance(result, str) else json.dumps(result, ensure_ascii=False),
            "is_error": call.get("is_error"),
            "raises": "",
            "mock": "slow" if mock else "",
            "recorded": True,
            "wait": float(mock.get("seconds", 1)) if mock else 0,
        }

    def mock_of(self, name: str, args: Any) -> Mapping[str, Any] | None:
        for mock in self.mocks:
            if (
                mock["tool"] == name
                and covers(mock.get("args"), args)
                and self.counts[name] in mock.get("calls", [self.counts[name]])
            ):
                return mock  # type: ignore[no-any-return]
        return None

    def not_recorded(self, name: str, args: Any) -> str:
        known = self.args_of.get(name)
        if known is None:
            tools = ", ".join(sorted(self.args_of)) or "none"
            return f"not recorded: no call of {name}; recorded tools: {tools}"
        return (
            f"not recorded: {name} with {brief(canonical(args))}; recorded with {brief(known[0])}"
        )


def mocked(mock: Mapping[str, Any], name: str) -> dict[str, Any]:
    kind = mock["answer"]
    text = {
        "result": "",
        "empty": "",
        "error": f"{name} failed",
        "timeout": f"{name} timed out",
        "schema_error": f"invalid arguments for {name}: they do not match its schema",
    }[kind]
    if kind != "empty":
        text = str(mock.get("text", text))
    failed = kind in ("error", "timeout", "schema_error")
    named = "TimeoutError" if kind == "timeout" else "ValueError" if kind == "schema_error" else ""
    raises = str(mock.get("raises", named or "RuntimeError"))
    return {
        "result": text,
        "is_error": failed or None,
        "raises": raises if failed and mock.get("as", "raise") == "raise" else "",
        "mock": kind,
        "recorded": True,
        "wait": float(mock.get("seconds", 0)),
    }


def tool_error(name: str, text: str) -> ToolFailed:
    """An exception that is both ToolFailed and the built-in one of that name."""
    kind = type(f"ToolFailed{name}", (ToolFailed, RAISES[name]), {})
    return kind(text)  # type: ignore[no-any-return]
