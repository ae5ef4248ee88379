"""CrewAI: the output of a crew, and the events of its bus, one a line.

Source: crewai 1.15.30. Without native tool calls the agent writes `Action:` and `Action Input:`
and the result is appended to its own text as `Observation:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Document, Importer, ImportProblem, Read
from transcripts.importers.building import RunBuilder
from transcripts.importers.fields import (
    args_text,
    as_count,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_text,
    same_args,
)
from transcripts.importers.observations import Observation, run_of_observations
from transcripts.importers.providers import openai_chat
from transcripts.importers.turns import CallDraft, Reply, Turn

_ACTION = re.compile(
    r"^Action:[ \t]*(?P<name>.+?)[ \t]*\nAction Input:[ \t]*(?P<args>.*?)(?=\nObservation:|\Z)",
    re.DOTALL | re.MULTILINE,
)
_OBSERVATION = "\nObservation:"


def recognise(value: Any) -> bool:
    """Whether this is a crew's output, or an event of its bus."""
    return _is_output(value) or _is_event(value)


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """A run for each task of an output; all events of a file are one run."""
    events: list[dict[str, Any]] = []
    for document in documents:
        if _is_output(document.value):
            yield from _tasks(document.value, default_run_id)
        elif _is_event(document.value):
            events.append(document.value)
        else:
            yield ImportProblem("this is neither a crew's output nor an event", document.line)
    if events:
        yield _run_of_events(events, default_run_id)


def _tasks(output: dict[str, Any], default_run_id: str) -> Iterator[Read]:
    tasks = [as_dict(task) for task in output["tasks_output"]]
    for number, task in enumerate(tasks, 1):
        builder = RunBuilder()
        failures = [as_dict(failure) for failure in as_list(task.get("tool_failures"))]
        for message in as_list(task.get("messages")):
            turn = openai_chat.read_message(as_dict(message))
            if turn.reply is not None:
                _read_action(turn.reply, failures)
            builder.add(turn)
        _add_answer(builder, as_text(task.get("raw")))
        builder.note("Tokens are known for the crew as a whole alone; see its labels.")
        yield builder.build(
            default_run_id if len(tasks) == 1 else f"{default_run_id}/{number}",
            title=as_text(task.get("description"))[:300],
            agent=as_name(task.get("agent")),
            labels={k: as_text(v) for k, v in as_dict(output.get("token_usage")).items() if v},
        )


def _read_action(reply: Reply, failures: list[dict[str, Any]]) -> None:
    """Take the call, and the result that the framework appended, out of the text."""
    found = _ACTION.search(reply.text)
    if found is None or reply.calls:
        return
    text, _, result = reply.text.partition(_OBSERVATION)
    args = args_text(found["args"].strip())
    call = CallDraft(found["name"].strip(), args)
    if _OBSERVATION in reply.text:
        call.result = result.strip()
        call.is_error = any(
            failure.get("tool_name") == call.name
            and same_args(args_text(failure.get("tool_args")), args)
            for failure in failures
        )
    reply.text = text
    reply.calls = [call]


def _add_answer(builder: RunBuilder, answer: str) -> None:
    last = builder.last_reply
    if answer and (last is None or (last.calls and answer not in last.text)):
        builder.add(Turn("assistant", reply=Reply(text=answer)))


def _run_of_events(events: list[dict[str, Any]], run_id: str) -> Read:
    ordered = sorted(events, key=lambda event: as_count(event.get("emission_sequence")) or 0)
    started = {as_name(e.get("event_id")): e for e in ordered}
    observations = []
    ended: set[str] = set()
    for event in ordered:
        kind, _, outcome = event["type"].rpartition("_")
        begin = started.get(as_name(event.get("started_event_id")), {})
        if kind in ("tool_usage", "llm_call") and outcome in (
            "finished",
            "completed",
            "error",
            "failed",
        ):
            ended.add(as_name(begin.get("event_id")))
            observations.append(_observation(event, begin, kind, outcome))
    for event in ordered:
        kind = {"llm_call_started": "llm_call", "tool_usage_started": "tool_usage"}.get(
            event["type"]
        )
        if kind and as_name(event.get("event_id")) not in ended:
            observations.append(_observation({}, event, kind, ""))
    if not any(o.kind == "llm" for o in observations):
        observations = _with_rounds(observations)
    first = next((e for e in ordered if e.get("agent_role")), {})
    return run_of_observations(observations, run_id, agent=as_name(first.get("agent_role")))


def _observation(
    event: dict[str, Any], begin: dict[str, Any], kind: str, outcome: str
) -> Observation:
    merged = {**begin, **event}
    usage = as_dict(event.get("usage"))
    failed = outcome in ("error", "failed")
    label = event.get("finish_reason")
    return Observation(
        id=as_name(merged.get("event_id")),
        kind="tool" if kind == "tool_usage" else "llm",
        name=as_name(merged.get("tool_name")),
        started_at=as_moment(
            event.get("started_at") or begin.get("timestamp") or event.get("timestamp")
        ),
        ended_at=as_moment(event.get("finished_at") or event.get("timestamp")),
        input=begin.get("messages") if kind == "llm_call" else merged.get("tool_args"),
        output=event.get("response") if kind == "llm_call" else event.get("output"),
        failed=failed if event else None,
        error=as_text(event.get("error")),
        stop_raw=label if isinstance(label, str) else None,
        model=as_name(merged.get("model")),
        tokens_in=as_count(usage.get("prompt_tokens")),
        tokens_out=as_count(usage.get("completion_tokens")),
        tokens_cached=as_count(usage.get("cached_prompt_tokens")),
    )


def _with_rounds(tools: list[Observation]) -> list[Observation]:
    """A file of tool events alone: each execution is a round of its own."""
    rounds = []
    for number, tool in enumerate(tools):
        rounds.append(Observation(f"round {number}", kind="llm", started_at=tool.started_at))
        rounds.append(tool)
    return rounds


def _is_output(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("tasks_output"), list)
        and bool(value["tasks_output"])
        and "token_usage" in value
    )


def _is_event(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("type"), str)
        and "event_id" in value
        and "emission_sequence" in value
    )


IMPORTER = Importer(
    name="crewai",
    title="CrewAI outputs and events",
    recognise=recognise,
    read=read,
    priority=67,
)
