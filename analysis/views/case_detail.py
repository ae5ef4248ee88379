"""One test case: what must hold, what came of it, how to run it; accepted, deleted, downloaded."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from agentdesk.htmx import template_for
from analysis.case_undo import ACCEPTED, DELETED
from analysis.cases.case import write_case
from analysis.cases.export_pytest import file_name
from analysis.models import CaseResult
from analysis.pages.case_details import case_context, run_commands
from analysis.selectors.cases import case_document, case_was_deleted, may_read_case
from analysis.services.cases import case_accept as accept
from analysis.services.cases import case_delete as delete
from analysis.views.case_list import zip_answer
from analysis.views.cases import case_for, note_case, require_case
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.pages import project_page
from transcripts.undo import change_note, change_tell


@require_safe
@project_page(May.SEE_RUNS)
def case_detail(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """One case. `?by=` groups its results by prompt, model or code."""
    if case_was_deleted(project=reader.project, number=number):
        # Where an Undo leads back to a case that it took away, it has said so already.
        if not len(messages.get_messages(request)):
            messages.info(request, f"CASE-{number} was deleted.")
        return redirect("analysis:case_list", reader.project.slug)
    case = case_for(reader, number)
    origin = request.build_absolute_uri("/").rstrip("/")
    context = {
        "section": "cases",
        **case_context(case, reader, request.GET.get("by", "")),
        "may_engineer": reader.may(May.ENGINEER) and may_read_case(reader, case),
        "commands": run_commands(case=case, origin=origin),
    }
    if context["may_read"]:
        note_case(request, reader, AccessAction.READ, case)
    return render(request, template_for(request, "analysis/case_detail.html", "results"), context)


@require_safe
@project_page(May.ENGINEER)
def case_file(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """The case as a file: one JSON, or with `?as=zip` a folder that pytest runs."""
    case = case_for(reader, number)
    require_case(reader, case)
    packed = request.GET.get("as") == "zip"
    note_case(request, reader, AccessAction.EXPORT, case, **{"as": "pytest" if packed else "case"})
    name = file_name(case.key)
    if packed:
        return zip_answer([case], name)
    return HttpResponse(
        write_case(case_document(case)),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}.case.json"'},
    )


@require_POST
@project_page(May.ENGINEER)
def case_accept(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """Accept the version of one `result`; with none, accept no version."""
    case = case_for(reader, number)
    require_case(reader, case)
    said = request.POST.get("result", "")
    result = None
    if said:
        pk = int(said) if said.isascii() and said.isdigit() and len(said) < 19 else 0
        result = CaseResult.objects.filter(case=case, pk=pk).first()
        if result is None:
            raise Http404("No such result of this test case.")
    before = {
        "case": case.number,
        "result": case.accepted_id,
        "after": result.pk if result else None,
    }
    accept(case=case, result=result, user=reader.user)
    note_case(request, reader, AccessAction.CASE, case, did="accepted" if result else "took back")
    change = change_note(reader=reader, kind=ACCEPTED, before=before)
    words = "Later versions are compared with this one." if result else "No version is accepted."
    change_tell(request, words, change)
    return redirect("analysis:case_detail", reader.project.slug, number)


@require_POST
@project_page(May.ENGINEER)
def case_delete(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """Delete a case; it can be brought back for a day."""
    case = case_for(reader, number)
    require_case(reader, case)
    delete(case=case)
    note_case(request, reader, AccessAction.CASE, case, did="deleted")
    change = change_note(reader=reader, kind=DELETED, before={"case": case.number})
    change_tell(request, f"{case} is deleted.", change)
    return redirect("analysis:case_list", reader.project.slug)
