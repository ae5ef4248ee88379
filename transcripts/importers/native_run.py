"""One run of the native format, from its checked types to a record."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct

from transcripts.importers.building import RunBuilder
from transcripts.importers.expectations import in_words
from transcripts.importers.fields import (
    MAX_COST,
    FieldError,
    args_text,
    as_name,
    as_text,
    json_text,
    opaque,
)
from transcripts.importers.native_types import (
    NativeCall,
    NativeInput,
    NativeMessage,
    NativePlaced,
    NativeRound,
    NativeRun,
)
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import read_parts
from transcripts.importers.turns import CallDraft, Reply, Turn
from transcripts.record import (
    Ending,
    InputChange,
    Message,
    Opaque,
    Orphan,
    Placed,
    Received,
    RunLimits,
    RunRecord,
    Stop,
    Tool,
)

_RUN_FIELDS = frozenset(NativeRun.__struct_fields__)
_ROUND_FIELDS = frozenset(NativeRound.__struct_fields__)
_AT = re.compile(r"^(?P<error>.*?)(?: - at `(?P<key>key in )?(?P<field>[^`]*)`)?$", re.DOTALL)
_REPLY_KEY = re.compile(r"reply:([1-9][0-9]{0,8})", re.ASCII)
_RESULT_KEY = re.compile(r"result:([1-9][0-9]{0,8}):([0-9]{1,9})", re.ASCII)

T = TypeVar("T", bound=Struct)


def read_run(value: dict[str, Any], default_run_id: str, path: str = "$") -> RunRecord:
    """One run from its JSON object; raises FieldError with the place of what does not fit."""
    run_id = as_name(value.get("run_id")) or default_run_id
    try:
        return _RunReader(to_type(value, NativeRun, path), value, path).read(run_id)
    except FieldError as error:
        error.run_id = run_id
        raise


def to_type(value: Any, type_: type[T], path: str = "$") -> T:
    """A JSON value as one of the native types; raises FieldError with the place of what does not
    fit.
    """
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise field_error(error, path) from None


def field_error(error: msgspec.ValidationError, path: str = "$") -> FieldError:
    """What msgspec says, taken apart into the JSON path and the error in words."""
    match = _AT.match(str(error))
    assert match is not None
    field = path + (match["field"] or "$").removeprefix("$")
    if isinstance(cause := error.__cause__, FieldError):
        return FieldError(f"{field}.{cause.field}", cause.error)
    return FieldError(field, in_words(match["error"]))


class _RunReader:
    """Turns one checked `NativeRun` into a record; `value` is what it was made from, for unknown
    fields.
    """

    def __init__(self, run: NativeRun, value: dict[str, Any], path: str) -> None:
        self._run = run
        self._value = value
        self._path = path
        self._builder = RunBuilder(growing=False)
        self._keys: set[str] = set()
        # The messages that an append refers to may have come before.
        self._is_whole = any(round_.round == 1 for round_ in run.rounds)

    def read(self, run_id: str) -> RunRecord:
        run = self._run
        self._check_run()
        for index, message in enumerate(run.messages):
            self._declare(message, index)
        folded = self._add_rounds()
        received = run.received
        limits = run.limits
        return self._builder.build_as_said(
            run_id,
            tools=tuple(Tool(t.name, t.description or "", _schema(t.schema)) for t in run.tools),
            ticket_id=run.ticket_id or "",
            title=run.title or "",
            agent=run.agent or "",
            provider=run.provider or "",
            model=run.model or "",
            prompt_version=run.prompt_version or "",
            code_version=run.code_version or "",
            started_at=_moment(run.started_at),
            ended_at=_moment(run.ended_at),
            ending=Ending(run.ending) if run.ending else None,
            ending_reason=run.ending_reason or "",
            currency=run.currency or "",
            context_window=run.context_window,
            limits=RunLimits(limits.rounds, limits.seconds, limits.cost) if limits else RunLimits(),
            labels={key: as_text(value) for key, value in run.labels.items()},
            parent_run_id=run.parent_run_id or "",
            format=run.source_format or "",
            notes=tuple(run.notes) + self._unknown_fields(),
            rounds_expected=run.rounds_expected,
            received=Received(
                folded=folded + (received.folded if received else 0),
                replaced=received.replaced if received else 0,
                late=received.late if received else 0,
            ),
        )

    def _check_run(self) -> None:
        run = self._run
        if run.ending and run.ending not in set(Ending):
            known = ", ".join(Ending)
            raise FieldError(f"{self._path}.ending", f'"{run.ending}" is not one of {known}')
        if run.limits:
            self._check_cost(run.limits.cost, f"{self._path}.limits.cost")

    def _check_cost(self, cost: Decimal | None, field: str) -> None:
        if cost is not None and not (cost.is_finite() and 0 <= cost < MAX_COST):
            raise FieldError(field, f"expected an amount from 0 to below {MAX_COST:f}")

    def _declare(self, native: NativeMessage, index: int) -> None:
        path = f"{self._path}.messages[{index}]"
        if not native.key:
            raise FieldError(f"{path}.key", "a message of a run needs a key that inputs refer to")
        if native.key in self._keys:
            raise FieldError(f"{path}.key", f'the key "{native.key}" is there twice')
        self._keys.add(native.key)
        content, others = _message_parts(native, self._value["messages"][index])
        self._builder.declare(
            Message(
                native.key,
                native.role,
                content,
                native.name or "",
                reply_of=native.reply_of,
                result_of=native.result_of,
                opaque=tuple(others),
                call_id=native.tool_call_id or "",
                named=native.named,
            )
        )

    def _add_rounds(self) -> int:
        """Add the rounds by number; gives how many were there twice with the same content."""
        seen: dict[int, NativeRound] = {}
        places: dict[int, int] = {}
        for index, native in enumerate(self._run.rounds):
            earlier = seen.setdefault(native.round, native)
            if earlier != native:
                raise FieldError(
                    f"{self._path}.rounds[{index}].round",
                    f"round {native.round} is there twice, with different content",
                )
            places.setdefault(native.round, index)
        self._check_names(seen, places)
        for number in sorted(seen):
            self._add_round(seen[number], places[number])
        return len(self._run.rounds) - len(seen)

    def _check_names(self, rounds: dict[int, NativeRound], places: dict[int, int]) -> None:
        named: set[str] = set()
        for number, native in rounds.items():
            if native.key and native.key in named:
                raise FieldError(
                    f"{self._path}.rounds[{places[number]}].key",
                    f'two rounds have the key "{native.key}"',
                )
            named.add(native.key or "")

    def _add_round(self, native: NativeRound, index: int) -> None:
        path = f"{self._path}.rounds[{index}]"
        self._check_cost(native.cost, f"{path}.cost")
        change = self._change(native, path)
        if native.messages is not None:
            self._ask(native)
        reply = self._reply(native, self._value["rounds"][index])
        orphans = [Orphan(orphan.call_id, orphan.content) for orphan in native.orphans]
        self._builder.add_round(reply, native.round, change, orphans)

    def _change(self, native: NativeRound, path: str) -> InputChange | None:
        if native.input is None:
            return None
        if native.messages is not None:
            raise FieldError(f"{path}.messages", "a round has either messages or input")
        self._check_keys(native.input, path)
        return InputChange(
            added=_placed(native.input.added),
            dropped=_placed(native.input.dropped),
            whole=native.input.whole,
        )

    def _check_keys(self, change: NativeInput, path: str) -> None:
        for side in ("added", "dropped"):
            for index, placed in enumerate(getattr(change, side)):
                key = placed if isinstance(placed, str) else placed.key
                if key in self._keys:
                    continue
                reference = _named_reference(key)
                if reference is not None:
                    self._keys.add(key)
                    self._builder.declare(reference)
                elif self._is_whole:
                    raise FieldError(
                        f"{path}.input.{side}[{index}]", f'no message has the key "{key}"'
                    )

    def _ask(self, native: NativeRound) -> None:
        turns: list[Turn | Message] = []
        for message in native.messages or ():
            reference = _reference(message)
            turns.append(reference or openai_chat.read_message(_as_chat(message)))
        self._builder.ask(turns, native.round)

    def _reply(self, native: NativeRound, value: dict[str, Any]) -> Reply:
        raw = native.stop if native.stop_raw is UNSET else native.stop_raw
        said = native.stop if native.stop_raw is not UNSET and native.stop in set(Stop) else None
        others = [Opaque(part.kind, part.body) for part in native.opaque]
        others += [opaque(key, found) for key, found in _unknown(value, _ROUND_FIELDS)]
        for index, call in enumerate(value.get("calls") or ()):
            names = frozenset(NativeCall.__struct_fields__)
            others += [opaque(f"calls[{index}].{k}", found) for k, found in _unknown(call, names)]
        return Reply(
            text=native.reply or "",
            reasoning=native.reasoning or "",
            calls=[_call(call) for call in native.calls],
            stop_raw=raw,
            stop=Stop(said) if said else None,
            provider=self._run.provider or "",
            tokens_in=native.tokens_in,
            tokens_out=native.tokens_out,
            tokens_cached=native.tokens_cached,
            tokens_reasoning=native.tokens_reasoning,
            cost=native.cost,
            model=native.model or "",
            started_at=_moment(native.started_at),
            duration_ms=native.duration_ms,
            error=native.error or "",
            opaque=others,
            key=native.key or "",
        )

    def _unknown_fields(self) -> tuple[str, ...]:
        return tuple(
            f"Unknown field {key}: {_shortened(json_text(found))}"
            for key, found in _unknown(self._value, _RUN_FIELDS)
        )


def _call(native: NativeCall) -> CallDraft:
    return CallDraft(
        native.name,
        args_text(None if native.args is UNSET else native.args),
        native.id or "",
        None if native.result is None else as_text(native.result),
        native.is_error,
        native.duration_ms,
        native.joined,
        native.sub_run,
    )


def _placed(entries: Iterable[str | NativePlaced]) -> tuple[Placed, ...]:
    return tuple(
        Placed(entry) if isinstance(entry, str) else Placed(entry.key, entry.at)
        for entry in entries
    )


def _message_parts(native: NativeMessage, value: dict[str, Any]) -> tuple[str, list[Opaque]]:
    content, others = read_parts(native.content, ("text",), ("text", "input_text", "output_text"))
    others += [opaque("tool_call", call) for call in native.tool_calls or ()]
    others += [Opaque(part.kind, part.body) for part in native.opaque]
    names = frozenset(NativeMessage.__struct_fields__)
    return content, others + [opaque(key, found) for key, found in _unknown(value, names)]


def _reference(message: NativeMessage) -> Message | None:
    """A message that names the round whose reply or result it repeats, and says no more."""
    if message.reply_of is not None:
        key = message.key or f"reply:{message.reply_of}"
        return Message(key, message.role, reply_of=message.reply_of, named=True)
    if message.result_of is not None:
        number, index = message.result_of
        key = message.key or f"result:{number}:{index}"
        return Message(key, message.role, result_of=(number, index), named=True)
    return None


def _named_reference(key: str) -> Message | None:
    """The message that a key like `reply:5` or `result:5:0` stands for."""
    if reply := _REPLY_KEY.fullmatch(key):
        return Message(key, "assistant", reply_of=int(reply[1]), named=True)
    if result := _RESULT_KEY.fullmatch(key):
        return Message(key, "tool", result_of=(int(result[1]), int(result[2])), named=True)
    return None


def _as_chat(message: NativeMessage) -> dict[str, Any]:
    """The message as chat formats have it; `named` is said of keys, which these have none of."""
    return {
        key: value
        for key, value in msgspec.structs.asdict(message).items()
        if (value not in (None, "", []) or key == "content") and key != "named"
    }


def _unknown(value: Any, known: frozenset[str]) -> list[tuple[str, Any]]:
    return [(key, found) for key, found in value.items() if key not in known and found is not None]


def _schema(value: Any) -> str:
    return "" if value is None else as_text(value)


def _moment(moment: datetime | None) -> datetime | None:
    """In UTC; without a zone it is taken as UTC."""
    if moment is None or moment.tzinfo is UTC:
        return moment
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _shortened(text: str, limit: int = 500) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} characters more)"
