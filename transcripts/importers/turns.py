"""The turns of a conversation, as importers write them down before rounds are made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from transcripts.record import Call, Opaque, Stop


@dataclass(slots=True)
class CallDraft:
    """One tool request of a reply, and its result where the format keeps both together.

    `server_side`: the service runs the tool itself, so that nobody has to answer the request.
    `shown`: the reply itself holds the request; else it is known from its execution alone.
    `executed`: the result is as a span of the execution told it, which may have left it out.
    """

    name: str
    args: str = "{}"
    id: str = ""
    result: str | None = None
    is_error: bool | None = None
    duration_ms: float | None = None
    joined: str = ""
    sub_run: str = ""
    server_side: bool = False
    shown: bool = True
    executed: bool = False

    def frozen(self) -> Call:
        return Call(
            name=self.name,
            args=self.args,
            result=self.result,
            is_error=self.is_error,
            id=self.id,
            duration_ms=self.duration_ms,
            joined=self.joined,
            sub_run=self.sub_run,
        )


@dataclass(slots=True)
class Answer:
    """A tool result as a message of its own; `call_id` or `name` may be empty."""

    content: str
    call_id: str = ""
    name: str = ""
    is_error: bool | None = None
    duration_ms: float | None = None
    sub_run: str = ""
    opaque: list[Opaque] = field(default_factory=list)


@dataclass(slots=True)
class Reply:
    """What the model answered to one request. `stop` is set where the sender says the plain one
    too.
    """

    text: str = ""
    reasoning: str = ""
    calls: list[CallDraft] = field(default_factory=list)
    stop_raw: str | None = None
    stop: Stop | None = None
    provider: str = ""
    refused: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    cost: Decimal | None = None
    model: str = ""
    started_at: datetime | None = None
    duration_ms: float | None = None
    error: str = ""
    key: str = ""
    opaque: list[Opaque] = field(default_factory=list)


@dataclass(slots=True)
class Turn:
    """One message of a conversation: a reply of the model, answers of tools, a text, or several of
    them.
    """

    role: str
    text: str = ""
    name: str = ""
    answers: list[Answer] = field(default_factory=list)
    reply: Reply | None = None
    opaque: list[Opaque] = field(default_factory=list)
