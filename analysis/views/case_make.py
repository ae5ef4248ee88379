"""A test case made of a run, on a page: suggestions of its findings, each on or off."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from agentdesk.htmx import is_swap
from analysis.case_editing.editor import CaseEditor
from analysis.case_editing.words import kinds_offered
from analysis.case_undo import MADE
from analysis.cases.case import missing_for_replay
from analysis.cases.harness import CaseError
from analysis.models import Incident
from analysis.pages.case_forms import (
    definition_text,
    editor_for_run,
    tool_names,
)
from analysis.selectors.cases import cases_of_run, incident_named, incidents_of_run
from analysis.services.cases import case_make as make
from analysis.views.cases import note_case
from transcripts.access import May, Reader, run_for
from transcripts.choices import AccessAction
from transcripts.export.native import native_run
from transcripts.masking import MaskingError
from transcripts.masking.types import MaskedRun
from transcripts.models import Run
from transcripts.pages import note_access, project_page
from transcripts.selectors.record import run_record
from transcripts.undo import change_note, change_tell


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ENGINEER)
def case_make(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """The form of a new case of a run; previews or saves it on POST, or adds a row."""
    run = run_for(reader.project, pk)
    reader.require_read(run)
    masked = run_record(run=run)
    note_access(request, reader, AccessAction.READ, run, {"for": "a test case"})
    context: dict[str, Any] = {
        "section": "cases",
        "run": run,
        "missing": missing_for_replay(masked.record),
        "made": cases_of_run(run=run),
    }
    if context["missing"]:
        return render(request, "analysis/case_make.html", context)
    incidents = incidents_of_run(run=run)
    if request.method != "POST":
        editor = editor_for_run(run, masked, incidents[0] if incidents else None)
        return render(request, "analysis/case_make.html", context | form_context(editor, masked))
    editor = CaseEditor.sent(request.POST)
    do = request.POST.get("do", "")
    if do.startswith("add-"):
        editor.add(do.removeprefix("add-"), request.POST.get("kind", ""))
        return form_answer(request, "analysis/case_make.html", context, editor, masked)
    incident, definition = read_editor(reader, editor)
    if definition is not None and do == "preview":
        context["preview"] = definition_text(definition)
    elif definition is not None:
        try:
            return _save(request, reader, run, masked, definition, incident)
        except (CaseError, MaskingError) as error:
            context["refused"] = str(error)
    return form_answer(request, "analysis/case_make.html", context, editor, masked)


def _save(
    request: HttpRequest,
    reader: Reader,
    run: Run,
    masked: MaskedRun,
    definition: dict[str, Any],
    incident: Incident | None,
) -> HttpResponse:
    case = make(
        run=run, masked=masked, definition=definition, author=reader.user, incident=incident
    )
    note_case(request, reader, AccessAction.CASE, case, did="made")
    change = change_note(reader=reader, kind=MADE, before={"case": case.number})
    change_tell(request, f"{case} is made. Next: replay it against your loop.", change)
    return redirect("analysis:case_detail", reader.project.slug, case.number)


def read_editor(
    reader: Reader, editor: CaseEditor
) -> tuple[Incident | None, dict[str, Any] | None]:
    """The incident that is named, and the definition; None where something does not fit, which the
    editor then says.
    """
    valid = editor.is_valid()
    named = editor.head.cleaned_data.get("incident", "")
    incident = incident_named(project=reader.project, name=named) if named else None
    if named and incident is None:
        editor.head.add_error("incident", "There is no such incident in this project.")
        return None, None
    if not valid:
        return None, None
    definition = editor.definition()
    if incident is not None:
        definition["incident"] = incident.name
    return incident, definition


def form_context(editor: CaseEditor, masked: MaskedRun | None, **more: Any) -> dict[str, Any]:
    """The rows, and what is offered for their inputs."""
    tools = tool_names(native_run(masked.record)) if masked else more.pop("tools", [])
    return {
        "editor": editor,
        "tools": tools,
        "kinds": list(kinds_offered()),
        "sent": editor.head.is_bound,
        **more,
    }


def form_answer(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    editor: CaseEditor,
    masked: MaskedRun | None,
    **more: Any,
) -> HttpResponse:
    """The form again, as a part of the page for htmx; 422 where something does not fit."""
    context = context | form_context(editor, masked, **more)
    # A row that was added is not wrong yet.
    added = request.POST.get("do", "").partition("add-")[2]
    context |= {"added": added, "sent": not added}
    context["wrong"] = [] if added else list(editor.wrong())
    bad = context["wrong"] or context.get("refused")
    if is_swap(request):
        # htmx swaps no answer that says 422.
        return render(request, "analysis/_case_form.html", context)
    return render(request, template, context, status=422 if bad else 200)
