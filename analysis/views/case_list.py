"""The test cases of a project: the list, the suite as a file, and cases from files."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from analysis.case_undo import EDITED, MADE
from analysis.cases.export_pytest import export_zip
from analysis.cases.harness import CaseError
from analysis.models import TestCase
from analysis.pages.case_details import run_commands
from analysis.pages.case_lists import case_rows
from analysis.selectors.cases import (
    case_agents,
    case_documents,
    may_read_case,
)
from analysis.selectors.cases import (
    case_list as cases_of,
)
from analysis.services.cases import LARGEST_FILE, case_take_in
from analysis.views.cases import note_case
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.masking import MaskingError
from transcripts.pages import project_page
from transcripts.undo import change_note, change_tell

CASES_PER_PAGE = 50


@require_safe
@project_page(May.SEE_RUNS)
def case_list(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Test cases, newest first; of one agent with `?agent=`."""
    agent = request.GET.get("agent", "").replace("\x00", "")
    cases = cases_of(project=reader.project, agent=agent)
    page = Paginator(cases, CASES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "section": "cases",
        "rows": case_rows(list(page.object_list), reader),
        "page": page,
        "total": page.paginator.count,
        "agent": agent,
        "agents": case_agents(project=reader.project),
        "may_engineer": reader.may(May.ENGINEER),
        "commands": run_commands(case=None, origin=_origin(request), agent=agent),
    }
    return render(request, "analysis/case_list.html", context)


@require_safe
@project_page(May.ENGINEER)
def case_suite(request: HttpRequest, reader: Reader) -> HttpResponse:
    """All cases that this person may read, or those of one agent, as a zip that pytest runs."""
    agent = request.GET.get("agent", "").replace("\x00", "")
    cases = [c for c in cases_of(project=reader.project, agent=agent) if may_read_case(reader, c)]
    if not cases:
        messages.info(request, "There is no test case to download.")
        return redirect("analysis:case_list", reader.project.slug)
    for case in cases:
        note_case(request, reader, AccessAction.EXPORT, case, **{"as": "suite"})
    return zip_answer(cases, "cases")


@require_POST
@project_page(May.ENGINEER)
def case_upload(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Take in a case file. It is data: checked, masked and kept."""
    sent = request.FILES.get("file")
    back = reverse("analysis:case_list", args=[reader.project.slug])
    if sent is None or sent.size is None:
        messages.error(request, "Choose a file.")
        return redirect(back)
    try:
        content = sent.read(LARGEST_FILE + 1)
        case, is_new = case_take_in(project=reader.project, content=content, author=reader.user)
    except CaseError as error:
        messages.error(request, f"This file is no test case: {error}.")
        return redirect(back)
    except MaskingError:
        messages.error(request, "This file could not be masked, so nothing of it was kept.")
        return redirect(back)
    note_case(request, reader, AccessAction.CASE, case, did="taken in" if is_new else "edited")
    before: dict[str, Any] = {"case": case.number}
    if is_new:
        change = change_note(reader=reader, kind=MADE, before=before)
        change_tell(request, f"{case} was made of the file.", change)
    elif case.revision > 1:
        before |= {"revision": case.revision - 1, "made": case.revision}
        change = change_note(reader=reader, kind=EDITED, before=before)
        change_tell(request, f"{case} is as the file says.", change)
    return redirect("analysis:case_detail", reader.project.slug, case.number)


def zip_answer(cases: list[TestCase], folder: str) -> HttpResponse:
    """Cases as a zip that pytest runs."""
    return HttpResponse(
        export_zip(case_documents(cases), folder=folder),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{folder}.zip"'},
    )


def _origin(request: HttpRequest) -> str:
    return request.build_absolute_uri("/").rstrip("/")
