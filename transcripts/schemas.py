"""What the API answers about deliveries and rounds."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Schema

from transcripts.choices import DeliveryKind, DeliveryState


class ReceiptOut(Schema):
    """A delivery was taken in: it is kept, encrypted, and will be stored by a worker."""

    receipt: UUID = Field(description="Ask `GET /deliveries/{receipt}` what became of it.")
    state: DeliveryState
    repeated: bool = Field(description="The Idempotency-Key came before: this is the old receipt.")


class ProblemOut(Schema):
    """RFC 9457 `application/problem+json`."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    at: str = Field("", description="Where: a JSON path, a line, a header or a parameter.")


class DeliveredRunOut(Schema):
    """What a delivery did to one run; counts are rounds."""

    run_id: str
    new: int
    folded: int = Field(description="Repeats of what was there; they changed nothing.")
    replaced: int = Field(description="Rounds that said something else than before.")
    late: int = Field(description="Rounds that came after later ones.")


class DeliveryProblemOut(Schema):
    """What could not be read, and where."""

    at: str
    error: str


class DeliveryOut(Schema):
    """What became of a delivery.

    `accepted` waits, `stored` is done, `quarantined` could not be read or masked in whole and
    waits, encrypted, for an administrator, `discarded` was given up.
    """

    receipt: UUID
    kind: DeliveryKind
    state: DeliveryState
    format: str
    size: int = Field(description="Bytes, after decompression.")
    received_at: datetime
    finished_at: datetime | None
    attempts: int
    error: str
    at: str
    runs: list[DeliveredRunOut] = Field(description="The first hundred.")
    runs_stored: int
    runs_gone: int
    problems: list[DeliveryProblemOut] = Field(description="The first hundred.")
    problems_found: int


class RoundsOut(Schema):
    """Rounds of a run in the native format, masked, with the messages that their inputs name."""

    run_id: str
    rounds: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    next: int | None = Field(description="`first` of the next page.")
