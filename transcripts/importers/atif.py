"""ATIF, the agent trajectory interchange format of Harbor: steps of a user, the system and the
agent.

Source: atif 1.8.0, schema versions 1.0 to 1.8. It has no error flag and no stop label. Copied
context is history from another trajectory, not rounds of this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Importer, Read, each_document
from transcripts.importers.building import RunBuilder
from transcripts.importers.fields import (
    args_text,
    as_cost,
    as_count,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_text,
    opaque,
)
from transcripts.importers.providers.base import left_over, read_parts, read_tools, result_text
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Opaque

_TITLE = "ATIF trajectories"
_STEP_FIELDS = frozenset(
    {
        "step_id",
        "timestamp",
        "source",
        "message",
        "model_name",
        "reasoning_content",
        "reasoning_effort",
        "tool_calls",
        "observation",
        "metrics",
        "is_copied_context",
        "llm_call_count",
    }
)


def recognise(value: Any) -> bool:
    """Whether this is a trajectory, or an object whose values all are."""
    if _is_trajectory(value):
        return True
    return isinstance(value, dict) and bool(value) and all(map(_is_trajectory, value.values()))


def _is_trajectory(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and as_name(value.get("schema_version")).startswith("ATIF")
        and isinstance(value.get("steps"), list)
    )


def runs_of(value: dict[str, Any], default_run_id: str) -> Iterator[Read]:
    """The trajectory, then the trajectories of its sub-agents."""
    if not _is_trajectory(value):
        for name, trajectory in value.items():
            yield from _runs(trajectory, f"{default_run_id}/{name}", "")
    else:
        yield from _runs(value, default_run_id, "")


def _runs(value: dict[str, Any], default_run_id: str, parent: str) -> Iterator[Read]:
    session, own = as_name(value.get("session_id")), as_name(value.get("trajectory_id"))
    run_id = (own if parent else session or own) or default_run_id
    builder = RunBuilder()
    for step in map(as_dict, value["steps"]):
        for turn in _read_step(step):
            builder.add(turn)
        if as_dict(as_dict(step.get("extra")).get("context_management")).get("boundary"):
            builder.forget()
            builder.add(Turn("system", as_text(step.get("message"))))
    agent = as_dict(value.get("agent"))
    metrics = as_dict(value.get("final_metrics"))
    labels = {k: str(v) for k, v in metrics.items() if not isinstance(v, dict | list | None)}
    model = as_name(agent.get("model_name"))
    yield builder.build(
        run_id,
        agent=as_name(agent.get("name")),
        code_version=as_name(agent.get("version")),
        tools=tuple(read_tools(agent.get("tool_definitions"))),
        parent_run_id=parent,
        labels=labels,
        currency="USD" if "total_cost_usd" in metrics else "",
        **({"model": model} if model else {}),
    )
    for number, sub in enumerate(as_list(value.get("subagent_trajectories")), 1):
        if isinstance(sub, dict) and isinstance(sub.get("steps"), list):
            yield from _runs(sub, f"{run_id}/{number}", run_id)


def _read_step(step: dict[str, Any]) -> Iterator[Turn]:
    text, others = read_parts(step.get("message"), ("text",), ("text",))
    results = _results(step)
    answers = [_answer(result) for result in results if result.get("source_call_id")]
    if step.get("source") == "agent" and not step.get("is_copied_context"):
        reply = _reply(step, text, others)
        yield Turn("assistant", reply=reply)
    else:
        role = {"agent": "assistant"}.get(as_text(step.get("source")), as_text(step.get("source")))
        calls = [opaque("tool_call", call) for call in as_list(step.get("tool_calls"))]
        yield Turn(role, text, opaque=others + calls)
    if answers:
        yield Turn("tool", answers=answers)
    for result in results:
        if not result.get("source_call_id") and result.get("content"):
            yield Turn("user", result_text(result["content"]), name="environment")


def _results(step: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a step; one without an id is the common answer to all its calls."""
    results = [as_dict(r) for r in as_list(as_dict(step.get("observation")).get("results"))]
    calls = [as_name(as_dict(c).get("tool_call_id")) for c in as_list(step.get("tool_calls"))]
    if len(results) == 1 and calls and not results[0].get("source_call_id"):
        return [{**results[0], "source_call_id": call} for call in calls if call]
    return results


def _reply(step: dict[str, Any], text: str, others: list[Opaque]) -> Reply:
    metrics = as_dict(step.get("metrics"))
    return Reply(
        text=text,
        reasoning=as_text(step.get("reasoning_content")),
        calls=[
            CallDraft(
                as_name(call.get("function_name")),
                args_text(call.get("arguments")),
                as_name(call.get("tool_call_id")),
            )
            for call in map(as_dict, as_list(step.get("tool_calls")))
        ],
        model=as_name(step.get("model_name")),
        started_at=as_moment(step.get("timestamp")),
        tokens_in=as_count(metrics.get("prompt_tokens")),
        tokens_out=as_count(metrics.get("completion_tokens")),
        tokens_cached=as_count(metrics.get("cached_tokens")),
        cost=as_cost(metrics.get("cost_usd")),
        opaque=others + left_over(step, _STEP_FIELDS),
    )


def _answer(result: dict[str, Any]) -> Answer:
    refs = [as_dict(ref) for ref in as_list(result.get("subagent_trajectory_ref"))]
    names = [as_name(ref.get("trajectory_id") or ref.get("session_id")) for ref in refs]
    return Answer(
        result_text(result.get("content")),
        call_id=as_name(result.get("source_call_id")),
        sub_run=next((name for name in names if name), ""),
        opaque=[Opaque("subagent_trajectory", name) for name in names[1:] if name],
    )


IMPORTER = Importer(
    name="atif",
    title=_TITLE,
    recognise=recognise,
    read=each_document(recognise, runs_of, _TITLE),
    priority=80,
)
