"""The queue: runs that were handed off to people."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from agentdesk.htmx import is_swap, template_for
from analysis.selectors import hand_offs as selectors
from analysis.services.hand_offs import CHANGED, hand_off_done, hand_off_take
from transcripts.access import May, Reader, run_for
from transcripts.choices import AccessAction, Ending
from transcripts.pages import note_access, project_page
from transcripts.undo import change_note, change_tell


@require_safe
@project_page(May.SEE_RUNS)
def hand_off_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Runs that wait for a person, latest first; `?tab=` shows one's own, or those done."""
    place = {name: request.GET.get(name, "") for name in ("before", "after")}
    context = _context(request, reader, request.GET.get("tab", ""), **place)
    return render(request, template_for(request, "analysis/hand_off_list.html", "queue"), context)


@require_POST
@project_page(May.TRIAGE)
def hand_off_change(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Take a run on, say that it is done, or that it is not (`action`)."""
    run = run_for(reader.project, pk)
    action = request.POST.get("action", "")
    before = None
    if run.ending != Ending.HANDED_OFF:
        messages.error(request, "This run was not handed off.")
    elif action == "take":
        before = hand_off_take(run=run, user=reader.user)
    elif action in ("done", "again"):
        before = hand_off_done(run=run, user=reader.user, done=action == "done")
    if before is not None:
        note_access(request, reader, AccessAction.TRIAGE, run, {"hand_off": action})
        said = {"take": "is yours now", "done": "is done", "again": "waits again"}[action]
        change = change_note(reader=reader, kind=CHANGED, before=before)
        change_tell(request, f"{run.ticket_id or run.run_id} {said}.", change)
    tab = request.POST.get("tab", "")
    if not is_swap(request):
        address = reverse("analysis:hand_off_list", args=[reader.project.slug])
        return redirect(
            f"{address}?{urlencode({'tab': tab})}" if tab in selectors.TABS else address
        )
    context = _context(request, reader, tab) | {"told": True}
    return render(request, "analysis/hand_off_list.html#queue", context)


def _context(
    request: HttpRequest, reader: Reader, tab: str, *, before: str = "", after: str = ""
) -> dict[str, Any]:
    tab = tab if tab in selectors.TABS else "waiting"
    page = selectors.hand_off_page(
        project=reader.project, tab=tab, user=reader.user, before=before, after=after
    )
    targets = selectors.handed_to(page.rows)
    return {
        "section": "queue",
        "swap": is_swap(request),
        "tab": tab,
        "tabs": list(selectors.TABS.items()),
        "page": page,
        "rows": [
            {
                "run": run,
                "verdict": getattr(run, "verdict", None),
                "triage": getattr(run, "triage", None),
                "may_read": reader.may_read(run),
                "title": run.title if reader.may_read(run) else "",
                "to": targets.get(run.pk, ""),
            }
            for run in page.rows
        ],
        "may_triage": reader.may(May.TRIAGE),
    }
