"""A run that can still be changed, and the record that it makes.

The generator writes sketches, an injector breaks a copy of one, and `record` turns either into a
`RunRecord`: what each round read, its tokens, cost and clock all follow from the sketch, so that a
broken run stays consistent from the break to its end.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from analysis.detectors.limits import DEFAULT, Limits
from transcripts.record import (
    Call,
    Ending,
    Message,
    Orphan,
    Round,
    RunLimits,
    RunRecord,
    Stop,
    Tool,
    diff_inputs,
)

CHARACTERS_PER_TOKEN = 4
TOOL_LABELS = {"openai": "tool_calls", "anthropic": "tool_use", "google": "STOP", "ollama": "stop"}
END_LABELS = {"openai": "stop", "anthropic": "end_turn", "google": "STOP", "ollama": "stop"}
CUT_LABELS = {
    "openai": "length",
    "anthropic": "max_tokens",
    "google": "MAX_TOKENS",
    "ollama": "length",
}
BLOCK_LABELS = {
    "openai": "content_filter",
    "anthropic": "refusal",
    "google": "SAFETY",
    "ollama": "content_filter",
}


@dataclass
class CallSketch:
    """One call. `role` says what the tool is for; `bad` that its result is broken or missing."""

    name: str
    args: dict[str, Any] | str
    result: str | None
    role: str
    is_error: bool | None = None
    duration_ms: float = 400.0
    sub_run: str = ""
    bad: bool = False
    pair: str = ""
    """Calls on one thing that is read, changed and read again share this name."""

    @property
    def fields(self) -> dict[str, Any]:
        """A copy of the arguments by name; none where they are broken."""
        return dict(self.args) if isinstance(self.args, dict) else {}

    @property
    def subject(self) -> str:
        """What the call is about: its main argument."""
        return str(next(iter(self.fields.values()), self.args))

    @property
    def args_text(self) -> str:
        return (
            self.args if isinstance(self.args, str) else json.dumps(self.args, ensure_ascii=False)
        )


@dataclass
class StepSketch:
    """One round. `stop` and `stop_raw` None: derived from the calls and the provider."""

    reply: str = ""
    calls: list[CallSketch] = field(default_factory=list)
    answer: str = ""
    """What the person wrote after this round."""
    stop: Stop | None = None
    stop_raw: str | None = None
    drops: tuple[str, ...] = ()
    """Keys of messages that this and later inputs no longer hold."""
    inserts: tuple[Message, ...] = ()
    """Messages put at the place of the dropped ones."""
    own_context: tuple[Message, ...] = ()
    """A sub-agent's own first messages: this round reads these and not the run's."""
    tokens_in: int | None = None
    error: str = ""
    orphans: tuple[Orphan, ...] = ()
    model_ms: float = 1500.0
    wait_ms: float = 0.0


@dataclass(frozen=True)
class Allowed:
    """A finding that is right on a clean run: a trouble that the run got over.

    Not `certain`: it may as well be left unsaid, as with tests that fail until the code is done.
    """

    detector: str
    round: int
    certain: bool = True


@dataclass
class Sketch:
    """A whole run. `logs_inputs`, `logs_tokens`, `logs_times` say what the sender records."""

    run_id: str
    agent: str
    system: str
    ticket: str
    provider: str
    model: str
    started_at: datetime
    steps: list[StepSketch] = field(default_factory=list)
    tools: dict[str, Tool] = field(default_factory=dict)
    logs_inputs: bool = True
    logs_tokens: bool = True
    logs_times: bool = True
    logs_labels: bool = True
    offers_tools: bool = True
    handoff: tuple[str, str] = ("hand_off", "reason")
    """The tool that hands over to a person, and its argument."""
    window: int | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    ending: Ending | None = None
    settings: Limits = DEFAULT
    """What the project has set, or learned from earlier runs."""
    allowed: list[Allowed] = field(default_factory=list)
    flagged: bool = False
    looks: list[str] = field(default_factory=list)
    """The look-alikes that this run holds, by name, for the table."""

    def copy(self) -> Sketch:
        return copy.deepcopy(self)

    def places(self) -> Iterator[tuple[int, int, CallSketch]]:
        """Each call with its round number (from 1) and its index (from 0)."""
        for number, step in enumerate(self.steps, 1):
            for index, call in enumerate(step.calls):
                yield number, index, call


def record(sketch: Sketch) -> RunRecord:
    """The record of a sketch, as an importer would have made it from a well-behaved sender."""
    writer = _Writer(sketch)
    rounds = tuple(writer.round(number, step) for number, step in enumerate(sketch.steps, 1))
    last = sketch.steps[-1] if sketch.steps else StepSketch()
    return RunRecord(
        run_id=sketch.run_id,
        rounds=rounds,
        messages=tuple(writer.messages.values()) if sketch.logs_inputs else writer.opening,
        tools=tuple(sketch.tools.values()) if sketch.offers_tools else (),
        ticket_id=sketch.run_id.replace("run", "T"),
        title=sketch.ticket[:80],
        agent=sketch.agent,
        provider=sketch.provider,
        model=sketch.model,
        started_at=sketch.started_at if sketch.logs_times else None,
        ended_at=writer.clock if sketch.logs_times else None,
        ending=sketch.ending or _ending(last, sketch.provider),
        currency="USD",
        context_window=sketch.window,
        limits=sketch.limits,
        format="agentdesk.run/1",
    )


def plain_stop(step: StepSketch) -> Stop:
    if step.stop is not None:
        return step.stop
    return Stop.WANTS_TOOL if step.calls else Stop.FINISHED


def _ending(last: StepSketch, provider: str) -> Ending:
    endings = {
        Stop.FINISHED: Ending.FINISHED,
        Stop.CUT_OFF: Ending.CUT_OFF,
        Stop.BLOCKED: Ending.BLOCKED,
        Stop.ERROR: Ending.ERROR,
    }
    return endings.get(plain_stop(last), Ending.STOPPED)


class _Writer:
    def __init__(self, sketch: Sketch) -> None:
        self.sketch = sketch
        self.clock = sketch.started_at
        self.opening = (
            Message("system", "system", sketch.system),
            Message("ticket", "user", sketch.ticket),
        )
        self.messages = {message.key: message for message in self.opening}
        self.sizes = {message.key: len(message.content) for message in self.opening}
        self.context = [message.key for message in self.opening]
        self.sub_context: list[str] = []
        self.previous: list[str] = []

    def round(self, number: int, step: StepSketch) -> Round:
        reads = self._reads(step)
        change = diff_inputs(self.previous, reads)
        self.previous = list(reads)
        tokens = self._tokens(reads) if step.tokens_in is None else step.tokens_in
        written = len(step.reply) + sum(len(call.args_text) for call in step.calls)
        tokens_out = 5 + written // CHARACTERS_PER_TOKEN
        started = self.clock + timedelta(milliseconds=step.wait_ms)
        duration = step.model_ms + max((call.duration_ms for call in step.calls), default=0.0)
        self.clock = started + timedelta(milliseconds=duration)
        self._write(number, step, reads)
        sketch = self.sketch
        cost = Decimal(tokens * 3 + tokens_out * 15) / Decimal(1_000_000)
        return Round(
            number=number,
            stop=plain_stop(step),
            stop_raw=self._label(step),
            reply=step.reply,
            calls=tuple(self._call(number, index, call) for index, call in enumerate(step.calls)),
            input=change if sketch.logs_inputs else None,
            tokens_in=tokens if sketch.logs_tokens else None,
            tokens_out=tokens_out if sketch.logs_tokens else None,
            cost=cost if sketch.logs_tokens else None,
            model=sketch.model,
            started_at=started if sketch.logs_times else None,
            duration_ms=duration if sketch.logs_times else None,
            error=step.error,
            orphans=step.orphans,
        )

    def _reads(self, step: StepSketch) -> list[str]:
        for message in (*step.inserts, *step.own_context):
            self.messages[message.key] = message
            self.sizes[message.key] = len(message.content)
        if step.own_context:
            self.sub_context += [message.key for message in step.own_context]
            return self.sub_context
        if step.drops:
            at = min((self.context.index(k) for k in step.drops if k in self.context), default=0)
            self.context = [key for key in self.context if key not in step.drops]
            self.context[at:at] = [message.key for message in step.inserts]
        return self.context

    def _write(self, number: int, step: StepSketch, reads: list[str]) -> None:
        """Append the reply, the results and the person's answer to what the next round reads."""
        fresh = [(Message(f"reply-{number}", "assistant", reply_of=number), len(step.reply))]
        for index, call in enumerate(step.calls):
            if call.result is not None:
                key = f"result-{number}-{index}"
                fresh.append((Message(key, "tool", result_of=(number, index)), len(call.result)))
        if step.answer:
            fresh.append((Message(f"person-{number}", "user", step.answer), len(step.answer)))
        target = self.sub_context if step.own_context else self.context
        for message, size in fresh:
            self.messages[message.key] = message
            self.sizes[message.key] = size
            target.append(message.key)

    def _tokens(self, reads: list[str]) -> int:
        offered = sum(len(tool.schema) + 40 for tool in self.sketch.tools.values())
        text = sum(self.sizes[key] + 16 for key in reads)
        return (offered + text) // CHARACTERS_PER_TOKEN

    def _label(self, step: StepSketch) -> str | None:
        if step.stop_raw is not None:
            return step.stop_raw
        if not self.sketch.logs_labels or plain_stop(step) is Stop.ERROR:
            return None
        tables = {
            Stop.WANTS_TOOL: TOOL_LABELS,
            Stop.FINISHED: END_LABELS,
            Stop.CUT_OFF: CUT_LABELS,
            Stop.BLOCKED: BLOCK_LABELS,
        }
        return tables.get(plain_stop(step), END_LABELS)[self.sketch.provider]

    def _call(self, number: int, index: int, call: CallSketch) -> Call:
        return Call(
            name=call.name,
            args=call.args_text,
            result=call.result,
            is_error=call.is_error,
            id=f"call_{number}_{index}",
            duration_ms=call.duration_ms if self.sketch.logs_times else None,
            joined="id",
            sub_run=call.sub_run,
        )
