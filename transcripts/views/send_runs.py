"""How to send a first run."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from transcripts.access import May, Reader
from transcripts.pages import project_page


@require_safe
@project_page(May.SEE_RUNS)
def send_runs(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Copyable ways to send runs, with this server's own address filled in."""
    context = {
        "section": "send",
        "origin": request.build_absolute_uri("/").rstrip("/"),
        "slug": reader.project.slug,
        "may_send": reader.may(May.ENGINEER),
    }
    return render(request, "transcripts/send_runs.html", context)
