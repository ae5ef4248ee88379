"""tau-bench and tau2-bench results: simulated customers, tools, and a reward.

Source: tau-bench at 59a200c, tau2-bench at a2c0247. The first has no error flag; in the second the
id of a tool message is the id of its call, and calls of the simulated user are not the agent's.
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
    as_flag,
    as_list,
    as_moment,
    as_name,
    as_number,
    as_text,
    opaque,
)
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import result_text
from transcripts.importers.turns import Answer, CallDraft, Turn
from transcripts.record import Ending, Stop
from transcripts.stop_reasons import plain_label

_TITLE = "tau-bench results"


def recognise(value: Any) -> bool:
    """Whether this is a result, a list of results, or a tau2 file of simulations."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_result, value))
    return _is_result(value) or _is_tau2(value)


def runs_of(value: Any, default_run_id: str) -> Iterator[Read]:
    if _is_tau2(value):
        for simulation in value["simulations"]:
            yield _simulation(as_dict(simulation), as_dict(value.get("info")), default_run_id)
        return
    results = value if isinstance(value, list) else [value]
    for result in results:
        name = f"{default_run_id}/{as_name(result.get('task_id'))}.{as_name(result.get('trial'))}"
        yield _result(result, name if len(results) > 1 else default_run_id)


def _result(result: dict[str, Any], run_id: str) -> Read:
    builder = RunBuilder()
    for message in result["traj"]:
        builder.add(
            openai_chat.read_message({k: v for k, v in message.items() if k != "tool_call_id" or v})
        )
    info = as_dict(result.get("info"))
    error = as_text(info.get("error"))
    labels = {
        name: as_text(found)
        for name, found in (
            ("task_id", result.get("task_id")),
            ("trial", result.get("trial")),
            ("reward", result.get("reward")),
            ("user_cost", info.get("user_cost")),
        )
        if found is not None
    }
    return builder.build(
        run_id, labels=labels, ending=Ending.ERROR if error else None, ending_reason=error
    )


def _simulation(simulation: dict[str, Any], info: dict[str, Any], default_run_id: str) -> Read:
    builder = RunBuilder()
    for message in map(as_dict, as_list(simulation.get("messages"))):
        for turn in _turns(message):
            builder.add(turn)
    agent = as_dict(info.get("agent_info"))
    reason = as_name(simulation.get("termination_reason"))
    labels = {
        name: as_text(found)
        for name, found in (
            ("task_id", simulation.get("task_id")),
            ("trial", simulation.get("trial")),
            ("reward", as_dict(simulation.get("reward_info")).get("reward")),
            ("agent_cost", simulation.get("agent_cost")),
            ("user_cost", simulation.get("user_cost")),
        )
        if found is not None
    }
    model = as_name(agent.get("llm"))
    return builder.build(
        as_name(simulation.get("id")) or default_run_id,
        agent=as_name(agent.get("implementation")),
        code_version=as_name(info.get("git_commit")),
        started_at=as_moment(simulation.get("start_time")),
        ended_at=as_moment(simulation.get("end_time")),
        labels=labels,
        currency="USD",
        ending=_ending(reason),
        ending_reason=reason,
        **({"model": model} if model else {}),
    )


def _turns(message: dict[str, Any]) -> Iterator[Turn]:
    role = as_text(message.get("role"))
    if role == "assistant":
        reply = openai_chat.read_assistant({"content": message.get("content")})
        usage = as_dict(message.get("usage"))
        reply.tokens_in = as_count(usage.get("prompt_tokens"))
        reply.tokens_out = as_count(usage.get("completion_tokens"))
        reply.cost = as_cost(message.get("cost"))
        reply.started_at = as_moment(message.get("timestamp"))
        seconds = as_number(message.get("generation_time_seconds"))
        reply.duration_ms = None if seconds is None else seconds * 1000
        reply.calls = [
            CallDraft(as_name(c.get("name")), args_text(c.get("arguments")), as_name(c.get("id")))
            for c in map(as_dict, as_list(message.get("tool_calls")))
        ]
        yield Turn(role, reply=reply)
    elif role == "tool" and message.get("requestor", "assistant") == "assistant":
        content = result_text(message.get("content"))
        failed = as_flag(message.get("error"))
        yield Turn(role, answers=[Answer(content, as_name(message.get("id")), is_error=failed)])
    elif role == "tool":
        yield Turn("user", result_text(message.get("content")), name="the user's tool")
    else:
        calls = [opaque("tool_call", call) for call in as_list(message.get("tool_calls"))]
        yield Turn(role, as_text(message.get("content")), opaque=calls)


def _ending(reason: str) -> Ending | None:
    """What the simulator stopped at; `max_steps` is the benchmark's limit of rounds."""
    if not reason:
        return None
    if reason == "max_steps":
        return Ending.ROUND_LIMIT
    stop = plain_label(reason, provider="run:tau2")
    return {Stop.FINISHED: None, Stop.ERROR: Ending.ERROR}.get(stop, Ending.STOPPED)


def _is_result(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "task_id" in value
        and isinstance(value.get("traj"), list)
        and all(
            isinstance(m, dict) and as_name(m.get("role")) in openai_chat.ROLES
            for m in value["traj"]
        )
    )


def _is_tau2(value: Any) -> bool:
    return (
        isinstance(value, dict) and isinstance(value.get("simulations"), list) and "info" in value
    )


IMPORTER = Importer(
    name="tau_bench",
    title=_TITLE,
    recognise=recognise,
    read=each_document(recognise, runs_of, _TITLE),
    priority=73,
)
