"""Where one is mentioned, and saying that one has read it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from analysis.selectors.annotations import mentions_of
from analysis.services import mentions as services
from analysis.services.mentions import READ
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.pages import note_access, project_page
from transcripts.undo import change_offer


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def mention_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Where one is mentioned, what one has not read first."""
    rows = mentions_of(reader=reader)
    for row in rows:
        if row.annotation.run is not None:
            detail = {"annotations": True}
            note_access(request, reader, AccessAction.READ, row.annotation.run, detail)
    context = {
        "section": "mentions",
        "rows": rows,
        "unread": sum(row.read_at is None for row in rows),
    }
    return render(request, "analysis/mention_list.html", context)


@require_POST
@project_page(May.READ_TRANSCRIPTS)
def mentions_read(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Note that one has read a `mention`, or all."""
    asked = request.POST.getlist("mention")
    pks = [int(pk) for pk in asked if pk.isdecimal() and len(pk) <= 18] if asked else None
    found = services.mentions_read(reader=reader, pks=pks)
    if found:
        words = "Marked as read."
        if len(found) > 1:
            words = f"{len(found):,} mentions are marked as read."
        noted = {"mentions": found}
        change_offer(request=request, reader=reader, kind=READ, before=noted, words=words)
    else:
        messages.info(request, "You have read them all.")
    return redirect("analysis:mention_list", reader.project.slug)
