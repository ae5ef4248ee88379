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
from transcripts.importers.conversation import read_any_messages
from transcripts.importers.exchanges import read_input, read_output
from transcripts.importers.fields import args_text, as_text, value_of
from transcripts.importers.providers.base import Request
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Tool

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_NOTHING: tuple[Any, ...] = (None, "", [], {})
# Around the arguments of an execution, in the place of the arguments themselves.
_AROUND_ARGS = frozenset({"input", "args", "arguments", "kwargs", "parameters"})


@dataclass(slots=True)
class Observation:
    """One span: `kind` is `llm`, `tool`, or anything else for what only groups.

    `input` and `output` are as recorded, JSON text or values. `call_id` names the call that a tool
    execution answers, `sub_run` the run that it started. Tokens of the input include what came
    from the cache. `event`: one of several spans that may tell of the same execution. `key` names
    the round where it is not to be named by the span's id.
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
    event: bool = False
    key: str = ""

    @property
    def duration_ms(self) -> float | None:
        """Milliseconds; None where a time is missing or the clock went backwards."""
        if self.started_at is None or self.ended_at is None or self.ended_at < self.started_at:
            return None
        return (self.ended_at - self.started_at).total_seconds() * 1000

    @property
    def silent(self) -> bool:
        """Whether it tells nothing of a request and its reply, or of an execution."""
        said = (self.input, self.output, self.tokens_in, self.tokens_out, self.stop_raw)
        return not self.failed and all(value in _NOTHING for value in said)


def run_of_observations(found: Iterable[Observation], run_id: str, **fields: Any) -> Read:
    """One run of one trace's observations. A model request around another is told by the inner
    one, or by itself where it tells more.
    """
    observations = _once(sorted(found, key=lambda o: o.started_at or _LONG_AGO))
    requests = _rounds(observations)
    builder = RunBuilder(growing=False)
    prompts = _Prompts()
    tools: list[Tool] = []
    provider = ""
    keys: set[str] = set()
    shown = 0
    for observation in observations:
        if observation.id in requests and observation.kind == "llm":
            request, reply, name = _read(observation)
            reply.key = "" if reply.key in keys else reply.key
            keys.add(reply.key)
            provider = provider or name
            tools += observation.tools
            if request is not None:
                tools += request.tools
                turns = prompts.turns(value_of(observation.input), request.turns)
                builder.ask(turns, continues=request.continues or _only_results(turns))
            builder.add(Turn("assistant", reply=reply))
        elif observation.kind == "tool":
            _execute(builder, observation)
        else:
            continue
        shown += 1
    if shown < len(observations):
        builder.note(
            f"Spans that only group others or say no more, not shown: {len(observations) - shown}."
        )
    starts = [o.started_at for o in observations if o.started_at]
    ends = [o.ended_at for o in observations if o.ended_at]
    fields.setdefault("provider", provider)
    fields.setdefault("started_at", min(starts, default=None))
    fields.setdefault("ended_at", max(ends, default=None))
    return builder.build(run_id, tools=tools_of(tools), **fields)


def _only_results(turns: list[Turn]) -> bool:
    """Whether an input holds what is new alone: no service reads results without their requests."""
    found = [turn.answers and turn.reply is None and not turn.text for turn in turns]
    return bool(found) and all(found)


class _Prompts:
    """Inputs that are one text each, of which the next may repeat the one before and go on."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def turns(self, value: Any, turns: list[Turn]) -> list[Turn]:
        """The input as turns: of a text, what was there before, and what is new."""
        if not isinstance(value, str):
            return turns
        before = "".join(self._parts)
        if before and value.startswith(before):
            self._parts += [value[len(before) :]] if len(value) > len(before) else []
        else:
            self._parts = [value]
        return [Turn("user", part) for part in self._parts]


def _once(observations: list[Observation]) -> list[Observation]:
    """Without events that tell again what an earlier one of the same parent told, or nothing."""
    told: set[tuple[str, ...]] = set()
    kept = []
    for observation in observations:
        if observation.event and observation.kind == "tool":
            said = (observation.input, observation.output, observation.error)
            mark = (observation.parent, observation.name, *map(as_text, said))
            if (observation.output in _NOTHING and not observation.failed) or mark in told:
                observation.kind = ""
            told.add(mark)
        kept.append(observation)
    return kept


def _rounds(observations: list[Observation]) -> set[str]:
    """Ids of the model requests that are rounds: of requests around requests, the inner ones.

    An inner request that says nothing (a bare HTTP span), or whose reply is text where the one
    around it has its parts, gives way to the one around it. One that says nothing at all is none,
    where others say something.
    """
    by_id = {o.id: o for o in observations}
    asked = [o for o in observations if o.kind == "llm"]
    requests = [o for o in asked if not o.silent] or asked
    kept = {o.id for o in requests}
    inner: dict[str, list[Observation]] = {}
    around = _Around(by_id)
    for observation in requests:
        if found := around.request_of(observation):
            inner.setdefault(found, []).append(observation)
    for outer_id, within in inner.items():
        outer = by_id[outer_id]
        if len(within) == 1 and _tells_more(outer, within[0]):
            _take_counts(outer, within[0])
            # The inner one came first, and things may have been written about it.
            outer.key = outer.key or within[0].key or within[0].id
            kept.discard(within[0].id)
        else:
            silent = {o.id for o in within if o.output in _NOTHING and outer.output}
            kept -= silent
            if len(silent) < len(within):
                kept.discard(outer_id)
    return kept


class _Around:
    """The nearest request around each span; every span of a deep tree is passed once."""

    def __init__(self, by_id: dict[str, Observation]) -> None:
        self._by_id = by_id
        self._known: dict[str, str] = {}

    def request_of(self, observation: Observation) -> str:
        """The id of the request around it, or nothing; a cycle of parents ends the search."""
        passed: set[str] = set()
        found = ""
        outer = self._by_id.get(observation.parent)
        while outer is not None and outer.id not in passed:
            if outer.kind == "llm" or outer.id in self._known:
                found = outer.id if outer.kind == "llm" else self._known[outer.id]
                break
            passed.add(outer.id)
            outer = self._by_id.get(outer.parent)
        self._known |= dict.fromkeys(passed, found)
        return "" if found == observation.id else found


def _tells_more(outer: Observation, inner: Observation) -> bool:
    whole, said = value_of(outer.output), value_of(inner.output)
    return isinstance(whole, dict | list) and bool(whole) and isinstance(said, str) and bool(said)


def _take_counts(outer: Observation, inner: Observation) -> None:
    for name in ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "cost", "model"):
        if getattr(outer, name) in _NOTHING:
            setattr(outer, name, getattr(inner, name))


def _read(observation: Observation) -> tuple[Request | None, Reply, str]:
    request, asked_by = read_input(value_of(observation.input))
    reply, answered_by = read_output(value_of(observation.output))
    reply.stop_raw = reply.stop_raw or observation.stop_raw
    reply.provider = observation.provider or reply.provider or answered_by
    reply.model = reply.model or observation.model
    reply.key = observation.key or observation.id
    reply.started_at = observation.started_at
    reply.duration_ms = observation.duration_ms
    for name in ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "cost"):
        said = getattr(observation, name)
        if said is not None:
            setattr(reply, name, said)
    if observation.failed:
        reply.error = observation.error or "failed"
    return request, reply, answered_by or asked_by


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
    given = value_of(observation.input)
    args = args_text(given)
    call = builder.open_call(call_id, observation.name, (args, args_text(_inner_args(given))))
    if call is None and builder.last_number:
        call = CallDraft(observation.name, args, call_id, shown=False)
        builder.add_call(call)
    if call is not None:
        call.sub_run = call.sub_run or observation.sub_run
        builder.answer_call(
            call, Answer(content, call_id, is_error=flag, duration_ms=observation.duration_ms)
        )
    else:
        builder.note(
            f"Tool executions before the first model request, not shown: {observation.name}."
        )


def _inner_args(value: Any) -> Any:
    """The arguments of an execution, without an object around them that only says so."""
    if isinstance(value, dict) and len(value) == 1 and value.keys() <= _AROUND_ARGS:
        return next(iter(value.values()))
    return value


def _result_text(observation: Observation, value: Any) -> str:
    if value in (None, "") and observation.failed:
        return observation.error
    if isinstance(value, dict) and value.keys() == {"output"}:
        return as_text(value["output"])
    text = observation.output if isinstance(observation.output, str) else as_text(value)
    return _unquoted(text) if text[:1] == text[-1:] == '"' else text


def _unquoted(text: str) -> str:
    """A text that was recorded as JSON; a text that only stands in quotes stays."""
    try:
        inner = json.loads(text)
    except ValueError:
        return text
    return inner if isinstance(inner, str) else text
