"""Rounds while they are put together, and places of calls in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from transcripts import stop_reasons
from transcripts.importers.turns import CallDraft, Reply
from transcripts.record import InputChange, Orphan, Round, Stop


@dataclass(slots=True, eq=False)
class RoundDraft:
    """A round that may still get results; compared by identity."""

    number: int
    reply: Reply
    input: InputChange | None
    orphans: list[Orphan] = field(default_factory=list)

    def frozen(self) -> Round:
        reply = self.reply
        stop = reply.stop or stop_reasons.decide(
            reply.stop_raw,
            provider=reply.provider,
            wants_tool=any(not call.server_side for call in reply.calls),
            refused=reply.refused,
        )
        if reply.error and reply.stop is None and reply.stop_raw is None and not reply.refused:
            stop = Stop.ERROR
        return Round(
            number=self.number,
            stop=stop,
            stop_raw=reply.stop_raw,
            reply=reply.text,
            reasoning=reply.reasoning,
            calls=tuple(call.frozen() for call in reply.calls),
            input=self.input,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            tokens_cached=reply.tokens_cached,
            tokens_reasoning=reply.tokens_reasoning,
            cost=reply.cost,
            model=reply.model,
            started_at=reply.started_at,
            duration_ms=reply.duration_ms,
            error=reply.error,
            orphans=tuple(self.orphans),
            opaque=tuple(reply.opaque),
            key=reply.key,
        )


class CallPlace(NamedTuple):
    """A call by its round and its place among the calls there."""

    draft: RoundDraft
    at: int

    @property
    def call(self) -> CallDraft:
        return self.draft.reply.calls[self.at]
