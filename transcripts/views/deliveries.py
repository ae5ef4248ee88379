"""What became of each accepted request or file; quarantine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET, require_POST

from transcripts.access import May, Reader
from transcripts.choices import AccessAction, DeliveryState
from transcripts.models import Delivery, Run
from transcripts.pages import note_access, project_page
from transcripts.services import deliveries

ROWS_PER_PAGE = 50


@require_GET
@project_page(May.ADMINISTER)
def delivery_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Deliveries by state, newest first, quarantine first of all when there is any."""
    of_project = Delivery.objects.filter(project=reader.project)
    # What is stored grows without end and is not counted.
    counts: dict[str, int] = dict(
        of_project.exclude(state=DeliveryState.STORED)
        .order_by()
        .values_list("state")
        .annotate(count=Count("pk"))
    )
    usual = "all" if not counts.get(DeliveryState.QUARANTINED) else DeliveryState.QUARANTINED
    state = request.GET.get("state", usual)
    shown = of_project.filter(state=state) if state in DeliveryState.values else of_project
    before = parse_datetime(request.GET.get("before", "").replace("\x00", "").replace(" ", "+"))
    if before is not None:
        shown = shown.filter(received_at__lt=before)
    rows = list(
        shown.select_related("api_key", "user")
        .defer("body")
        .order_by("-received_at", "-id")[: ROWS_PER_PAGE + 1]
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
        "older": rows[ROWS_PER_PAGE - 1].received_at.isoformat()
        if len(rows) > ROWS_PER_PAGE
        else "",
    }
    return render(request, "transcripts/delivery_list.html", context)


@require_GET
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
    found = Delivery.objects.filter(project=reader.project, pk=pk).defer("body").first()
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
