"""What became of each accepted request or file; quarantine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from transcripts.access import May, Reader
from transcripts.choices import AccessAction, DeliveryState
from transcripts.models import Delivery, Run
from transcripts.pages import note_access, project_page
from transcripts.selectors import deliveries as selectors
from transcripts.services import deliveries

ROWS_PER_PAGE = 50


@require_safe
@project_page(May.ADMINISTER)
def delivery_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Deliveries by state, newest first, quarantine first of all when there is any."""
    counts = selectors.delivery_counts(project=reader.project)
    usual = "all" if not counts.get(DeliveryState.QUARANTINED) else DeliveryState.QUARANTINED
    state = request.GET.get("state", usual)
    rows = selectors.delivery_list(
        project=reader.project,
        state=DeliveryState(state) if state in DeliveryState.values else None,
        before=_place(request.GET.get("before", "")),
        limit=ROWS_PER_PAGE + 1,
    )
    context = {
        "section": "settings",
        "state": state,
        "states": [
            ("quarantined", "in quarantine", counts.get(DeliveryState.QUARANTINED, 0)),
            ("accepted", "waiting", counts.get(DeliveryState.ACCEPTED, 0)),
            ("stored", "stored", None),
            ("discarded", "discarded", counts.get(DeliveryState.DISCARDED, 0)),
            ("all", "all", None),
        ],
        "deliveries": rows[:ROWS_PER_PAGE],
        "older": _cursor(rows[ROWS_PER_PAGE - 1]) if len(rows) > ROWS_PER_PAGE else "",
    }
    return render(request, "transcripts/delivery_list.html", context)


@require_safe
@project_page(May.SEE_RUNS)
def delivery_detail(request: HttpRequest, reader: Reader, pk: UUID) -> HttpResponse:
    """One delivery by its receipt."""
    delivery = _delivery(reader, pk)
    context = {
        "section": "settings" if reader.may(May.ADMINISTER) else "send",
        "delivery": delivery,
        "outcomes": _outcomes(delivery),
        "problems": delivery.outcome.get("problems", []),
        "problems_found": delivery.outcome.get("problems_found", 0),
        "runs_stored": delivery.outcome.get("runs_stored", 0),
        "runs_gone": delivery.outcome.get("runs_gone", 0),
    }
    return render(request, "transcripts/delivery_detail.html", context)


@require_POST
@project_page(May.ADMINISTER)
def delivery_retry(request: HttpRequest, reader: Reader, pk: UUID) -> HttpResponse:
    """Let a worker try a delivery in quarantine again."""
    return _decided(request, reader, pk, deliveries.delivery_retry, "retried", "is tried again")


@require_POST
@project_page(May.ADMINISTER)
def delivery_discard(request: HttpRequest, reader: Reader, pk: UUID) -> HttpResponse:
    """Give a delivery in quarantine up."""
    return _decided(request, reader, pk, deliveries.delivery_discard, "discarded", "is discarded")


def _decided(
    request: HttpRequest,
    reader: Reader,
    pk: UUID,
    decide: Callable[..., None],
    decision: str,
    words: str,
) -> HttpResponse:
    delivery = _delivery(reader, pk)
    try:
        decide(delivery=delivery)
    except deliveries.NotWaitingError as error:
        messages.error(request, str(error))
    else:
        note_access(request, reader, AccessAction.QUARANTINE, None, {decision: str(pk)})
        messages.success(request, f"Delivery {str(pk)[:8]} {words}.")
    return redirect("transcripts:delivery_detail", reader.project.slug, pk)


def _delivery(reader: Reader, pk: UUID) -> Delivery:
    found = selectors.delivery_by_receipt(project=reader.project, receipt=pk)
    if found is None:
        raise Http404("No such delivery in this project.")
    return found


def _outcomes(delivery: Delivery) -> list[tuple[dict[str, Any], str]]:
    """For each run of the delivery its name and page, and what was new in it."""
    said = delivery.outcome.get("runs", [])
    pks = [run["pk"] for run in said]
    there = set(
        Run.objects.filter(project=delivery.project_id, pk__in=pks).values_list("pk", flat=True)
    )
    rows = []
    for run in said:
        pk = run["pk"]
        words = [
            f"{run[name]} round{'' if run[name] == 1 else 's'} {name}"
            for name in ("new", "folded", "replaced", "late")
            if run.get(name)
        ]
        row = {"name": run["run_id"], "pk": pk if pk in there else None}
        rows.append((row, ", ".join(words) or "nothing new"))
    return rows


def _cursor(delivery: Delivery) -> str:
    return f"{delivery.received_at.isoformat()} {delivery.pk}"


def _place(cursor: str) -> tuple[datetime, UUID] | None:
    """Arrival and id of the last delivery seen; None for what is no cursor."""
    moment, _, pk = cursor.replace("\x00", "").partition(" ")
    try:
        at = datetime.fromisoformat(moment)
        return (at, UUID(pk)) if at.tzinfo else None
    except ValueError:
        return None
