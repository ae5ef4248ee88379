"""SWE-agent trajectories (`.traj`): a history of messages, and steps with what each action
answered.

Source: SWE-agent at 3ea751c sweagent/agent. Without tool calls an action is a command line: its
first word names the tool. Messages marked as demonstration are prompt material, not the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Importer, Read, each_document
from transcripts.importers.building import RunBuilder
from transcripts.importers.fields import (
    args_text,
    as_cost,
    as_dict,
    as_list,
    as_name,
    as_number,
    as_text,
    json_text,
)
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import result_text
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Ending, Stop
from transcripts.stop_reasons import plain_label

_TITLE = "SWE-agent trajectories"
_ENDINGS = {
    Stop.FINISHED: Ending.FINISHED,
    Stop.CUT_OFF: Ending.STOPPED,
    Stop.BLOCKED: Ending.BLOCKED,
    Stop.ERROR: Ending.ERROR,
}


def recognise(value: Any) -> bool:
    """Whether this is a trajectory: steps with actions, or a history with this agent's marks."""
    if not isinstance(value, dict) or "messages" in value:
        return False
    history, steps = value.get("history"), value.get("trajectory")
    if isinstance(steps, list) and steps:
        return all(isinstance(step, dict) and "action" in step for step in steps)
    return (
        isinstance(history, list)
        and bool(history)
        and all(isinstance(m, dict) and "role" in m for m in history)
        and any("message_type" in m or "agent" in m for m in history)
    )


def runs_of(value: dict[str, Any], default_run_id: str) -> Iterator[Read]:
    steps = [as_dict(step) for step in as_list(value.get("trajectory"))]
    builder = RunBuilder()
    if value.get("history"):
        _read_history(builder, [as_dict(message) for message in as_list(value["history"])], steps)
    else:
        for message in map(as_dict, as_list(steps[0].get("query"))):
            builder.add(openai_chat.read_message({**message, "role": message.get("role", "user")}))
        _read_steps(builder, steps)
    info = as_dict(value.get("info"))
    stats = as_dict(info.get("model_stats"))
    status = as_name(info.get("exit_status"))
    labels = {key: as_text(stats[key]) for key in stats if as_text(stats[key])}
    if isinstance(value.get("environment"), str):
        labels["environment"] = value["environment"]
    builder.note("Tokens and cost are known for the run as a whole alone; see its labels.")
    if value.get("attempts"):
        builder.note(f"Attempts of a retrying agent, not shown: {len(as_list(value['attempts']))}.")
    yield builder.build(
        as_name(value.get("run_id") or value.get("instance_id")) or default_run_id,
        agent="swe-agent",
        code_version=as_name(info.get("swe_agent_version")),
        currency="USD" if as_cost(stats.get("instance_cost")) is not None else "",
        labels=labels,
        ending=ending_of(status, "run:swe_agent"),
        ending_reason=status,
    )


def ending_of(status: str, provider: str) -> Ending | None:
    """The run's ending from its exit status; `submitted (exit_cost)` was stopped, and submitted
    what it had.
    """
    if not status:
        return None
    head, _, reason = status.partition(" (")
    label = reason.rstrip(")") or head
    return _ENDINGS.get(plain_label(label, provider=provider), Ending.STOPPED)


def _read_history(
    builder: RunBuilder, history: list[dict[str, Any]], steps: list[dict[str, Any]]
) -> None:
    replies = 0
    asked = False
    for message in history:
        role = message.get("role")
        if role == "assistant" and not message.get("is_demo"):
            reply = _reply(message, steps[replies] if replies < len(steps) else {})
            builder.add(Turn("assistant", reply=reply))
            replies += 1
            asked = bool(reply.calls)
        elif role == "tool" or (role == "user" and asked and not message.get("is_demo")):
            builder.add(Turn("tool", answers=list(_answers(message))))
            asked = False
        else:
            builder.add(Turn(as_text(role), result_text(message.get("content"))))
    if asked and 0 < replies <= len(steps):
        # The last observation, of `submit` or of what ended the run, was not shown to the model.
        builder.answer(Answer(as_text(steps[replies - 1].get("observation"))))
    if 0 < replies < len(steps):
        _read_steps(builder, steps[replies:])


def _answers(message: dict[str, Any]) -> Iterator[Answer]:
    content = result_text(message.get("content"))
    ids = as_list(message.get("tool_call_ids")) or [message.get("tool_call_id")]
    for call_id in ids:
        yield Answer(content, call_id=as_name(call_id))


def _read_steps(builder: RunBuilder, steps: list[dict[str, Any]]) -> None:
    for step in steps:
        reply = _reply({"content": step.get("response"), **step}, step)
        builder.add(Turn("assistant", reply=reply))
        builder.add(Turn("tool", answers=[Answer(as_text(step.get("observation")))]))


def _reply(message: dict[str, Any], step: dict[str, Any]) -> Reply:
    text = result_text(message.get("content"))
    reply = Reply(text=text, reasoning=result_text(message.get("thinking_blocks")))
    calls = message.get("tool_calls")
    if calls:
        reply.calls = openai_chat.read_assistant({"tool_calls": calls}).calls
    elif action := as_text(message.get("action")).strip():
        args = args_text(json_text({"command": action}))
        reply.calls = [CallDraft(action.split(maxsplit=1)[0], args)]
    seconds = as_number(step.get("execution_time"))
    if seconds is not None and len(reply.calls) == 1:
        reply.calls[0].duration_ms = seconds * 1000
    return reply


IMPORTER = Importer(
    name="swe_agent",
    title=_TITLE,
    recognise=recognise,
    read=each_document(recognise, runs_of, _TITLE),
    priority=75,
)
