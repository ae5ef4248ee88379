"""Who has read a run."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentdesk.htmx import template_for
from transcripts.access import May, Reader, run_for
from transcripts.pages import project_page
from transcripts.selectors.access import AccessFilter, access_list
from transcripts.views.access_list import told

LINES = 50


@require_safe
@project_page(May.ADMINISTER)
def run_readers(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """The latest audit lines of one run."""
    run = run_for(reader.project, pk)
    wanted = AccessFilter(run=str(run.pk))
    context = {
        "section": "runs",
        "run": run,
        "entries": told(access_list(project=reader.project, wanted=wanted, limit=LINES)),
        "lines": LINES,
    }
    template = template_for(request, "transcripts/run_readers.html", "entries")
    return render(request, template, context)
