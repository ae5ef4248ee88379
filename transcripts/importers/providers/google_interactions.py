"""Google's Interactions API: a list of steps, calls and results in pairs.

Source: google-genai 3.6.1 google/genai/_gaos/types/interactions.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.fields import (
    args_text,
    as_count,
    as_dict,
    as_flag,
    as_list,
    as_moment,
    as_name,
    as_text,
    opaque,
)
from transcripts.importers.providers.base import (
    Provider,
    Request,
    read_parts,
    read_tools,
    result_text,
)
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn

NAME = "google.interactions"


def knows_interaction(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("steps"), list)
        and (value.get("object") == "interaction" or "status" in value)
        and all(
            isinstance(step, dict) and isinstance(step.get("type"), str) for step in value["steps"]
        )
    )


def read_interaction(value: dict[str, Any]) -> Request:
    """All steps; the status is the last reply's, and so is the usage, which covers the
    interaction.
    """
    turns = read_steps(value["steps"])
    last = next((turn.reply for turn in reversed(turns) if turn.reply), None)
    if last is not None:
        usage = as_dict(value.get("usage"))
        last.stop_raw = as_name(value.get("status")) or None
        last.tokens_in = as_count(usage.get("total_input_tokens"))
        last.tokens_out = as_count(usage.get("total_output_tokens"))
        last.tokens_cached = as_count(usage.get("total_cached_tokens"))
        last.tokens_reasoning = as_count(usage.get("total_thought_tokens"))
        last.started_at = as_moment(value.get("created"))
        last.model = as_name(value.get("model") or value.get("agent"))
    if isinstance(value.get("system_instruction"), str):
        turns.insert(0, Turn("system", value["system_instruction"]))
    return Request(turns, read_tools(value.get("tools")), as_name(value.get("model")))


def read_steps(steps: list[Any]) -> list[Turn]:
    turns: list[Turn] = []
    reply: Reply | None = None
    for step in map(as_dict, steps):
        kind = as_text(step.get("type"))
        written = kind in ("model_output", "thought") or kind.endswith("_call")
        if written:
            if reply is None:
                reply = Reply(provider=NAME)
                turns.append(Turn("assistant", reply=reply))
            _write(reply, step, kind)
        elif kind.endswith("_result") and kind != "function_result" and _joined(reply, step):
            continue
        else:
            turns.append(_read_step(step, kind))
            reply = None
    for turn in turns:
        turn.text = turn.reply.text if turn.reply else turn.text
    return turns


def _write(reply: Reply, step: dict[str, Any], kind: str) -> None:
    if kind.endswith("_call"):
        name = as_name(step.get("name")) or kind.removesuffix("_call")
        server_side = kind != "function_call"
        args = args_text(step.get("arguments"))
        call = CallDraft(name, args, as_name(step.get("id")), server_side=server_side)
        reply.calls.append(call)
        return
    text, others = read_parts(step.get("content", step.get("summary")), ("text",), ("text",))
    if kind == "thought":
        reply.reasoning = "\n".join(filter(None, (reply.reasoning, text)))
    else:
        reply.text = "\n".join(filter(None, (reply.text, text)))
    reply.opaque += others


def _read_step(step: dict[str, Any], kind: str) -> Turn:
    if kind.endswith("_result"):
        answer = Answer(
            result_text(step.get("result")),
            as_name(step.get("call_id")),
            as_name(step.get("name")),
            as_flag(step.get("is_error")),
        )
        return Turn("tool", answers=[answer])
    if kind == "user_input":
        text, others = read_parts(step.get("content"), ("text",), ("text",))
        return Turn("user", text, opaque=others)
    return Turn("step", opaque=[opaque(kind, step)])


def _joined(reply: Reply | None, step: dict[str, Any]) -> bool:
    for call in as_list(reply.calls if reply else None):
        if call.server_side and call.id == step.get("call_id") and call.result is None:
            call.result, call.joined = result_text(step.get("result")), "id"
            call.is_error = as_flag(step.get("is_error"))
            return True
    return False


PROVIDER = Provider(
    name=NAME,
    title="Google interactions",
    knows_messages=lambda messages: False,
    read_messages=read_steps,
    knows_request=knows_interaction,
    read_request=read_interaction,
    priority=35,
)
