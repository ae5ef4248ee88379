"""What became of each accepted request or file; quarantine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from agentdesk.htmx import template_for
from transcripts.access import May, Reader
from transcripts.choices import AccessAction, DeliveryState
from transcripts.models import Delivery, Run, User
from transcripts.pages import note_access, project_page
from transcripts.selectors import deliveries as selectors
from transcripts.selectors.deliveries import deliveries_by_receipt
from transcripts.services import deliveries

ROWS_PER_PAGE = 50
MOST_RECEIPTS = 100
DECIDED_AT_ONCE = 500
# What is done, what the audit log notes, and what the person is told.
DECISIONS: dict[str, tuple[Callable[..., None], str, str]] = {
    "retry": (deliveries.delivery_retry, "retried", "tried again"),
    "retry_all": (deliveries.delivery_retry, "retried", "tried again"),
    "discard": (deliveries.delivery_discard, "discarded", "discarded"),
}
# A page asks every two seconds, for five minutes.
MOST_ASKED = 150


@require_safe
@project_page(May.ADMINISTER)
def delivery_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Deliveries by state, newest first, quarantine first of all when there is any."""
    counts = selectors.delivery_counts(project=reader.project)
    usual = "all" if not counts.get(DeliveryState.QUARANTINED) else DeliveryState.QUARANTINED
    state = request.GET.get("state", usual)
    if state not in DeliveryState.values:
        state = "all"
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
            ("held", "to be confirmed", counts.get(DeliveryState.HELD, 0)),
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
    found = deliveries_by_receipt(project=reader.project, receipts=[pk], sender=_sender(reader))
    if not found:
        raise _not_there(reader)
    context = {
        "section": "settings" if reader.may(May.ADMINISTER) else "send",
        **fate(found[0]),
        **_polling(request, found),
    }
    template = template_for(request, "transcripts/delivery_detail.html", "fate")
    return render(request, template, context)


@require_safe
@project_page(May.SEE_RUNS)
def receipts(request: HttpRequest, reader: Reader) -> HttpResponse:
    """What becomes of several deliveries that were sent together; follows them to their end."""
    asked = [_uuid(text) for text in request.GET.getlist("r")[:MOST_RECEIPTS]]
    known = [pk for pk in asked if pk is not None]
    if not known:
        return redirect("transcripts:send_runs", reader.project.slug)
    found = deliveries_by_receipt(project=reader.project, receipts=known, sender=_sender(reader))
    if not found:
        raise _not_there(reader)
    waiting = sum(delivery.state == DeliveryState.ACCEPTED for delivery in found)
    context = {
        "section": "send",
        "fates": [fate(delivery) for delivery in found],
        "waiting": waiting,
        "runs": sum(delivery.outcome.get("runs_stored", 0) for delivery in found),
        **_polling(request, found),
    }
    return render(request, template_for(request, "transcripts/receipts.html", "fates"), context)


def fate(delivery: Delivery) -> dict[str, Any]:
    """What became of a delivery, for its page."""
    return {
        "delivery": delivery,
        "outcomes": _outcomes(delivery),
        "problems": delivery.outcome.get("problems", []),
        "problems_found": delivery.outcome.get("problems_found", 0),
        "runs_stored": delivery.outcome.get("runs_stored", 0),
        "runs_gone": delivery.outcome.get("runs_gone", 0),
        "history": [
            {**tried, "when": datetime.fromtimestamp(tried["at"], UTC) if tried["at"] else None}
            for tried in reversed(delivery.history)
        ],
    }


def _sender(reader: Reader) -> User | None:
    """Whose deliveries a person may see: an administrator all, everybody else their own."""
    return None if reader.may(May.ADMINISTER) else reader.user


def _not_there(reader: Reader) -> Exception:
    """The same for what is not there and for what is another's, so that nothing can be guessed."""
    if reader.may(May.ADMINISTER):
        return Http404("No such delivery in this project.")
    return PermissionDenied("You see what became of the files that you sent yourself.")


def _polling(request: HttpRequest, found: list[Delivery]) -> dict[str, Any]:
    """Whether the page asks again, and where; it gives up after `MOST_ASKED` times."""
    count = request.GET.get("asked", "0")
    asked = int(count) if count.isdecimal() and len(count) < 6 else 0
    waits = any(delivery.state == DeliveryState.ACCEPTED for delivery in found)
    query = request.GET.copy()
    query["asked"] = str(asked + 1)
    return {
        "asks_again": waits and asked < MOST_ASKED,
        "gave_up": waits and asked >= MOST_ASKED,
        "again": f"{request.path}?{query.urlencode()}",
    }


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


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


@require_POST
@project_page(May.ADMINISTER)
def deliveries_decide(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Retry or discard the chosen deliveries in quarantine, or retry all; DECIDED_AT_ONCE at
    most.
    """
    decision = request.POST.get("decision", "")
    receipts = [found for text in request.POST.getlist("delivery") if (found := _uuid(text))]
    if decision == "retry_all":
        receipts = selectors.quarantined_receipts(project=reader.project, limit=DECIDED_AT_ONCE)
    if decision not in DECISIONS:
        return HttpResponseBadRequest(f"decision is {', '.join(DECISIONS)}.")
    decide, note, words = DECISIONS[decision]
    done = 0
    for receipt in receipts[:DECIDED_AT_ONCE]:
        delivery = selectors.delivery_by_receipt(project=reader.project, receipt=receipt)
        if delivery is None:
            continue
        try:
            decide(delivery=delivery)
        except deliveries.NotWaitingError:
            continue
        _note(request, reader, receipt, note, delivery)
        done += 1
    count = f"{done} deliver{'y is' if done == 1 else 'ies are'} {words}."
    messages.success(request, count if done else "Nothing was chosen that is in quarantine.")
    return redirect("transcripts:delivery_list", reader.project.slug)


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
        _note(request, reader, pk, decision, delivery)
        messages.success(request, f"Delivery {str(pk)[:8]} {words}.")
    return redirect("transcripts:delivery_detail", reader.project.slug, pk)


def _note(request: HttpRequest, reader: Reader, pk: UUID, did: str, delivery: Delivery) -> None:
    """Only what was set aside is decided on; the delivery says what it is now."""
    detail = {did: str(pk), "before": DeliveryState.QUARANTINED.value, "after": delivery.state}
    note_access(request, reader, AccessAction.QUARANTINE, None, detail)


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
