"""A test case changed, and the states that it was in before."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.case_editing.editor import CaseEditor
from analysis.case_undo import EDITED
from analysis.cases.harness import CaseError
from analysis.models import Incident, TestCase
from analysis.pages.case_forms import (
    definition_changes,
    definition_text,
    editor_for_case,
    tool_names,
)
from analysis.selectors.cases import case_revisions, definition_of
from analysis.services.cases import case_edit as edit
from analysis.services.cases import case_return as go_back
from analysis.views.case_make import form_answer, form_context, read_editor
from analysis.views.cases import case_for, note_case, require_case
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.masking import MaskingError
from transcripts.pages import project_page
from transcripts.undo import change_note, change_tell


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ENGINEER)
def case_edit(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """The form of a case; previews or saves it on POST, or adds a row."""
    case = case_for(reader, number)
    require_case(reader, case)
    note_case(request, reader, AccessAction.READ, case, **{"for": "an edit"})
    tools = tool_names(json.loads(case.recording))
    context: dict[str, Any] = {"section": "cases", "case": case}
    template = "analysis/case_edit.html"
    if request.method != "POST":
        more = form_context(editor_for_case(case), None, tools=tools)
        return render(request, template, context | more)
    editor = CaseEditor.sent(request.POST)
    do = request.POST.get("do", "")
    if do.startswith("add-"):
        editor.add(do.removeprefix("add-"), request.POST.get("kind", ""))
        return form_answer(request, template, context, editor, None, tools=tools)
    incident, definition = read_editor(reader, editor)
    if definition is not None and do == "preview":
        context["preview"] = definition_text(definition)
        context["changes"] = definition_changes(definition_of(case), definition)
        context["edits"] = True
    elif definition is not None:
        try:
            return _save(request, reader, case, definition, incident)
        except (CaseError, MaskingError) as error:
            context["refused"] = str(error)
    return form_answer(request, template, context, editor, None, tools=tools)


def _save(
    request: HttpRequest,
    reader: Reader,
    case: TestCase,
    definition: dict[str, Any],
    incident: Incident | None,
) -> HttpResponse:
    before = case.revision
    saved = edit(case=case, definition=definition, author=reader.user, incident=incident)
    _tell(request, reader, saved, before)
    return redirect("analysis:case_detail", reader.project.slug, case.number)


@require_safe
@project_page(May.ENGINEER)
def case_history(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """All states of a case, the latest first, each with what it changed."""
    case = case_for(reader, number)
    require_case(reader, case)
    note_case(request, reader, AccessAction.READ, case, **{"for": "its history"})
    revisions = case_revisions(case=case)
    definitions = {each.number: json.loads(each.definition) for each in revisions}
    rows = [
        {
            "revision": each,
            "changes": definition_changes(
                definitions.get(each.number - 1, {}), definitions[each.number]
            )
            if each.number > 1
            else [],
            "is_latest": each.number == case.revision,
        }
        for each in revisions
    ]
    context = {"section": "cases", "case": case, "rows": rows}
    return render(request, "analysis/case_history.html", context)


@require_POST
@project_page(May.ENGINEER)
def case_return(request: HttpRequest, reader: Reader, number: int, revision: int) -> HttpResponse:
    """Make a state of before the latest again."""
    case = case_for(reader, number)
    require_case(reader, case)
    before = case.revision
    try:
        saved = go_back(case=case, number=revision, author=reader.user)
    except CaseError as error:
        messages.error(request, f"{error}.")
        return redirect("analysis:case_history", reader.project.slug, number)
    _tell(request, reader, saved, before)
    return redirect("analysis:case_detail", reader.project.slug, number)


def _tell(request: HttpRequest, reader: Reader, case: TestCase, before: int) -> None:
    """Say what was saved, with an Undo; nothing changed is said too."""
    if case.revision == before:
        messages.info(request, f"{case} says the same as before.")
        return
    note_case(request, reader, AccessAction.CASE, case, did="edited", revision=case.revision)
    noted = {"case": case.number, "revision": before, "made": case.revision}
    change = change_note(reader=reader, kind=EDITED, before=noted)
    change_tell(request, f"{case} is saved as revision {case.revision}.", change)
