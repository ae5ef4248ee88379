"""Settings: the audit log."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.models import AccessEntry
from transcripts.pages import project_page

LINES_PER_PAGE = 100


@require_GET
@project_page(May.ADMINISTER)
def access_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Who read or changed what, newest first, by person, action or run."""
    entries = AccessEntry.objects.filter(project_id=reader.project.pk)
    who = request.GET.get("who", "").replace("\x00", "").strip()
    action = request.GET.get("action", "")
    run = request.GET.get("run", "")
    before = request.GET.get("before", "")
    if who:
        entries = entries.filter(who__icontains=who)
    if action in AccessAction.values:
        entries = entries.filter(action=action)
    if _is_id(run):
        entries = entries.filter(run_pk=int(run))
    if _is_id(before):
        entries = entries.filter(pk__lt=int(before))
    # Lines are only added, so that ids ascend with time.
    lines = list(entries.order_by("-pk")[: LINES_PER_PAGE + 1])
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
