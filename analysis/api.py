"""The API of what we think of runs: the list, one run, its findings.

Adds to the router of `transcripts`, since both answer at the same addresses.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query

import analysis.case_api  # noqa: F401 - its addresses go before that of a run
from analysis.lists.filters import UNFLAGGED, RunFilter
from analysis.lists.pages import CursorError, cursor_check, run_page
from analysis.lists.searching import search_of
from analysis.models import Verdict
from analysis.schemas import FindingListOut, RunListOut, RunOut
from analysis.selectors.findings import finding_list
from analysis.words import without_quotes
from transcripts.api import FOUND, REFUSED, may_read, router, run_of
from transcripts.audit import access_record
from transcripts.choices import AccessAction, Ending
from transcripts.models import Run
from transcripts.problems import ProblemError
from transcripts.schemas import ProblemOut
from transcripts.selectors.search import Line

RUNS_AT_ONCE = 200
Order = Literal["best", "newest", "oldest", "cost", "rounds", "wasted"]
Text = Annotated[str, Query(max_length=500)]
SEARCH = (
    'words of a transcript, `"an exact phrase"`, an identifier, `part*`, `-without`; or the '
    "beginning of a ticket or run id. Restricted runs are found by their ids alone."
)
ORDER = "best, newest, oldest, cost, rounds or wasted; best where there is a `q`, else newest"


@router.get(
    "/runs",
    auth=may_read,
    response={200: RunListOut, **REFUSED, 422: ProblemOut},
    summary="List runs",
)
def runs_list(
    request: HttpRequest,
    agent: Text = "",
    ending: Ending | None = None,
    finding: Annotated[str, Query(max_length=500, description="a detector's name")] = "",
    tool: Annotated[str, Query(max_length=500, description="the tool of a finding")] = "",
    model: Text = "",
    prompt_version: Text = "",
    label: Annotated[str, Query(max_length=500, description="name=value")] = "",
    ticket: Text = "",
    q: Annotated[str, Query(max_length=500, description=SEARCH)] = "",
    flagged: bool | None = None,
    verdict: Annotated[str, Query(max_length=20, description="the kind of the verdict")] = "",
    called: Annotated[str, Query(max_length=500, description="a tool that was called")] = "",
    stop: Annotated[str, Query(max_length=20, description="a plain stop reason of a round")] = "",
    code_version: Text = "",
    cost_from: Decimal | None = None,
    cost_to: Decimal | None = None,
    rounds_from: Annotated[int | None, Query(ge=0, lt=10**9)] = None,
    rounds_to: Annotated[int | None, Query(ge=0, lt=10**9)] = None,
    received_from: datetime | None = None,
    received_to: datetime | None = None,
    restricted: bool | None = None,
    incomplete: bool | None = None,
    sub: Annotated[bool | None, Query(description="started by another run")] = None,
    incident: Annotated[str, Query(max_length=20, description="such as INC-14")] = "",
    sort: Annotated[Order | None, Query(description=ORDER)] = None,
    cursor: Text = "",
    limit: Annotated[int, Query(ge=1, le=RUNS_AT_ONCE)] = 50,
) -> dict[str, Any]:
    """Runs of the key's project with their verdicts; of a search, with the line that holds it."""
    if label and "=" not in label:
        raise ProblemError(422, "label is name=value.", at="label")
    said = {"agent": agent, "finding": finding, "tool": tool, "model": model, "ticket": ticket}
    said |= {"label": label, "q": q, "verdict": verdict, "called": called, "stop": stop}
    said |= {"code": code_version, "incident": incident}
    for parameter, text in {**said, "prompt_version": prompt_version}.items():
        if "\0" in text:
            raise ProblemError(422, "NUL is in no run.", at=parameter)
    try:
        cursor_check(cursor)
    except CursorError as error:
        raise ProblemError(422, str(error), at="cursor") from None
    measured = {
        "cost_from": cost_from,
        "cost_to": cost_to,
        "rounds_from": rounds_from,
        "rounds_to": rounds_to,
        "from_": received_from and received_from.isoformat(),
        "to": received_to and received_to.isoformat(),
        "sort": sort,
    }
    yes_no = {"restricted": restricted, "incomplete": incomplete, "sub": sub}
    wanted = RunFilter(
        tab={True: "flagged", False: UNFLAGGED, None: "all"}[flagged],
        ending=ending or "",
        prompt=prompt_version,
        **said,
        **{name: "" if value is None else str(value) for name, value in measured.items()},
        **{name: {True: "yes", False: "no", None: ""}[value] for name, value in yes_no.items()},
    )
    return _page_out(request, wanted, cursor, limit)


def _page_out(request: HttpRequest, wanted: RunFilter, cursor: str, limit: int) -> dict[str, Any]:
    """A page of runs, with the lines that a search found, which leave a line in the audit log."""
    project = request.auth.project  # type: ignore[attr-defined]
    search = search_of(project=project, wanted=wanted, reader=None)
    page = run_page(
        project=project, wanted=wanted, reader=None, before=cursor, limit=limit, search=search
    )
    lines = search.lines(page.runs) if search else {}
    if search and search.asked:
        access_record(
            project=project,
            action=AccessAction.FIND,
            api_key=request.auth,  # type: ignore[attr-defined]
            request=request,
            detail={"shown": list(lines)},
        )
    rows = [{**run_out(run), "found": _found_out(lines.get(run.pk))} for run in page.runs]
    return {"runs": rows, "next": page.cursor}


def _found_out(line: Line | None) -> dict[str, Any] | None:
    if line is None:
        return None
    return {
        "round": line.round or None,
        "part": line.part,
        "line": "".join(text for text, _ in line.parts),
        "count": line.count,
    }


@router.get(
    "/runs/{path:run_id}/findings",
    auth=may_read,
    response={200: FindingListOut, **FOUND},
    summary="Read a run's findings",
)
def findings_read(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """What the detectors claim, each with its place and evidence. What they quote of a restricted
    run is left out; of any other, the reading leaves a line in the audit log.
    """
    run = run_of(request, run_id)
    findings = finding_list(run=run)
    if run.restricted:
        for finding in findings:
            finding.why = _told(finding.why, run)
    else:
        access_record(
            project=run.project,
            action=AccessAction.READ,
            run=run,
            api_key=request.auth,  # type: ignore[attr-defined]
            request=request,
            detail={"findings": len(findings)},
        )
    return {"run_id": run.run_id, "findings": findings}


@router.get(
    "/runs/{path:run_id}", auth=may_read, response={200: RunOut, **FOUND}, summary="Read a run"
)
def run_read(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """One run with its verdict, without its transcript."""
    return run_out(run_of(request, run_id))


def run_out(run: Run) -> dict[str, Any]:
    """A run with its verdict as the API shows it."""
    verdict: Verdict | None = getattr(run, "verdict", None)
    return {
        **{name: getattr(run, name) for name in _AS_IS},
        "title": None if run.restricted else run.title,
        "labels": dict(run.labels),
        "rounds": run.round_count,
        "calls": run.call_count,
        "masked": run.mask_hits,
        "transcript_removed_at": run.text_removed_at,
        "verdict": _told(verdict.sentence, run) if verdict else None,
        "flagged": verdict.flagged if verdict else None,
        "first_odd_round": _first_odd(verdict, run) if verdict else None,
    }


def _told(sentence: str, run: Run) -> str:
    """A sentence of the analysis, without what it quotes where the run is restricted."""
    return without_quotes(sentence) if run.restricted else sentence


def _first_odd(verdict: Verdict, run: Run) -> dict[str, Any] | None:
    if verdict.odd_round is None:
        return None
    return {
        "round": verdict.odd_round,
        "call": verdict.odd_call,
        "detector": verdict.odd_detector,
        "tool": verdict.odd_tool,
        "why": _told(verdict.odd_why, run),
        "recovered_at": verdict.recovered_at,
    }


_AS_IS = (
    "run_id",
    "ticket_id",
    "agent",
    "provider",
    "model",
    "prompt_version",
    "code_version",
    "started_at",
    "ended_at",
    "received_at",
    "ending",
    "restricted",
    "tokens_in",
    "tokens_out",
    "cost",
    "currency",
    "duration_ms",
    "completeness",
)
