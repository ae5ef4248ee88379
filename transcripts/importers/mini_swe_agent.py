"""mini-SWE-agent trajectories: chat messages, commands in text or as calls, results with a return
code.

Source: mini-swe-agent at a83fcae. Version 1 files are a bare list of messages, with the command in
a fenced block of the reply and `<returncode>` in the user message that answers it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Importer, Read, each_document
from transcripts.importers.building import RunBuilder
from transcripts.importers.fields import (
    as_cost,
    as_count,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_text,
    json_text,
)
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import result_text
from transcripts.importers.swe_agent import ending_of
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Ending, RunLimits

_TITLE = "mini-SWE-agent trajectories"
_COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)\s*\n(.*?)\n?```", re.DOTALL)
# What the agent echoes to end its run: the loop stops when a command prints it.
_SUBMITS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_RETURN_CODE = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>")


def recognise(value: Any) -> bool:
    """Whether this is a trajectory of this agent, or the bare messages of its version 1."""
    if isinstance(value, dict):
        named = as_name(value.get("trajectory_format")).startswith("mini-swe-agent")
        info = as_dict(value.get("info"))
        return (named or "mini_version" in info) and isinstance(value.get("messages"), list)
    return (
        isinstance(value, list)
        and openai_chat.knows_messages([m for m in value if as_dict(m).get("role") != "exit"])
        and any(_RETURN_CODE.match(as_text(as_dict(m).get("content"))) for m in value)
    )


def runs_of(value: Any, default_run_id: str) -> Iterator[Read]:
    body = value if isinstance(value, dict) else {"messages": value}
    builder = RunBuilder()
    asked = submitted = False
    for message in map(as_dict, body["messages"]):
        role = message.get("role")
        extra = as_dict(message.get("extra"))
        if role == "assistant":
            reply = _reply(message, extra)
            builder.add(Turn("assistant", reply=reply))
            asked = bool(reply.calls)
            submitted = any(marker in call.args for call in reply.calls for marker in _SUBMITS)
        elif role == "tool" or (role == "user" and asked):
            builder.add(Turn("tool", answers=[_answer(message, extra)]))
            asked = role == "tool"
        elif role != "exit":
            builder.add(openai_chat.read_message({"role": role, "content": message.get("content")}))
    info = as_dict(body.get("info"))
    agent = as_dict(as_dict(info.get("config")).get("agent"))
    stats = as_dict(info.get("model_stats"))
    status = as_name(info.get("exit_status"))
    yield builder.build(
        as_name(body.get("run_id") or body.get("instance_id")) or default_run_id,
        agent="mini-swe-agent",
        code_version=as_name(info.get("mini_version")),
        currency="USD",
        labels={key: as_text(stats[key]) for key in stats if as_text(stats[key])},
        limits=RunLimits(
            as_count(agent.get("step_limit")) or None,
            None,
            as_cost(agent.get("cost_limit")) or None,
        ),
        ending=ending_of(status, "run:mini_swe_agent")
        or (Ending.FINISHED if submitted and not status else None),
        ending_reason=status,
    )


def _reply(message: dict[str, Any], extra: dict[str, Any]) -> Reply:
    reply = openai_chat.read_assistant({k: v for k, v in message.items() if k != "extra"})
    response = as_dict(extra.get("response"))
    choice = as_dict(next(iter(as_list(response.get("choices"))), None))
    reply.stop_raw = as_name(choice.get("finish_reason")) or reply.stop_raw
    reply.model = as_name(response.get("model"))
    reply.cost = as_cost(extra.get("cost"))
    reply.started_at = as_moment(extra.get("timestamp"))
    openai_chat.read_usage(reply, as_dict(response.get("usage")))
    if not reply.calls:
        actions = [as_text(as_dict(a).get("command")) for a in as_list(extra.get("actions"))]
        commands = actions or _COMMAND.findall(reply.text)[:1]
        reply.calls = [CallDraft("bash", json_text({"command": c})) for c in commands]
    return reply


def _answer(message: dict[str, Any], extra: dict[str, Any]) -> Answer:
    """The command's output as the model read it; a return code other than 0 is an error."""
    content = result_text(message.get("content"))
    code = extra.get("returncode")
    if code is None and (found := _RETURN_CODE.match(content)):
        code = int(found[1])
    failed = bool(code) or bool(extra.get("exception_info"))
    return Answer(
        content,
        call_id=as_name(message.get("tool_call_id")),
        is_error=None if code is None and not failed else failed,
    )


IMPORTER = Importer(
    name="mini_swe_agent",
    title=_TITLE,
    recognise=recognise,
    read=each_document(recognise, runs_of, _TITLE),
    priority=76,
)
