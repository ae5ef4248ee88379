"""What the loop under test gets: the model's replies, and tools' results."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.cases.harness.messages import as_dict, text_of
from analysis.cases.harness.reading import cut


class Result(str):
    """A tool's answer: its text, and `is_error` as recorded (None where the record has no flag)."""

    is_error: bool | None

    def __new__(cls, text: str, is_error: bool | None = None) -> Result:
        result = super().__new__(cls, text)
        result.is_error = is_error
        return result


@dataclass
class Call:
    """A tool call that the model asks for. `args` is a dict, or text where it is no JSON object."""

    id: str
    name: str
    args: Any
    args_text: str

    def answer(self, result: Any) -> dict[str, Any]:
        """The message that carries `result` back to the model."""
        answer = {"role": "tool", "tool_call_id": self.id, "content": text_of(result)}
        if getattr(result, "is_error", None):
            answer["is_error"] = True  # type: ignore[assignment]
        return answer


@dataclass
class Reply:
    """What the model replies in one round; `stop` is a plain stop reason."""

    text: str
    calls: list[Call]
    stop: str
    stop_raw: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    duration_ms: float | None = None
    error: str = ""

    @property
    def message(self) -> dict[str, Any]:
        """The message that repeats this reply in the next round's input (OpenAI's shape)."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.args_text},
                }
                for call in self.calls
            ]
        return message


def reply_of(entry: Mapping[str, Any], number: int) -> Reply:
    """A reply from a recorded round, a branch, or a model function's dict."""
    calls = []
    for at, asked in enumerate(entry.get("calls") or []):
        args: Any = asked.get("args", {})
        text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
        if isinstance(args, str):
            with contextlib.suppress(ValueError):
                read = json.loads(args)
                args = read if isinstance(read, dict) else args
        calls.append(Call(str(asked.get("id") or f"call_{number}_{at}"), asked["name"], args, text))
    error = str(entry.get("error") or "")
    cost, took = entry.get("cost"), entry.get("duration_ms")
    return Reply(
        text=str(entry.get("reply") or entry.get("text") or ""),
        calls=calls,
        stop=str(entry.get("stop") or ("wants_tool" if calls else "finished")),
        stop_raw=str(entry.get("stop_raw") or ""),
        model=str(entry.get("model") or ""),
        tokens_in=entry.get("tokens_in"),
        tokens_out=entry.get("tokens_out"),
        cost=None if cost is None else float(cost),
        duration_ms=None if took is None else float(took),
        error=error,
    )


def reply_of_model(answer: Any, number: int) -> Reply:
    """What a model function returned: text, a dict, a Reply, or a client library's response."""
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return reply_of({"text": answer}, number)
    raw = as_dict(answer)
    if raw.get("choices"):
        choice = as_dict(raw["choices"][0])
        message = as_dict(choice.get("message"))
        functions = [as_dict(asked) for asked in message.get("tool_calls") or []]
        calls = [
            {"id": f.get("id"), "name": as_dict(f["function"])["name"],
             "args": as_dict(f["function"])["arguments"]}
            for f in functions
        ]  # fmt: skip
        text, label = text_of(message.get("content")), choice.get("finish_reason")
    elif raw.get("type") == "message" and isinstance(raw.get("content"), list):
        blocks = [as_dict(block) for block in raw["content"]]
        calls = [
            {"id": b.get("id"), "name": b["name"], "args": b.get("input") or {}}
            for b in blocks
            if b.get("type") == "tool_use"
        ]
        text = "\n".join(b["text"] for b in blocks if b.get("type") == "text")
        label = raw.get("stop_reason")
    elif isinstance(answer, Mapping):
        return reply_of(raw, number)
    else:
        raise TypeError(f"the model function returned {type(answer).__name__}, not a reply")
    usage = as_dict(raw.get("usage"))
    return reply_of(
        {
            "text": text,
            "calls": calls,
            "stop": PLAIN_STOPS.get(str(label), None if calls else "unknown"),
            "stop_raw": label,
            "model": raw.get("model"),
            "tokens_in": usage.get("prompt_tokens", usage.get("input_tokens")),
            "tokens_out": usage.get("completion_tokens", usage.get("output_tokens")),
        },
        number,
    )


PLAIN_STOPS = {
    "stop": "finished", "end_turn": "finished", "stop_sequence": "finished",
    "tool_calls": "wants_tool", "tool_use": "wants_tool", "length": "cut_off",
    "max_tokens": "cut_off", "content_filter": "blocked", "refusal": "blocked",
}  # fmt: skip


def reply_event(number: int, source: str, reply: Reply) -> dict[str, Any]:
    return {
        "e": "reply",
        "round": number,
        "source": source,
        "reply": cut(reply.text),
        "stop": reply.stop,
        "stop_raw": reply.stop_raw,
        "calls": [{"id": c.id, "name": c.name, "args": c.args} for c in reply.calls],
        "model": reply.model,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost": reply.cost,
        "duration_ms": reply.duration_ms,
        "error": reply.error,
    }
