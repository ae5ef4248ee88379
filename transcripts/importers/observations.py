"""Runs of observations: model requests and tool executions as spans of a trace, whoever recorded
them.

Not a format by itself. A tracing importer turns its spans into `Observation`s; here model requests
become rounds in order of time, and tool executions are joined to the calls that asked for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from transcripts.importers.base import Read
from transcripts.importers.building import RunBuilder, tools_of
from transcripts.importers.conversation import (
    read_any_messages,
    read_any_reply,
    read_any_request,
)
from transcripts.importers.fields import (
    args_text,
    as_dict,
    as_name,
    as_text,
)
from transcripts.importers.providers.base import Request, read_tools
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Tool

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_TEXT_KEYS = ("prompt", "input", "query", "question", "text", "content", "args")


@dataclass(slots=True)
class Observation:
    """One span: `kind` is `llm`, `tool`, or anything else for what only groups.

    `input` and `output` are as recorded, JSON text or values. `call_id` names the call that a tool
    execution answers, `sub_run` the run that it started. Tokens of the input include what came
    from the cache.
    """

    id: str
    parent: str = ""
    kind: str = ""
    name: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    input: Any = None
    output: Any = None
    failed: bool | None = None
    error: str = ""
    call_id: str = ""
    sub_run: str = ""
    stop_raw: str | None = None
    provider: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    cost: Decimal | None = None
    tools: list[Tool] = field(default_factory=list)

    @property
    def duration_ms(self) -> float | None:
        """Milliseconds; None where a time is missing or the clock went backwards."""
        if self.started_at is None or self.ended_at is None or self.ended_at < self.started_at:
            return None
        return (self.ended_at - self.started_at).total_seconds() * 1000


def run_of_observations(found: Iterable[Observation], run_id: str, **fields: Any) -> Read:
    """One run of one trace's observations. A model request around another is told by the inner
    one.
    """
    observations = sorted(found, key=lambda o: o.started_at or _LONG_AGO)
    requests = _innermost(observations)
    builder = RunBuilder(growing=False)
    tools: list[Tool] = []
    provider = ""
    for observation in observations:
        if observation.id in requests and observation.kind == "llm":
            request, reply, name = _read(observation)
            provider = provider or name
            tools += observation.tools
            if request is not None:
                tools += request.tools
                builder.ask(request.turns, continues=request.continues)
            builder.add(Turn("assistant", reply=reply))
        elif observation.kind == "tool":
            _execute(builder, observation)
    grouped = sum(o.kind not in ("llm", "tool") for o in observations)
    if grouped:
        builder.note(f"Spans that only group others or say no more, not shown: {grouped}.")
    starts = [o.started_at for o in observations if o.started_at]
    ends = [o.ended_at for o in observations if o.ended_at]
    fields.setdefault("provider", provider)
    fields.setdefault("started_at", min(starts, default=None))
    fields.setdefault("ended_at", max(ends, default=None))
    return builder.build(run_id, tools=tools_of(tools), **fields)


def _innermost(observations: list[Observation]) -> set[str]:
    """Ids of the model requests that are rounds: of requests around requests, the inner ones.

    An inner request that says nothing (a bare HTTP span) gives way to the one around it.
    """
    by_id = {o.id: o for o in observations}
    requests = [o for o in observations if o.kind == "llm"]
    kept = {o.id for o in requests}
    for observation in requests:
        outer = by_id.get(observation.parent)
        seen = {observation.id}
        while outer is not None and outer.id not in seen:
            seen.add(outer.id)
            if outer.kind == "llm":
                silent = observation.output in (None, "", [], {})
                kept.discard(observation.id if silent and outer.output else outer.id)
                break
            outer = by_id.get(outer.parent)
    return kept


def _read(observation: Observation) -> tuple[Request | None, Reply, str]:
    request, asked_by = _read_input(value_of(observation.input))
    reply, answered_by = _read_output(value_of(observation.output))
    reply.stop_raw = reply.stop_raw or observation.stop_raw
    reply.provider = observation.provider or reply.provider or answered_by
    reply.model = reply.model or observation.model
    reply.started_at = observation.started_at
    reply.duration_ms = observation.duration_ms
    for name in ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "cost"):
        said = getattr(observation, name)
        if said is not None:
            setattr(reply, name, said)
    if observation.failed:
        reply.error = observation.error or "failed"
    return request, reply, answered_by or asked_by


def value_of(recorded: Any) -> Any:
    """A recorded value; JSON text of an object or a list becomes what it holds."""
    if isinstance(recorded, str) and recorded[:1] in ("{", "["):
        try:
            return json.loads(recorded, parse_float=Decimal)
        except (ValueError, RecursionError, ArithmeticError):
            return recorded
    return recorded


def _read_input(value: Any) -> tuple[Request | None, str]:
    """What a model request read, in whichever shape it was recorded."""
    if value in (None, "", [], {}):
        return None, ""
    if isinstance(value, str):
        return Request([Turn("user", value)]), ""
    if isinstance(value, list):
        messages, tools = _without_tools(value)
        found = read_any_messages(messages) or read_any_messages(_flat(messages))
        if found is not None:
            return Request(found[0], tools), found[1]
        return Request([Turn("user", as_text(value))]), ""
    if not isinstance(value, dict):
        return Request([Turn("user", as_text(value))]), ""
    asked = read_any_request(value) or read_any_request(as_dict(value.get("body")))
    if asked is not None:
        return asked
    for key in ("messages", "input_messages", "input"):
        inner, name = _read_input(value[key]) if isinstance(value.get(key), list) else (None, "")
        if inner is not None and value[key]:
            inner.tools += read_tools(value.get("tools"))
            return inner, name
    single = read_any_messages([value])
    if single is not None:
        return Request(single[0]), single[1]
    text = next((value[key] for key in _TEXT_KEYS if value.get(key)), value)
    return Request([Turn("user", as_text(text))]), ""


def _without_tools(messages: list[Any]) -> tuple[list[Any], list[Tool]]:
    """Some recorders list the offered tools among the messages."""
    offered = [m for m in messages if as_dict(as_dict(m).get("content")).get("type") == "function"]
    rest = [m for m in messages if m not in offered] if offered else messages
    return rest, read_tools([as_dict(m)["content"] for m in offered])


def _flat(messages: list[Any]) -> list[Any]:
    """Lists of lists, as batch interfaces record them, with one entry."""
    return messages[0] if len(messages) == 1 and isinstance(messages[0], list) else []


def _read_output(value: Any) -> tuple[Reply, str]:
    """What the model answered, in whichever shape it was recorded."""
    if value in (None, "", [], {}):
        return Reply(), ""
    if isinstance(value, str):
        return Reply(text=value), ""
    answered = read_any_reply(value) or _wrapped_reply(value)
    if answered is not None:
        return answered
    messages = value if isinstance(value, list) else [value]
    found = read_any_messages(messages) or read_any_messages(_flat(messages))
    if found is not None:
        replies = [turn.reply for turn in found[0] if turn.reply is not None]
        if replies:
            return _merged(replies), found[1]
    calls = _bare_calls(messages)
    if calls:
        return Reply(calls=calls), ""
    for key in ("messages", "generations", "output", "response", "text", "content"):
        if isinstance(value, dict) and value.get(key):
            return _read_output(value_of(value[key]))
    return Reply(text=as_text(value)), ""


def _wrapped_reply(value: Any) -> tuple[Reply, str] | None:
    """A choice, or a candidate, without the response around it."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("message"), dict):
        return read_any_reply({"choices": [value]})
    if isinstance(as_dict(value.get("content")).get("parts"), list):
        usage = value.get("usage_metadata", value.get("usageMetadata"))
        return read_any_reply({"candidates": [value], "usageMetadata": usage})
    return None


def _merged(replies: list[Reply]) -> Reply:
    """One reply of output messages that stand for one: text here, each call there."""
    first = replies[0]
    for other in replies[1:]:
        first.text = "\n".join(filter(None, (first.text, other.text)))
        first.calls += other.calls
        first.stop_raw = first.stop_raw or other.stop_raw
    return first


def _bare_calls(entries: list[Any]) -> list[CallDraft]:
    calls = []
    for entry in map(as_dict, entries):
        name = as_name(entry.get("toolName") or as_dict(entry.get("function")).get("name"))
        if not name:
            return []
        function = as_dict(entry.get("function"))
        args = entry.get("input", entry.get("args", function.get("arguments")))
        call_id = as_name(entry.get("toolCallId") or entry.get("id"))
        calls.append(CallDraft(name, args_text(args), call_id))
    return calls


def _execute(builder: RunBuilder, observation: Observation) -> None:
    """Join a tool execution to its call; one that no reply asked for is a call of the round before
    it.
    """
    value = value_of(observation.output)
    message = read_any_messages([value]) if isinstance(value, dict) else None
    content, call_id = _result_text(observation, value), observation.call_id
    flag = observation.failed
    if message is not None and message[0] and message[0][0].answers:
        answer = message[0][0].answers[0]
        content, call_id = answer.content, call_id or answer.call_id
        flag = flag or answer.is_error
    args = args_text(value_of(observation.input))
    call = builder.open_call(call_id, observation.name, args)
    if call is None and builder.last_number:
        builder.add_call(CallDraft(observation.name, args, call_id))
        call = builder.open_call(call_id, observation.name, args)
    if call is not None:
        call.sub_run = call.sub_run or observation.sub_run
        builder.answer_call(
            call, Answer(content, call_id, is_error=flag, duration_ms=observation.duration_ms)
        )
    else:
        builder.note(
            f"Tool executions before the first model request, not shown: {observation.name}."
        )


def _result_text(observation: Observation, value: Any) -> str:
    if value in (None, "") and observation.failed:
        return observation.error
    if isinstance(value, dict) and value.keys() == {"output"}:
        return as_text(value["output"])
    return observation.output if isinstance(observation.output, str) else as_text(value)
