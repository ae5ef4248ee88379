"""What each tool did, over many runs."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from analysis.selectors.insights import agents_of
from analysis.selectors.tools import ToolRow, tool_rows
from analysis.selectors.windows import CHOICES, Window
from transcripts.access import May, Reader
from transcripts.pages import project_page

COLUMNS = (
    ("calls", "Calls"),
    ("failed", "Failed"),
    ("hidden", "Hidden errors"),
    ("empty", "Empty"),
    ("p50", "Median"),
    ("p95", "95% within"),
    ("findings", "Findings"),
)
SORTS: dict[str, Callable[[ToolRow], float]] = {
    "calls": lambda row: row.calls,
    "failed": lambda row: row.failed / row.calls,
    "hidden": lambda row: row.hidden / row.calls,
    "empty": lambda row: row.empty / row.calls,
    "p50": lambda row: row.p50 or 0,
    "p95": lambda row: row.p95 or 0,
    "findings": lambda row: row.findings,
}


@require_safe
@project_page(May.SEE_RUNS)
def tool_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """The tools of a project: calls, failures, empty answers, times, findings."""
    window = Window.of(request.GET.get("days", ""))
    agent = request.GET.get("agent", "").replace("\x00", "")[:300]
    sort = request.GET.get("sort", "")
    sort = sort if sort in SORTS else "findings"
    rows = tool_rows(project=reader.project, window=window, agent=agent)
    context = {
        "section": "tools",
        "rows": sorted(rows, key=SORTS[sort], reverse=True),
        "sort": sort,
        "columns": COLUMNS,
        "window": window,
        "windows": CHOICES,
        "kept": window.runs_query(agent),
        "agent": agent,
        "agents": agents_of(project=reader.project),
    }
    return render(request, "analysis/tool_list.html", context)
