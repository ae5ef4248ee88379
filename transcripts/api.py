"""The API of what happened: runs come in, deliveries tell of them, rounds are read."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router

from transcripts.access import removed_words
from transcripts.api_keys import KeyAuth
from transcripts.audit import access_record
from transcripts.bodies import check_format, check_run_id, check_shape, check_type, read_body
from transcripts.choices import AccessAction, DeliveryKind, KeyScope, Removal
from transcripts.examples import END_EXAMPLE, FILE_EXAMPLE, ROUNDS_EXAMPLE, RUN_EXAMPLE
from transcripts.export import all_exporters
from transcripts.export.native import native_run
from transcripts.importers.native_types import NativeEnd, NativeRounds, NativeRun
from transcripts.keys import run_digest
from transcripts.models import ApiKey, Delivery, Run
from transcripts.problems import ProblemError
from transcripts.queueing import DELIVER, enqueue, enqueue_drain
from transcripts.schemas import DeliveryOut, ProblemOut, ReceiptOut, RoundsOut
from transcripts.selectors.deliveries import delivery_by_receipt
from transcripts.selectors.record import run_record, run_window
from transcripts.services.deliveries import IdempotencyError, delivery_accept, is_small

ROUNDS_AT_ONCE = 200
MAX_IDEMPOTENCY_KEY = 255

router = Router(tags=["runs"])
may_send = KeyAuth(KeyScope.INGEST)
may_read = KeyAuth(KeyScope.READ)
REFUSED = {400: ProblemOut, 401: ProblemOut, 403: ProblemOut, 429: ProblemOut}
TAKEN: dict[int, Any] = {
    202: ReceiptOut,
    **REFUSED,
    413: ProblemOut,
    415: ProblemOut,
    422: ProblemOut,
}
FOUND = {**REFUSED, 404: ProblemOut}
READABLE = {**FOUND, 410: ProblemOut}


def _sends(type_: type, example: Any, *media: str) -> dict[str, Any]:
    """The part of the OpenAPI document on a body that a worker reads, made of its own types."""
    name = type_.__name__
    content = {
        kind: {"schema": {"$ref": f"#/components/schemas/{name}"}, "example": example}
        for kind in media or ("application/json",)
    }
    parameters = [
        {
            "in": "header",
            "name": "Idempotency-Key",
            "schema": {"type": "string", "maxLength": MAX_IDEMPOTENCY_KEY},
            "description": "The same key with the same content gives the first receipt again.",
        },
        {
            "in": "header",
            "name": "Content-Encoding",
            "schema": {"type": "string", "enum": ["gzip", "zstd"]},
        },
    ]
    return {"requestBody": {"required": True, "content": content}, "parameters": parameters}


def native_schemas() -> dict[str, Any]:
    """JSON Schemas of the native format, by name, for the OpenAPI document."""
    types = (NativeRun, NativeRounds, NativeEnd)
    _, schemas = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    return schemas


@router.post(
    "/runs",
    auth=may_send,
    response=TAKEN,
    summary="Send whole runs",
    openapi_extra=_sends(NativeRun, RUN_EXAMPLE, "application/json", "application/jsonl"),
)
def runs_send(request: HttpRequest) -> HttpResponse:
    """One run, a list of runs, `{"runs": [...]}`, or JSONL, in the native format.

    Rounds that were sent before and say the same change nothing, so sending again is safe.
    """
    check_type(request)
    content = check_shape(read_body(request), DeliveryKind.RUNS)
    return _accept(request, DeliveryKind.RUNS, content, format="native")


@router.post(
    "/runs/{path:run_id}/rounds",
    auth=may_send,
    response=TAKEN,
    summary="Add rounds to a run that goes on",
    openapi_extra=_sends(NativeRounds, ROUNDS_EXAMPLE),
)
def rounds_send(request: HttpRequest, run_id: str) -> HttpResponse:
    """Rounds as they come, in any order; the run is made by its first. A round says what the model
    read as `messages` (all of it) or as `input` (what came in and went out since the round
    before).
    """
    check_type(request)
    run_id = check_run_id(run_id)
    content = check_shape(read_body(request), DeliveryKind.ROUNDS, run_id)
    return _accept(request, DeliveryKind.ROUNDS, content, format="native", run_id=run_id)


@router.post(
    "/runs/{path:run_id}/end",
    auth=may_send,
    response=TAKEN,
    summary="End a run",
    openapi_extra=_sends(NativeEnd, END_EXAMPLE),
)
def run_end(request: HttpRequest, run_id: str) -> HttpResponse:
    """Say that a run is over, and how it ended; without an ending its last round decides."""
    check_type(request)
    run_id = check_run_id(run_id)
    content = check_shape(read_body(request), DeliveryKind.END, run_id)
    return _accept(request, DeliveryKind.END, content, format="native", run_id=run_id)


@router.post(
    "/import",
    auth=may_send,
    response=TAKEN,
    summary="Send a file of any known format",
    openapi_extra=_sends(
        NativeRun, FILE_EXAMPLE, "application/json", "application/jsonl", "application/gzip"
    ),
)
def file_send(request: HttpRequest, format: str = "auto") -> HttpResponse:
    """A file as another tool wrote it, plain or packed; its format is recognised by its content."""
    check_type(request, packed=True)
    format = check_format(format)
    content = check_shape(read_body(request), DeliveryKind.FILE)
    return _accept(request, DeliveryKind.FILE, content, format=format)


@router.get(
    "/deliveries/{uuid:receipt}",
    auth=KeyAuth(KeyScope.INGEST, KeyScope.READ),
    response={200: DeliveryOut, **FOUND},
    summary="What became of a delivery",
    tags=["deliveries"],
)
def delivery_read(request: HttpRequest, receipt: UUID) -> dict[str, Any]:
    """State, what was stored of it, and what could not be read and where."""
    delivery = delivery_by_receipt(project=_key(request).project, receipt=receipt)
    if delivery is None:
        raise Http404("No such delivery in this project.")
    return _delivery_out(delivery)


@router.get(
    "/runs/{path:run_id}/rounds",
    auth=may_read,
    response={200: RoundsOut, **READABLE},
    summary="Read rounds",
)
def rounds_read(
    request: HttpRequest,
    run_id: str,
    first: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
    limit: Annotated[int, Query(ge=1, le=ROUNDS_AT_ONCE)] = 50,
) -> dict[str, Any]:
    """Rounds from number `first` on, masked, in the native format. Leaves a line in the
    audit log.
    """
    run = readable_run(request, run_id)
    last = first + limit - 1
    detail = {"first": first, "last": last}
    access_record(
        project=run.project,
        action=AccessAction.READ,
        run=run,
        api_key=_key(request),
        request=request,
        detail=detail,
    )
    written = native_run(run_window(run=run, first=first, last=last).record)
    return {
        "run_id": run.run_id,
        "rounds": written["rounds"],
        "messages": written.get("messages", []),
        "next": last + 1 if last < run.last_round else None,
    }


@router.get("/runs/{path:run_id}/export", auth=may_read, response=READABLE, summary="Export a run")
def run_export(
    request: HttpRequest,
    run_id: str,
    as_: Annotated[str, Query(alias="as")] = "",
    format: Annotated[str, Query(description="the same as `as`")] = "",
) -> HttpResponse:
    """The whole run, masked, as a file of the format `as`: `native` (everything), `openai` (chat
    messages), `otlp` (OTLP JSON), or `markdown`. Leaves a line in the audit log.
    """
    exporters = {exporter.name: exporter for exporter in all_exporters()}
    exporter = exporters.get(as_ or format or "native")
    if exporter is None:
        raise ProblemError(422, f"as is {', '.join(exporters)}.", at="as")
    run = readable_run(request, run_id)
    access_record(
        project=run.project,
        action=AccessAction.EXPORT,
        run=run,
        api_key=_key(request),
        request=request,
        detail={"as": exporter.name},
    )
    return HttpResponse(exporter.write(run_record(run=run)), content_type=exporter.media_type)


def run_of(request: HttpRequest, run_id: str) -> Run:
    """The run of the key's project by the sender's id; 404 for any other."""
    project = _key(request).project
    digest = run_digest(project.pk, run_id)
    runs = Run.objects.exclude(removal=Removal.RUN).select_related("project")
    try:
        return runs.get(project=project, digest=digest)
    except Run.DoesNotExist:
        raise Http404("No such run in this project.") from None


def readable_run(request: HttpRequest, run_id: str) -> Run:
    """The same, if its transcript may be read: keys are nobody's name, so no restricted run."""
    run = run_of(request, run_id)
    if run.restricted:
        raise ProblemError(403, "This run is restricted to readers who are named for it.")
    if run.text_removed_at is not None:
        raise ProblemError(410, removed_words(run))
    return run


def _accept(
    request: HttpRequest, kind: DeliveryKind, content: bytes, *, format: str, run_id: str = ""
) -> HttpResponse:
    """Take it in, then queue its id; answers 202 once it cannot be lost."""
    key = _key(request)
    idempotency_key = request.headers.get("Idempotency-Key", "").strip()
    if len(idempotency_key) > MAX_IDEMPOTENCY_KEY:
        raise ProblemError(400, f"At most {MAX_IDEMPOTENCY_KEY} characters.", at="Idempotency-Key")
    try:
        delivery, is_new = delivery_accept(
            project=key.project,
            kind=kind,
            content=content,
            format=format,
            run_id=run_id,
            idempotency_key=idempotency_key,
            api_key=key,
        )
    except IdempotencyError as error:
        raise ProblemError(422, str(error), at="Idempotency-Key") from None
    if is_new:
        queue = enqueue_drain if is_small(delivery) else partial(enqueue, DELIVER)
        transaction.on_commit(partial(queue, str(delivery.pk)))
    answer = {"receipt": str(delivery.pk), "state": delivery.state, "repeated": not is_new}
    # Below the address that was asked, wherever a proxy has put it.
    root = request.path[: request.path.index("/api/v1/") + len("/api/v1/")]
    return HttpResponse(
        msgspec.json.encode(answer),
        status=202,
        content_type="application/json",
        headers={"Location": f"{root}deliveries/{delivery.pk}"},
    )


def _key(request: HttpRequest) -> ApiKey:
    key: ApiKey = request.auth  # type: ignore[attr-defined]
    return key


def _delivery_out(delivery: Delivery) -> dict[str, Any]:
    outcome = delivery.outcome
    return {
        "receipt": delivery.pk,
        "kind": delivery.kind,
        "state": delivery.state,
        "format": delivery.format,
        "size": delivery.size,
        "received_at": delivery.received_at,
        "finished_at": delivery.finished_at,
        "attempts": delivery.attempts,
        "error": delivery.error,
        "at": delivery.error_at,
        "runs": outcome.get("runs", []),
        "runs_stored": outcome.get("runs_stored", 0),
        "runs_gone": outcome.get("runs_gone", 0),
        "problems": outcome.get("problems", []),
        "problems_found": outcome.get("problems_found", int(bool(delivery.error))),
    }
