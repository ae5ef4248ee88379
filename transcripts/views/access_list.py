"""Settings: the audit log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from transcripts.access import May, Reader
from transcripts.audit import access_record
from transcripts.audit_words import detail_changes, detail_words
from transcripts.choices import AccessAction, Removal
from transcripts.models import AccessEntry, Run
from transcripts.pages import project_page
from transcripts.selectors import access as selectors
from transcripts.selectors.access import AccessFilter

LINES_PER_PAGE = 100


@require_safe
@project_page(May.ADMINISTER)
def access_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Who read or changed what, newest first; found by person, action, run, days and address."""
    wanted = AccessFilter.of(request.GET)
    before = request.GET.get("before", "")
    lines = selectors.access_list(
        project=reader.project,
        wanted=wanted,
        before=int(before) if before.isdecimal() and len(before) <= 18 else None,
        limit=LINES_PER_PAGE + 1,
    )
    older = ""
    if len(lines) > LINES_PER_PAGE:
        lines = lines[:LINES_PER_PAGE]
        older = urlencode({**wanted.said, "before": str(lines[-1].pk)})
    run = (
        Run.objects.filter(project=reader.project, pk=int(wanted.run)).first()
        if wanted.run
        else None
    )
    context = {
        "section": "settings",
        "entries": told(lines),
        "actions": sorted(AccessAction.choices, key=lambda choice: choice[1]),
        "older": older,
        "wanted": wanted,
        "of_run": run,
    }
    return render(request, "transcripts/access_list.html", context)


@require_safe
@project_page(May.ADMINISTER)
def access_export(request: HttpRequest, reader: Reader) -> StreamingHttpResponse:
    """The lines that match as JSONL, oldest first, up to the one that says they were taken."""
    wanted = AccessFilter.of(request.GET)
    own = access_record(
        project=reader.project,
        action=AccessAction.EXPORT,
        user=reader.user,
        request=request,
        detail={"audit_log": dict(wanted.said) or True},
    )
    lines = selectors.access_all(project=reader.project, wanted=wanted, until=own.pk)
    name = f"audit-{reader.project.slug}.jsonl"
    return StreamingHttpResponse(
        _written(lines),
        content_type="application/jsonl",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def told(entries: list[AccessEntry]) -> list[dict[str, Any]]:
    """Lines with their details in words, and whether their run is still there. One query."""
    pks = {entry.run_pk for entry in entries if entry.run_pk}
    runs = Run.objects.filter(pk__in=pks).exclude(removal=Removal.RUN)
    there = set(runs.values_list("pk", flat=True)) if pks else set()
    return [
        {
            "line": entry,
            "there": entry.run_pk in there,
            "words": detail_words(entry.detail),
            "changes": detail_changes(entry.detail),
        }
        for entry in entries
    ]


def _written(entries: Iterator[AccessEntry]) -> Iterator[str]:
    for entry in entries:
        yield (
            json.dumps(
                {
                    "id": entry.pk,
                    "at": entry.at.isoformat(),
                    "who": entry.who,
                    "user_id": entry.user_id,
                    "api_key_id": entry.api_key_id,
                    "action": entry.action,
                    "what": str(entry.what),
                    "run_pk": entry.run_pk,
                    "address": entry.address,
                    "detail": entry.detail,
                },
                ensure_ascii=False,
            )
            + "\n"
        )
