"""Two runs side by side, aligned by what they ask for."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentdesk.htmx import template_for
from analysis.pages.run_compare import Comparison, StoredRun
from analysis.selectors.cases import replays_of_run
from analysis.selectors.comparing import runs_to_compare
from analysis.words import verdict_label
from transcripts.access import May, Reader, run_for
from transcripts.choices import AccessAction
from transcripts.models import Run
from transcripts.pages import note_access, project_page

REPLAYS_SHOWN = 6


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def run_compare(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """The run beside `?with=`, from just before they first differ, or from pair `?from=`; without
    another run, those that are worth it, and what replays of its test cases said.
    """
    run = run_for(reader.project, pk, "verdict")
    reader.require_read(run)
    other = _number(request.GET.get("with", ""))
    context = {"section": "runs", "run": run, "may_read": True}
    if other is None:
        note_access(request, reader, AccessAction.READ, run, {"compare": True})
        context["replays"] = replays_of_run(run=run, limit=REPLAYS_SHOWN)
        context["found"] = [
            (words, [(each, *_label(each)) for each in rows])
            for words, rows in runs_to_compare(run=run, reader=reader)
        ]
        return render(request, "analysis/run_compare_choose.html", context)
    beside = run_for(reader.project, other, "verdict")
    reader.require_read(beside)
    comparison = Comparison(StoredRun(run), StoredRun(beside))
    whole = "whole" in request.GET
    asked = _number(request.GET.get("from", ""))
    start = comparison.start if asked is None else asked
    lines, following = comparison.lines(start, whole=whole)
    for each in (run, beside):
        note_access(request, reader, AccessAction.READ, each, {"compare": True, "from": start})
    context |= {
        "beside": beside,
        "heads": [(each, *_label(each)) for each in (run, beside)],
        "comparison": comparison,
        "counts": comparison.counts,
        "start": start,
        "lines": lines,
        "following": following,
        "whole": whole,
    }
    template = template_for(request, "analysis/run_compare.html", "pairs")
    return render(request, template, context)


def _label(run: Run) -> tuple[str, str]:
    verdict = getattr(run, "verdict", None)
    return verdict_label(verdict.kind if verdict else None)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 18 else None
