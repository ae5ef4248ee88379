"""The API of test cases: made, fetched, and what came of them.

Adds to the router of `transcripts`. Nothing that is sent here is run: a case is data, and replay is
on the sender's side.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Status

from analysis.case_schemas import CaseListOut, CaseMadeOut, CaseResultOut
from analysis.cases.case import schema_of_cases, write_case
from analysis.cases.export_pytest import export_zip, file_name
from analysis.cases.harness import CaseError
from analysis.cases.junit_read import read_junit
from analysis.cases.result import read_result, schema_of_results
from analysis.models import CaseResult, ResultSource, TestCase
from analysis.pages.case_versions import version_rows
from analysis.selectors.cases import (
    case_by_name,
    case_document,
    case_documents,
    case_is_restricted,
    case_list,
    definition_of,
)
from analysis.services.case_making import case_of_run
from analysis.services.case_results import case_result_add
from analysis.services.cases import case_take_in
from transcripts.api import FOUND, REFUSED, may_read, readable_run, router
from transcripts.api_keys import KeyAuth
from transcripts.audit import access_record
from transcripts.bodies import read_body
from transcripts.choices import AccessAction, KeyScope
from transcripts.masking import MaskingError
from transcripts.models import ApiKey
from transcripts.problems import ProblemError
from transcripts.schemas import ProblemOut

may_report = KeyAuth(KeyScope.RESULTS)
CASES_AT_ONCE = 200
UNFIT = {413: ProblemOut, 422: ProblemOut}
Version = Annotated[str, Query(max_length=200, description="For JUnit XML; JSON says it itself.")]
Agent = Annotated[str, Query(max_length=500)]


def _body(schema: dict[str, Any], *media: str) -> dict[str, Any]:
    """The part of the OpenAPI document on a body that is read by its own schema."""
    content: dict[str, Any] = {"application/json": {"schema": schema}}
    content |= {kind: {"schema": {"type": "string"}} for kind in media}
    return {"requestBody": {"required": True, "content": content}}


def _schema(title: str, description: str) -> dict[str, Any]:
    return {"type": "object", "title": title, "description": description}


CASE_BODY = _body(_schema("agentdesk.case/1", schema_of_cases()["title"]))
RESULT_BODY = _body(
    _schema("agentdesk.case-result/1", schema_of_results()["title"]), "application/xml"
)


@router.post(
    "/runs/{path:run_id}/case",
    auth=may_report,
    response={200: CaseMadeOut, 201: CaseMadeOut, **FOUND, 410: ProblemOut, 422: ProblemOut},
    summary="Make a test case of a run",
    tags=["test cases"],
)
def run_case(request: HttpRequest, run_id: str, again: bool = False) -> Status[dict[str, Any]]:
    """What must hold is what the run's findings ask for. A run that has a test case gets no second
    one, unless it is asked for `again`.
    """
    run = readable_run(request, run_id)
    try:
        case, is_new = case_of_run(run=run, again=again)
    except CaseError as error:
        raise ProblemError(422, f"{str(error).capitalize()}.") from None
    if is_new:
        _note(request, AccessAction.CASE, case, did="made")
    return Status(201 if is_new else 200, _made(case, is_new=is_new))


@router.get(
    "/cases",
    auth=may_read,
    response={200: CaseListOut, **REFUSED, 422: ProblemOut},
    summary="List test cases",
    tags=["test cases"],
)
def cases_list(
    request: HttpRequest,
    agent: Agent = "",
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    limit: Annotated[int, Query(ge=1, le=CASES_AT_ONCE)] = 50,
) -> dict[str, Any]:
    """Test cases of the key's project, newest first."""
    cases = case_list(project=_key(request).project, agent=_plain(agent))
    if before is not None:
        cases = cases.filter(number__lt=before)
    page = list(cases[: limit + 1])
    shown = page[:limit]
    last = _last_states(shown)
    return {
        "cases": [case_out(case, last.get(case.pk)) for case in shown],
        "next": shown[-1].number if len(page) > limit else None,
    }


@router.post(
    "/cases",
    auth=may_report,
    response={200: CaseMadeOut, 201: CaseMadeOut, **REFUSED, **UNFIT},
    summary="Take in a test case file",
    tags=["test cases"],
    openapi_extra=CASE_BODY,
)
def case_send(request: HttpRequest) -> Status[dict[str, Any]]:
    """A `*.case.json`; it is checked, masked and kept. One whose `case_id` is that of a case here
    with the same recording is that case's next revision.
    """
    project = _key(request).project
    try:
        case, is_new = case_take_in(project=project, content=read_body(request))
    except CaseError as error:
        raise ProblemError(422, f"{error}.") from None
    except MaskingError:
        raise ProblemError(422, NOT_MASKED) from None
    _note(request, AccessAction.CASE, case, did="taken in" if is_new else "edited")
    return Status(201 if is_new else 200, _made(case, is_new=is_new))


@router.get(
    "/cases.zip",
    auth=may_read,
    response={**FOUND, 422: ProblemOut},
    summary="Fetch all test cases",
    tags=["test cases"],
)
def suite_read(request: HttpRequest, agent: Agent = "") -> HttpResponse:
    """All cases of the project, or of one agent, as a folder that pytest runs (zip), in the order
    of their numbers. Leaves a line in the audit log for each.
    """
    found = case_list(project=_key(request).project, agent=_plain(agent))
    cases = [case for case in found if not case_is_restricted(case)]
    if not cases:
        raise Http404("There is no test case.")
    for case in cases:
        _note(request, AccessAction.EXPORT, case, **{"as": "suite"})
    content = export_zip(case_documents(cases), folder="cases")
    return HttpResponse(content, content_type="application/zip")


@router.get(
    "/cases/{case_id}",
    auth=may_read,
    response={**FOUND, 422: ProblemOut},
    summary="Fetch a test case",
    tags=["test cases"],
)
def case_read(
    request: HttpRequest, case_id: str, as_: Annotated[str, Query(alias="as")] = "case"
) -> HttpResponse:
    """The whole case as its file (`as=case`), or as a folder that pytest runs (`as=zip`). Leaves a
    line in the audit log.
    """
    if as_ not in ("case", "zip"):
        raise ProblemError(422, "as is case or zip.", at="as")
    case = _case(request, case_id)
    if case_is_restricted(case):
        raise ProblemError(403, "This test case is of a run restricted to named readers.")
    _note(request, AccessAction.EXPORT, case, **{"as": as_})
    document = case_document(case)
    if as_ == "zip":
        content = export_zip([document], folder=file_name(case.key))
        return HttpResponse(content, content_type="application/zip")
    return HttpResponse(write_case(document), content_type="application/json")


@router.post(
    "/cases/{case_id}/results",
    auth=may_report,
    response={200: CaseResultOut, 201: CaseResultOut, **FOUND, **UNFIT},
    summary="Tell what came of a test case",
    tags=["test cases"],
    openapi_extra=RESULT_BODY,
)
def result_send(
    request: HttpRequest,
    case_id: str,
    code: Version = "",
    prompt: Version = "",
    model: Version = "",
) -> Status[dict[str, Any]]:
    """The harness's result (`--post` sends it, `--json` prints it), or JUnit XML. Every text is
    masked. The same result again changes nothing.
    """
    case = _case(request, case_id)
    content = read_body(request)
    said = {name: value for name, value in
            (("code", code), ("prompt", prompt), ("model", model)) if value}  # fmt: skip
    is_xml = content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    try:
        if is_xml:
            told, source = read_junit(content, {case.key, case.name}, said), ResultSource.JUNIT
        else:
            told, source = read_result(content), ResultSource.HARNESS
    except CaseError as error:
        raise ProblemError(422, f"{error}.") from None
    with transaction.atomic():
        try:
            result, is_new = case_result_add(
                case=case, result=told, content=content, source=source, api_key=_key(request)
            )
        except MaskingError:
            raise ProblemError(422, NOT_MASKED) from None
        if is_new:
            _note(request, AccessAction.CASE, case, did=f"result: {result.state}")
    return Status(201 if is_new else 200, _result_out(case, result, is_new=is_new))


NOT_MASKED = "A text of it could not be masked, so nothing was kept."


def case_out(case: TestCase, last: str | None) -> dict[str, Any]:
    """A case as lists show it, without the title where it is restricted."""
    return {
        "case": case.name,
        "case_id": case.key,
        "title": None if case_is_restricted(case) else case.title,
        "agent": case.agent,
        "revision": case.revision,
        "rounds": case.rounds,
        "run_id": case.run.run_id if case.run else None,
        "incident": case.incident.name if case.incident else None,
        "made_at": case.made_at,
        "last_result": last,
    }


def _made(case: TestCase, *, is_new: bool) -> dict[str, Any]:
    kinds = [entry["kind"] for entry in definition_of(case)["expect"]]
    return {**case_out(case, _last_states([case]).get(case.pk)), "made": is_new, "expect": kinds}


def _result_out(case: TestCase, result: CaseResult, *, is_new: bool) -> dict[str, Any]:
    rows = version_rows(case)
    names = ("prompt_version", "model_version", "code_version")
    mine = [getattr(result, name) for name in names]
    row = next((each for each in rows if list(each.names.values()) == mine
                and each.revision == result.revision), None)  # fmt: skip
    return {
        "case": case.name,
        "state": result.state,
        "runs": result.runs,
        "passed": result.passed,
        "repeated": not is_new,
        "revision": result.revision,
        "against_accepted": (row.words if row and not row.accepted else "") or None,
    }


def _last_states(cases: list[TestCase]) -> dict[int, str]:
    latest = CaseResult.objects.filter(case__in=cases).order_by("case_id", "-received_at", "-pk")
    return dict(latest.distinct("case_id").values_list("case_id", "state"))


def _case(request: HttpRequest, name: str) -> TestCase:
    case = case_by_name(project=_key(request).project, name=name)
    if case is None:
        raise Http404("No such test case in this project.")
    return case


def _plain(agent: str) -> str:
    if "\0" in agent:
        raise ProblemError(422, "NUL is in no name.", at="agent")
    return agent


def _note(request: HttpRequest, action: AccessAction, case: TestCase, **detail: Any) -> None:
    access_record(
        project=case.project,
        action=action,
        run=case.run,
        api_key=_key(request),
        request=request,
        detail={"case": case.name, **detail},
    )


def _key(request: HttpRequest) -> ApiKey:
    key: ApiKey = request.auth  # type: ignore[attr-defined]
    return key
