"""The run as recorded: the one type between importers, masking, storage, detectors and export.

Plain frozen dataclasses that know no Django. Every importer yields a `RunRecord`, masking maps one
to a masked one, storage writes it to rows and reads it back, detectors read it, export writes it
out.

Texts are kept as they came. JSON values (arguments, results that are objects) are kept as JSON
text, so that nothing is lost by a round trip through Python numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any


class Stop(StrEnum):
    """Why the model stopped writing in a round, in plain words."""

    FINISHED = "finished"
    WANTS_TOOL = "wants_tool"
    CUT_OFF = "cut_off"
    BLOCKED = "blocked"
    ERROR = "error"
    UNKNOWN = "unknown"


class Ending(StrEnum):
    """How a run ended. `OPEN` is a run that still goes on."""

    FINISHED = "finished"
    HANDED_OFF = "handed_off"
    REPEATED_CALL = "repeated_call"
    ROUND_LIMIT = "round_limit"
    CUT_OFF = "cut_off"
    BLOCKED = "blocked"
    ERROR = "error"
    STOPPED = "stopped"
    OPEN = "open"


ENDED_BY_ITSELF = frozenset({Ending.FINISHED, Ending.HANDED_OFF})


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part that no importer knows: shown as such, never dropped.

    `kind` is the part's own type name (`image_url`, `thinking_signature`), `body` its JSON text.
    """

    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of what the model read; kept once per run, however often it was sent again.

    `key` names it within this record. `named`: the sender gave the key (or gave the message as a
    mere reference, key `reply:5` or `result:5:0`), so that it means the same message in every
    delivery to the run; otherwise the importer made the key, and storage knows the message by its
    content alone.

    A message that repeats a round's reply or a call's result word for word says so by `reply_of`
    (round number) or `result_of` (round number, call index) and leaves `content`, `opaque` and
    `call_id` empty: they are kept in the round. Word for word means equal to `reply_message` or
    `result_message` in all but role and name. Where that round is not in the record, an importer
    leaves the message whole, in the same normal form (an assistant's calls as `tool_call_part`, a
    tool's answer with its `call_id`), and storage, which knows the earlier rounds, finds the
    repeat.
    """

    key: str
    role: str
    content: str = ""
    name: str = ""
    reply_of: int | None = None
    result_of: tuple[int, int] | None = None
    opaque: tuple[Opaque, ...] = ()
    call_id: str = ""
    named: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """A message at a position (from 0) of an input; `at` None: at the end (added), its first place
    (dropped).
    """

    key: str
    at: int | None = None


@dataclass(frozen=True, slots=True)
class InputChange:
    """What a round's input holds beyond, and no longer holds of, the input of the round before it.

    `dropped` positions count in the previous input, `added` positions in the new one, both
    ascending. Round 1 adds everything. Apply with `apply_change`.

    `whole`: the change counts from nothing, since the sender gave the whole input and the round
    before it is not in the record (the first round of an append, the round after a gap). Not
    `whole`: it counts from round `number - 1`, which may be in another delivery.
    """

    added: tuple[Placed, ...] = ()
    dropped: tuple[Placed, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call and its result.

    `args` is JSON text as the model wrote it (it may be broken). `result` None is *unanswered*,
    `""` is *empty*. `is_error` None: the format carries no error flag. `joined` says how the result
    was found: `id`, `name`, `order`, or empty for formats that keep both together.
    """

    name: str
    args: str = "{}"
    result: str | None = None
    is_error: bool | None = None
    id: str = ""
    duration_ms: float | None = None
    joined: str = ""
    sub_run: str = ""


@dataclass(frozen=True, slots=True)
class Orphan:
    """A tool result that answers no call of the run."""

    call_id: str
    content: str


@dataclass(frozen=True, slots=True)
class Round:
    """One model request, its reply, and the results of the tools that it asked for; `number` from
    1.

    `input` None: the format does not say what the model read. Tokens are counts, `cost` is in the
    run's currency, `duration_ms` covers the request and its tools where the sender says no more.
    `error` is the service's own error text when the request failed. `key` is the sender's own name
    of the round (a span's id), which stays when rounds that come late shift the numbers; empty
    where the number is all there is.
    """

    number: int
    stop: Stop
    stop_raw: str | None = None
    reply: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    input: InputChange | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    cost: Decimal | None = None
    model: str = ""
    started_at: datetime | None = None
    duration_ms: float | None = None
    error: str = ""
    orphans: tuple[Orphan, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    key: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that was offered to the model. `schema` is JSON Schema text for its arguments, or
    empty.
    """

    name: str
    description: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits that the sender says the agent's own loop keeps; None: none said. Cost in the run's
    currency.
    """

    rounds: int | None = None
    seconds: float | None = None
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """What happened to the run on its way in, summed over its deliveries."""

    folded: int = 0
    replaced: int = 0
    late: int = 0


@dataclass(frozen=True)
class RunRecord:
    """One agent on one task, first input to last stop; or, from an append, the part of it that
    arrived.

    `rounds` ascend by number and may have gaps. `ending` None: the sender did not say (see
    `transcripts.endings`). `labels` are the sender's own name-value pairs. `format` is the
    importer's name, `notes` what it must say about the file ("this format carries no error flag").
    `rounds_expected` is the sender's own count, where it gives one.
    """

    run_id: str
    rounds: tuple[Round, ...] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    ticket_id: str = ""
    title: str = ""
    agent: str = ""
    provider: str = ""
    model: str = ""
    prompt_version: str = ""
    code_version: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    ending: Ending | None = None
    ending_reason: str = ""
    currency: str = ""
    context_window: int | None = None
    limits: RunLimits = RunLimits()
    labels: Mapping[str, str] = field(default_factory=dict)
    parent_run_id: str = ""
    format: str = ""
    notes: tuple[str, ...] = ()
    rounds_expected: int | None = None
    received: Received = Received()

    @cached_property
    def message_by_key(self) -> Mapping[str, Message]:
        return {message.key: message for message in self.messages}

    @cached_property
    def round_by_number(self) -> Mapping[int, Round]:
        return {round_.number: round_ for round_ in self.rounds}

    def inputs(self) -> Iterator[tuple[Round, list[str] | None]]:
        """Each round with the keys of the messages it read, in order; None where the record does
        not say.

        The list is built up from round to round and handed out as it stands: copy it to keep it.
        """
        keys: list[str] = []
        for round_ in self.rounds:
            if round_.input is None:
                yield round_, None
            else:
                change_input(keys, round_.input)
                yield round_, keys


@dataclass(frozen=True, slots=True)
class Completeness:
    """Whether the record holds the whole run, and if not, what is missing."""

    rounds_expected: int
    rounds_received: int
    gaps: tuple[tuple[int, int], ...] = ()
    unanswered_calls: int = 0
    missing_stops: int = 0
    orphan_results: int = 0
    folded: int = 0
    replaced: int = 0
    late: int = 0

    @property
    def complete(self) -> bool:
        """Missing stop labels are told but leave a run complete: many formats carry none."""
        return not (self.gaps or self.unanswered_calls or self.orphan_results)


def apply_change(previous: list[str], change: InputChange) -> list[str]:
    """The input that `change` makes of `previous`; both are lists of message keys.

    A dropped message that is not there and a position past the end are passed over: late deliveries
    make both, and completeness says so.
    """
    current = list(previous)
    change_input(current, change)
    return current


def change_input(keys: list[str], change: InputChange) -> None:
    """Apply `change` to a list of message keys in place: no copy of a long input in each round."""
    if change.whole:
        keys.clear()
    if change.dropped:
        gone: set[int] = set()
        for placed in change.dropped:
            at = placed.at
            if at is None:
                at = next(
                    (i for i, key in enumerate(keys) if key == placed.key and i not in gone), None
                )
            if at is not None and at < len(keys):
                gone.add(at)
        for at in sorted(gone, reverse=True):
            del keys[at]
    for placed in change.added:
        if placed.at is None or placed.at >= len(keys):
            keys.append(placed.key)
        else:
            keys.insert(placed.at, placed.key)


def reply_message(round_: Round) -> Message:
    """The message that repeats a round's reply, in the normal form of a history sent again."""
    parts = tuple(tool_call_part(call.id, call.name, call.args) for call in round_.calls)
    return Message("", "assistant", round_.reply, opaque=parts)


def result_message(call: Call) -> Message:
    """The message that repeats an answered call's result, in the same normal form."""
    return Message("", "tool", call.result or "", call_id=call.id)


def tool_call_part(id_: str, name: str, args: str) -> Opaque:
    """A tool request inside an assistant message of a history; `args` as the model wrote it."""
    return Opaque("tool_call", json_text({"id": id_, "name": name, "args": args}))


def diff_inputs(previous: list[str], current: list[str]) -> InputChange:
    """The change from one input to the next, so that `apply_change(previous, change) == current`.

    Linear: the common head and tail are cut off, and the rest is matched in order. A message that
    moved counts as dropped and added.
    """
    head = 0
    shortest = min(len(previous), len(current))
    while head < shortest and previous[head] == current[head]:
        head += 1
    tail = 0
    while tail < shortest - head and previous[-1 - tail] == current[-1 - tail]:
        tail += 1
    old = previous[head : len(previous) - tail]
    new = current[head : len(current) - tail]

    places: dict[str, list[int]] = {}
    for i in range(len(old) - 1, -1, -1):
        places.setdefault(old[i], []).append(i)
    kept: set[int] = set()
    added: list[Placed] = []
    reached = -1
    for i, key in enumerate(new):
        stack = places.get(key, [])
        while stack and stack[-1] <= reached:
            stack.pop()
        if stack:
            reached = stack.pop()
            kept.add(reached)
        else:
            added.append(Placed(key, head + i))
    dropped = tuple(Placed(key, head + i) for i, key in enumerate(old) if i not in kept)
    return InputChange(tuple(added), dropped)


def completeness(run: RunRecord) -> Completeness:
    """The statement of what is there and what is missing. The last round of an open run may be
    unanswered.
    """
    numbers = [round_.number for round_ in run.rounds]
    last = numbers[-1] if numbers else 0
    expected = max(run.rounds_expected or 0, last)
    gaps: list[tuple[int, int]] = []
    next_number = 1
    for number in [*numbers, expected + 1]:
        if number > next_number:
            gaps.append((next_number, number - 1))
        next_number = number + 1
    live = run.ending == Ending.OPEN
    unanswered = sum(
        call.result is None
        for round_ in run.rounds
        if not (live and round_.number == last)
        for call in round_.calls
    )
    return Completeness(
        rounds_expected=expected,
        rounds_received=len(numbers),
        gaps=tuple(gaps),
        unanswered_calls=unanswered,
        missing_stops=sum(round_.stop_raw is None for round_ in run.rounds),
        orphan_results=sum(len(round_.orphans) for round_ in run.rounds),
        folded=run.received.folded,
        replaced=run.received.replaced,
        late=run.received.late,
    )


def json_text(value: Any) -> str:
    """JSON text as records keep it: compact, as UTF-8 characters, key order kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def count_by(values: Iterable[str]) -> dict[str, int]:
    """How often each value occurs, in order of first occurrence."""
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts
