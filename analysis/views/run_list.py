"""The run list."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentdesk.htmx import is_swap, template_for
from analysis.detectors import all_detectors
from analysis.pages import run_lists
from analysis.pages.strip_drawing import strip_paths
from analysis.words import detector_title, verdict_label
from transcripts.access import May, Reader
from transcripts.choices import Ending
from transcripts.models import Run
from transcripts.pages import project_page


@require_safe
@project_page(May.SEE_RUNS)
def run_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Runs, flagged first: what happened to whom, with the filters in the address."""
    wanted = run_lists.RunFilter.of(request.GET)
    page = run_lists.run_page(
        project=reader.project,
        wanted=wanted,
        before=request.GET.get("before", ""),
        after=request.GET.get("after", ""),
        reader=reader,
    )
    counts = run_lists.run_counts(project=reader.project, wanted=wanted, reader=reader)
    context = {
        "section": "runs",
        "swap": is_swap(request),
        "wanted": wanted,
        "page": page,
        "rows": [_row(run, reader) for run in page.runs],
        "tabs": [
            (tab, title, counts[tab], wanted.on(tab).text) for tab, title in run_lists.TABS.items()
        ],
        "shown_tab": run_lists.TABS[wanted.tab],
        "count": counts[wanted.tab],
        "count_up_to": run_lists.COUNT_UP_TO,
        "options": _options(reader, wanted),
        "has_runs": counts["all"] > 0 or bool(wanted.narrowing),
    }
    return render(request, template_for(request, "analysis/run_list.html", "run-list"), context)


def _row(run: Run, reader: Reader) -> dict[str, object]:
    verdict = getattr(run, "verdict", None)
    label, tone = verdict_label(verdict.kind if verdict else None)
    return {
        "run": run,
        "verdict": verdict,
        "label": label,
        "tone": tone,
        "may_read": reader.may_read(run),
        "title": run.title if reader.may_read(run) else "",
        "strip": strip_paths(verdict.strip) if verdict else None,
    }


def _options(
    reader: Reader, wanted: run_lists.RunFilter
) -> list[tuple[str, str, str, list[tuple[str, str]]]]:
    """The filters as (name, label, chosen value, [(value, words), …]); only those that offer a
    choice.
    """
    found = run_lists.filter_options(project=reader.project)
    detectors = sorted(detector.name for detector in all_detectors())
    offered: list[tuple[str, str, list[tuple[str, str]]]] = [
        ("agent", "Agent", [(name, name) for name in found["agent"]]),
        ("ending", "Ending", [(value, str(words)) for value, words in Ending.choices]),
        ("finding", "Finding", [(name, detector_title(name)) for name in detectors]),
        ("tool", "Tool at fault", [(name, name) for name in found["tool"]]),
        ("model", "Model", [(name, name) for name in found["model"]]),
        ("prompt", "Prompt", [(name, name) for name in found["prompt"]]),
    ]
    filters = []
    for name, label, choices in offered:
        chosen = getattr(wanted, name)
        if chosen and chosen not in dict(choices):
            choices = [(chosen, chosen), *choices]
        if choices:
            filters.append((name, label, chosen, choices))
    return filters
