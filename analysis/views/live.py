"""Runs in progress."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentdesk.htmx import template_for
from analysis.selectors.live import live_runs
from transcripts.access import May, Reader
from transcripts.pages import project_page


@require_safe
@project_page(May.SEE_RUNS)
def live_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Runs in progress with their latest round and warnings; the list asks for itself again."""
    rows, count = live_runs(reader=reader)
    for row in rows:
        row.may_read = reader.may_read(row.run)  # type: ignore[attr-defined]
    context = {"section": "live", "rows": rows, "count": count}
    return render(request, template_for(request, "analysis/live_list.html", "live-runs"), context)
