"""Find in one run."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from agentdesk.htmx import template_for
from transcripts.access import May, Reader, run_for
from transcripts.choices import AccessAction
from transcripts.pages import note_access, project_page
from transcripts.selectors import find

LONGEST = 200


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def run_find(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Where in all rounds of the run the words stand, with counts."""
    run = run_for(reader.project, pk)
    reader.require_read(run)
    words = request.GET.get("q", "").strip()[:LONGEST]
    start = (
        int(asked) if (asked := request.GET.get("start", "")).isdecimal() and len(asked) < 9 else 0
    )
    hits = find.run_find(run=run, words=words, start=start)
    if words:
        # The words themselves may be what must not be kept; that one searched is what is told.
        note_access(request, reader, AccessAction.FIND, run, {"texts": hits.texts})
    kept = {"list": request.GET["list"]} if "list" in request.GET else {}
    context = {
        "section": "runs",
        "run": run,
        "words": words,
        "found": hits,
        "left": hits.texts - hits.reached,
        "before": max(hits.start - find.SHOWN_HITS, 0) if hits.start else None,
        "address": reverse("analysis:run_detail", args=[reader.project.slug, run.pk]),
        "kept": urlencode(kept),
    }
    return render(request, template_for(request, "analysis/run_find.html", "found"), context)
