"""What one span tells, whichever dialect it is written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from transcripts.importers.fields import as_cost, as_count, value_of
from transcripts.importers.observations import Observation
from transcripts.importers.spans.span import Span, text_of

AGENT: Final = "agent"
_SECOND: Final = 10**9
_CONVERSATION_KEYS: Final = (
    "agentdesk.run_id",
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
)
_TICKET_KEYS: Final = ("agentdesk.ticket_id", "traceloop.association.properties.ticket_id")


@dataclass(slots=True)
class Told(Observation):
    """An observation with its place in the trace. `kind` may be `agent` besides.

    `response_id` is the service's own name of the answer, by which two instrumentations that both
    tell of one request are found out; `raw_label` its own stop label. `conversation` names what
    goes on over several traces.
    """

    trace: str = ""
    order: int = 0
    agent: str = ""
    response_id: str = ""
    conversation: str = ""
    ticket: str = ""
    raw_label: str = ""
    labels: dict[str, str] = field(default_factory=dict)


def told(span: Span, kind: str, name: str = "") -> Told:
    """What all dialects say alike."""
    attributes = span.attributes
    failed = span.failed
    if kind == "tool" and span.end:
        # Conventions set a status where something failed, and leave it unset elsewhere.
        failed = bool(failed)
    found = Told(
        id=span.span_id,
        parent=span.parent_id,
        kind=kind,
        name=name or span.name,
        started_at=moment(span.start),
        ended_at=moment(span.end),
        failed=failed,
        error=span.error if span.failed else "",
        trace=span.trace_id,
        order=span.start,
        conversation=text_of(attributes, *_CONVERSATION_KEYS),
        ticket=text_of(attributes, *_TICKET_KEYS),
    )
    for key, label in (("user.id", "user"), ("deployment.environment.name", "environment")):
        if said := text_of(attributes, key) or text_of(span.source.resource, key):
            found.labels[label] = said
    return found


def moment(nanoseconds: int) -> datetime | None:
    """A span's time; None where it is not said, or is beyond what a date can be."""
    if not 0 < nanoseconds < 253_402_300_800 * _SECOND:
        return None
    seconds, rest = divmod(nanoseconds, _SECOND)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)


def count(attributes: Mapping[str, Any], *keys: str) -> int | None:
    """The first of these attributes that is a count; whole floats are, NaN is none."""
    for key in keys:
        value = attributes.get(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if (found := as_count(value)) is not None:
            return found
    return None


def cost(value: Any) -> Decimal | None:
    """An amount of money, floats with the digits that they are written with."""
    if isinstance(value, float) and 0 <= value < 1e12:
        return Decimal(repr(value))
    return as_cost(value)


def structured(value: Any) -> Any:
    """An attribute that holds a value, as JSON text or as it is, numbers as importers keep them."""
    if isinstance(value, str):
        return value_of(value)
    return _decimals(value)


def _decimals(value: Any) -> Any:
    if isinstance(value, float):
        # NaN and infinity are no numbers in JSON.
        return Decimal(repr(value)) if value - value == 0 else None
    if isinstance(value, list):
        return [_decimals(part) for part in value]
    if isinstance(value, dict):
        return {key: _decimals(part) for key, part in value.items()}
    return value


def whole_input(tokens_in: int | None, *cached: int | None) -> int | None:
    """Tokens of the input with those of the cache: a sender that counts them apart says fewer."""
    apart = sum(part for part in cached if part)
    if tokens_in is None or apart <= tokens_in:
        return tokens_in
    return tokens_in + apart


def first_label(value: Any) -> str | None:
    """A stop label out of a list, JSON text of a list, or a text."""
    value = structured(value)
    label = value[0] if isinstance(value, list) and value else value
    return label if isinstance(label, str) and label else None
