"""One run: its legal hold, and its erasure."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from analysis.selectors.keeping import erasure_weight, incidents_holding
from analysis.services.keeping import HELD
from transcripts.access import May, Reader, removed_words, run_for
from transcripts.choices import AccessAction
from transcripts.maskers import typed_masker
from transcripts.models import Run
from transcripts.pages import note_access, project_page
from transcripts.services.erasing import runs_erase
from transcripts.services.keeping_undo import HELD as HELD_CHANGED
from transcripts.services.keeping_undo import hold_told
from transcripts.services.removal import HeldError
from transcripts.services.retention import run_hold, run_release
from transcripts.undo import change_offer

WHY_LENGTH = 300


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def run_keeping(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Hold a run, lift its hold, or erase it: the `action` of a POST."""
    run = run_for(reader.project, pk, "hold")
    error = ""
    if request.method == "POST":
        act = {"hold": _hold, "release": _release, "erase": _erase}.get(
            request.POST.get("action", "")
        )
        error = act(request, reader, run) if act else "There is no such action."
        if not error:
            there = request.POST.get("action") != "erase"
            name = "analysis:run_keeping" if there else "analysis:run_list"
            return redirect(
                name, *((reader.project.slug, run.pk) if there else (reader.project.slug,))
            )
    context: dict[str, Any] = {
        "section": "runs",
        "run": run,
        "hold": getattr(run, "hold", None),
        "incidents": incidents_holding(run=run),
        "confirmation": _confirmation(run),
        "removed": removed_words(run),
        "weight": erasure_weight(project=reader.project, runs=Run.objects.filter(pk=run.pk)),
        "why_length": WHY_LENGTH,
        "error": error,
    }
    return render(request, "analysis/run_keeping.html", context, status=422 if error else 200)


@transaction.atomic
def _hold(request: HttpRequest, reader: Reader, run: Run) -> str:
    why = request.POST.get("why", "").replace("\x00", "").strip()
    if not why or len(why) > WHY_LENGTH:
        return f"Say why it must be kept, in {WHY_LENGTH} characters at most."
    masked = typed_masker(reader.project).text(why)
    before = run.hold.why if hasattr(run, "hold") else "not on hold"
    told = hold_told(run)
    run_hold(run=run, why=masked, user=reader.user)
    detail = {"before": before, "after": f"on hold: {masked}"}
    note_access(request, reader, AccessAction.HOLD, run, detail)
    words = "The run is on legal hold: nothing removes it until that is lifted."
    _tell(request, reader, run, told, words)
    return ""


@transaction.atomic
def _release(request: HttpRequest, reader: Reader, run: Run) -> str:
    before = f"on hold: {run.hold.why}" if hasattr(run, "hold") else ""
    told = hold_told(run)
    if run_release(run=run):
        detail = {"before": before, "after": "not on hold"}
        note_access(request, reader, AccessAction.HOLD, run, detail)
        _tell(request, reader, run, told, "The hold is lifted.")
    return ""


def _tell(
    request: HttpRequest, reader: Reader, run: Run, before: dict[str, Any] | None, words: str
) -> None:
    """Say what was done, with a way back."""
    noted = {"run": run.pk, "before": before, "after": hold_told(run)}
    change_offer(request=request, reader=reader, kind=HELD_CHANGED, before=noted, words=words)


def _erase(request: HttpRequest, reader: Reader, run: Run) -> str:
    if request.POST.get("confirm", "").strip() != _confirmation(run):
        return "Type the id exactly as it stands there."
    try:
        runs_erase(runs=[run], held=HELD, user=reader.user, request=request)
    except HeldError as error:
        return str(error)
    messages.success(request, "The run is erased. What is sent of it again is not kept.")
    return ""


def _confirmation(run: Run) -> str:
    """What has to be typed to erase the run."""
    return str(run.ticket_id or run.run_id).strip()
