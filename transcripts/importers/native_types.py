"""The native format `agentdesk.run/1` as types: the one definition for the API and for files.

`msgspec` turns a body into them and says where it does not fit (`$.rounds[3].calls[0].name`). What
a type cannot say (numbers that occur twice, keys of no message) `transcripts.importers.native`
checks.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from transcripts.importers.fields import MAX_COUNT, FieldError

FORMAT = "agentdesk.run/1"

Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Number = Annotated[int, Meta(ge=1, le=MAX_COUNT)]
# Up to 31 years; infinity is no duration.
Milliseconds = Annotated[float, Meta(ge=0, le=1e12)]
Name = Annotated[str, Meta(min_length=1, max_length=500)]


class _Timed(Struct, frozen=True):
    """Has moments that are kept in UTC, where the first and the last day do not hold every zone."""

    def __post_init__(self) -> None:
        for field in ("started_at", "ended_at"):
            moment: datetime | None = getattr(self, field, None)
            if moment is None or moment.tzinfo is None or moment.tzinfo is UTC:
                continue
            try:
                moment.astimezone(UTC)
            except OverflowError:
                raise FieldError(field, "outside the years 1 to 9999 in UTC") from None


class NativeOpaque(Struct, frozen=True):
    """A part that is kept without being understood: its type name, and its JSON text."""

    kind: str
    body: str


class NativeMessage(Struct, frozen=True):
    """A message that the model read.

    In a run's `messages` it has a `key` that inputs refer to. `reply_of` (a round's number) or
    `result_of` (a round's number and a call's index from 0) say that it repeats that text word for
    word; `content` is left out then. `content` may also be a list of parts, and `tool_calls`,
    `tool_call_id` may be there, as in OpenAI chat messages. `named` false: the key was made by an
    importer, not by the sender.
    """

    role: Name
    key: str = ""
    content: str | list[Any] | None = None
    name: str | None = None
    reply_of: Number | None = None
    result_of: tuple[Number, Count] | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None
    opaque: list[NativeOpaque] = []
    named: bool = True


class NativePlaced(Struct, frozen=True):
    """Message at a position (from 0) of an input; without `at`: at the end, or first place."""

    key: str
    at: Count | None = None


class NativeInput(Struct, frozen=True):
    """How a round's input differs from that of the round before; `whole`: `added` is all of it."""

    added: list[str | NativePlaced] = []
    dropped: list[str | NativePlaced] = []
    whole: bool = False


class NativeCall(Struct, frozen=True):
    """One tool call. `args`: an object, or the JSON text the model wrote. `result` null:
    unanswered.
    """

    name: str
    args: Any = UNSET
    result: Any = None
    is_error: bool | None = None
    id: str | None = None
    duration_ms: Milliseconds | None = None
    joined: str = ""
    sub_run: str = ""


class NativeOrphan(Struct, frozen=True):
    """A tool result that answers no call."""

    content: str
    call_id: str = ""


class NativeRound(_Timed, frozen=True):
    """One model request, its reply, and the results of its tools.

    `stop` is the label, plain or as the service sent it; `stop_raw` is the service's where `stop`
    is the plain one. `messages` is the whole input, `input` its change since the round before; not
    both. `key` is the sender's own name of the round.
    """

    round: Number
    input: NativeInput | None = None
    messages: list[NativeMessage] | None = None
    reply: str | None = None
    reasoning: str | None = None
    stop: str | None = None
    stop_raw: str | UnsetType | None = UNSET
    calls: list[NativeCall] = []
    tokens_in: Count | None = None
    tokens_out: Count | None = None
    tokens_cached: Count | None = None
    tokens_reasoning: Count | None = None
    cost: Decimal | None = None
    model: str | None = None
    started_at: datetime | None = None
    duration_ms: Milliseconds | None = None
    error: str | None = None
    orphans: list[NativeOrphan] = []
    opaque: list[NativeOpaque] = []
    key: Annotated[str, Meta(max_length=500)] | None = None


class NativeTool(Struct, frozen=True):
    """A tool that was offered. `schema`: JSON Schema of its arguments, as an object or as JSON
    text.
    """

    name: Name
    description: str | None = None
    schema: Any = None


class NativeLimits(Struct, frozen=True):
    """Limits that the agent's own loop keeps."""

    rounds: Number | None = None
    seconds: Annotated[float, Meta(ge=0, le=1e12)] | None = None
    cost: Decimal | None = None


class NativeReceived(Struct, frozen=True):
    """What happened to the run on its way in before."""

    folded: Count = 0
    replaced: Count = 0
    late: Count = 0


class NativeEnd(_Timed, frozen=True):
    """How a run ended: the body of `POST /runs/{id}/end`."""

    ending: str | None = None
    ending_reason: str | None = None
    ended_at: datetime | None = None
    rounds_expected: Count | None = None


class NativeRun(NativeEnd, frozen=True, kw_only=True):
    """A whole run, or with some of its rounds the body of an append."""

    format: str = FORMAT
    run_id: str | None = None
    ticket_id: str | None = None
    title: str | None = None
    agent: str | None = None
    provider: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    code_version: str | None = None
    parent_run_id: str | None = None
    started_at: datetime | None = None
    currency: Annotated[str, Meta(max_length=8)] | None = None
    context_window: Count | None = None
    limits: NativeLimits | None = None
    labels: dict[str, Any] = {}
    tools: list[NativeTool] = []
    messages: list[NativeMessage] = []
    rounds: list[NativeRound] = []
    notes: list[str] = []
    received: NativeReceived | None = None
    source_format: str | None = None


class NativeRounds(Struct, frozen=True):
    """The body of `POST /runs/{id}/rounds`: rounds as they come, and the messages that their inputs
    name.
    """

    rounds: list[NativeRound]
    messages: list[NativeMessage] = []
