"""The run list."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from agentdesk.htmx import is_swap, template_for
from analysis.lists import columns as list_columns
from analysis.lists.counts import Count, run_counts
from analysis.lists.filters import SORTS, TABS, RunFilter
from analysis.lists.options import FIRST, LABELS, chips_of, filters_of
from analysis.lists.pages import RunPage, run_page
from analysis.lists.rows import rows_of
from analysis.lists.searching import Search, search_of
from analysis.models import SavedView
from analysis.services.saved_views import columns_of, default_view, may_change, views_of
from transcripts.access import May, Reader
from transcripts.choices import AccessAction, Role
from transcripts.export import all_exporters
from transcripts.pages import note_access, project_page
from transcripts.selectors.search import runs_behind

# Filters that are typed, with the kind of their field.
TYPED = {
    "cost_from": "decimal",
    "cost_to": "decimal",
    "rounds_from": "numeric",
    "rounds_to": "numeric",
    "incident": "text",
    "ticket": "text",
    "label": "text",
}
TIMES = ("from", "to")


@require_safe
@project_page(May.SEE_RUNS)
def run_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Runs, flagged first: what happened to whom, with all that is asked in the address."""
    if not request.GET and not is_swap(request):
        default = default_view(reader=reader)
        if default is not None:
            address = reverse("analysis:run_list", args=[reader.project.slug])
            return redirect(f"{address}?{default.query or 'tab=flagged'}&view={default.pk}")
    wanted = RunFilter.of(request.GET)
    search = search_of(project=reader.project, wanted=wanted, reader=reader)
    page = run_page(
        project=reader.project,
        wanted=wanted,
        before=request.GET.get("before", ""),
        after=request.GET.get("after", ""),
        reader=reader,
        search=search,
    )
    context = {
        **_list(reader, wanted, page, search),
        **_head(request, reader, wanted, search),
        "section": "runs",
        "swap": is_swap(request),
    }
    if search is not None and search.asked:
        # The words may be what must not be kept; that one searched, and what was shown, is told.
        shown = [row["run"].pk for row in context["rows"] if row["line"]]
        note_access(request, reader, AccessAction.FIND, None, {"shown": shown})
    response = render(request, template_for(request, "analysis/run_list.html", "run-list"), context)
    if is_swap(request) and "before" not in request.GET and "after" not in request.GET:
        address = reverse("analysis:run_list", args=[reader.project.slug])
        response["HX-Push-Url"] = f"{address}?{wanted.text or 'tab=flagged'}"
    return response


def _list(
    reader: Reader, wanted: RunFilter, page: RunPage, search: Search | None
) -> dict[str, Any]:
    counts = run_counts(project=reader.project, wanted=wanted, reader=reader, search=search)
    count = counts[wanted.tab]
    rows = rows_of(runs=page.runs, reader=reader, search=search)
    return {
        "wanted": wanted,
        "search": search,
        "page": page,
        "rows": rows,
        "examples": any(run.is_example for run in page.runs),
        "tabs": [
            (tab, title, _told(counts[tab], tab, page, wanted), wanted.on(tab).text)
            for tab, title in TABS.items()
        ],
        "shown_tab": TABS[wanted.tab],
        "behind": runs_behind(project=reader.project) if search and search.terms else 0,
        "count": _told(count, wanted.tab, page, wanted),
        "has_runs": counts["all"].number != 0 or bool(wanted.narrowing),
    }


def _told(count: Count, tab: str, page: RunPage, wanted: RunFilter) -> str:
    """A count in words; where it was not taken, what the page shows of it."""
    if count.number is not None:
        return str(count)
    if tab != wanted.tab:
        return ""
    return f"over {len(page.runs)}" if page.older or page.newer else str(len(page.runs))


def _head(
    request: HttpRequest, reader: Reader, wanted: RunFilter, search: Search | None
) -> dict[str, Any]:
    """What stands above the rows: filters, views, columns, and what can be done to chosen runs."""
    filters = filters_of(project=reader.project, wanted=wanted)
    views = views_of(reader=reader)
    named = request.GET.get("view", "")
    view = next((each for each in views if str(each.pk) == named), None)
    return {
        "first_filters": [each for each in filters if each.name in FIRST],
        "more_filters": [each for each in filters if each.name not in FIRST],
        "typed": [
            (name, LABELS[name], getattr(wanted, name), kind) for name, kind in TYPED.items()
        ],
        "times": [
            (name, LABELS[name], wanted.from_ if name == "from" else wanted.to) for name in TIMES
        ],
        "more_set": sum(name not in (*FIRST, "q") for name in wanted.narrowing),
        "chips": chips_of(wanted=wanted, filters=filters),
        "sorts": [
            (name, words) for name, words in SORTS.items() if name != "best" or search is not None
        ],
        "views": [(each, may_change(reader=reader, view=each)) for each in views],
        "view": view,
        "view_changed": view is not None and view.query != wanted.text,
        "roles": Role.choices,
        **_columns(reader, view),
        "may_triage": reader.may(May.TRIAGE),
        "may_export": reader.may(May.ENGINEER),
        "may_search": reader.may(May.READ_TRANSCRIPTS),
        "owners": next((each.choices for each in filters if each.name == "owner"), []),
        "formats": [exporter.name for exporter in all_exporters()],
    }


def _columns(reader: Reader, view: SavedView | None) -> dict[str, Any]:
    chosen = (view.columns if view else []) or columns_of(reader=reader)
    return {
        "columns": [(name, list_columns.COLUMNS[name]) for name in chosen],
        "all_columns": [
            (name, title, name in chosen) for name, title in list_columns.COLUMNS.items()
        ],
        "numbers": list_columns.NUMBERS,
    }
