"""Settings: the audit log."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.pages import project_page
from transcripts.selectors import access as selectors

LINES_PER_PAGE = 100


@require_safe
@project_page(May.ADMINISTER)
def access_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Who read or changed what, newest first, by person, action or run."""
    who = request.GET.get("who", "").replace("\x00", "").strip()
    action = request.GET.get("action", "")
    run = request.GET.get("run", "")
    before = request.GET.get("before", "")
    lines = selectors.access_list(
        project=reader.project,
        who=who,
        action=action if action in AccessAction.values else "",
        run_pk=int(run) if _is_id(run) else None,
        before=int(before) if _is_id(before) else None,
        limit=LINES_PER_PAGE + 1,
    )
    kept = {"who": who, "action": action, "run": run}
    older = ""
    if len(lines) > LINES_PER_PAGE:
        lines = lines[:LINES_PER_PAGE]
        said = {name: value for name, value in kept.items() if value}
        older = urlencode({**said, "before": str(lines[-1].pk)})
    context = {
        "section": "settings",
        "entries": lines,
        "actions": AccessAction.choices,
        "older": older,
        **kept,
    }
    return render(request, "transcripts/access_list.html", context)


def _is_id(text: str) -> bool:
    return text.isdecimal() and len(text) <= 18
