"""How to send a first run, a key and a test for it, and the runs that arrive meanwhile."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from transcripts.access import May, Reader
from transcripts.choices import AccessAction, DeliveryKind, KeyScope
from transcripts.pages import note_access, project_page
from transcripts.queueing import enqueue_drain
from transcripts.selectors.deliveries import arrivals
from transcripts.services.api_keys import key_create
from transcripts.services.deliveries import delivery_accept
from transcripts.services.live_test import live_test_begin
from transcripts.snippets import check_run, snippets

# The page asks every three seconds, for a quarter of an hour.
MOST_ASKED = 300
# So much earlier than the page was made: a run may arrive while it is on its way.
EARLIER = timedelta(seconds=1)


@require_safe
@project_page(May.SEE_RUNS)
def send_runs(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Copyable ways to send runs, with this server's own address filled in."""
    return render(request, "transcripts/send_runs.html", _ways(request, reader))


@require_POST
@project_page(May.ADMINISTER)
def send_key(request: HttpRequest, reader: Reader) -> HttpResponse:
    """The same page with a key that was made for it, shown this once, in every snippet."""
    scopes = [KeyScope.INGEST]
    key, text = key_create(
        project=reader.project, name="made on Send runs", scopes=scopes, user=reader.user
    )
    note_access(request, reader, AccessAction.KEY, None, {"made": key.prefix, "scopes": key.scopes})
    return render(request, "transcripts/send_runs.html", _ways(request, reader, key=text))


@require_POST
@project_page(May.ENGINEER)
def send_test(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Send a tiny run by the way that all take, and follow it."""
    content = check_run(f"test-{secrets.token_hex(4)}")
    delivery, _ = delivery_accept(
        project=reader.project,
        kind=DeliveryKind.RUNS,
        content=content,
        format="native",
        user=reader.user,
    )
    transaction.on_commit(lambda: enqueue_drain(str(delivery.pk)))
    address = reverse("transcripts:receipts", args=[reader.project.slug])
    return redirect(f"{address}?r={delivery.pk}")


@require_POST
@project_page(May.ENGINEER)
def send_live(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Send a tiny run round by round, and go where one can watch it."""
    live_test_begin(project=reader.project, user=reader.user)
    messages.success(request, "A test run is on its way, with a round every three seconds.")
    return redirect("analysis:live_list", reader.project.slug)


@require_safe
@project_page(May.SEE_RUNS)
def send_arrived(request: HttpRequest, reader: Reader) -> HttpResponse:
    """What has arrived since the page was opened; a part of that page."""
    since = _moment(request.GET.get("since", ""))
    count = request.GET.get("asked", "0")
    asked = int(count) if count.isdecimal() and len(count) < 6 else MOST_ASKED
    return render(request, "transcripts/_arrived.html", _arrived(reader, since=since, asked=asked))


def _ways(request: HttpRequest, reader: Reader, *, key: str = "") -> dict[str, Any]:
    origin = request.build_absolute_uri("/").rstrip("/")
    return {
        "section": "send",
        "snippets": snippets(origin=origin, slug=reader.project.slug, key=key),
        "new_key": key,
        "may_send": reader.may(May.ENGINEER),
        **_arrived(reader, since=timezone.now() - EARLIER, asked=0),
    }


def _arrived(reader: Reader, *, since: datetime, asked: int) -> dict[str, Any]:
    found = arrivals(project=reader.project, since=since)
    address = reverse("transcripts:send_arrived", args=[reader.project.slug])
    stamp = since.isoformat().replace("+00:00", "Z")
    return {
        "arrived": found,
        "asks_again": asked < MOST_ASKED,
        "again": f"{address}?since={stamp}&asked={asked + 1}",
    }


def _moment(text: str) -> datetime:
    """A time of the page's own; now for what is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return timezone.now()
    return found if found.tzinfo else timezone.now()
