"""The run page and the parts of it that come later."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from agentdesk.htmx import is_swap, template_for
from analysis.lists.filters import RunFilter
from analysis.lists.pages import neighbours
from analysis.pages.fit import PART_ELEMENTS
from analysis.pages.run_costs import cost_fact, repeats_fact, window_fact
from analysis.pages.run_findings import finding_round_after, finding_round_before
from analysis.pages.run_pages import LISTED_FINDINGS, RunView
from analysis.selectors.incidents import incidents_of_runs
from analysis.selectors.runs import run_with_verdict
from analysis.words import verdict_label
from transcripts.access import May, Reader, removed_words, run_for
from transcripts.choices import AccessAction, Ending
from transcripts.models import Run
from transcripts.pages import note_access, project_page
from transcripts.run_facts import Fact, completeness_rows, run_facts

CHANGES_SHOWN = 30
FINDINGS_PER_PAGE = 100
# The latest words beside the rounds; the others are a link away.
LISTED_ANNOTATIONS = 6


@require_safe
@project_page(May.SEE_RUNS)
def run_detail(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """One run, opened at its first odd round, or at `?at=`; with `?report` only the rounds that
    findings name, to be printed.
    """
    run = run_with_verdict(project=reader.project, pk=pk)
    view = RunView(run, may_read=reader.may_read(run), unfolded="unfold" in request.GET)
    anchor = view.anchor(request.GET.get("at", ""))
    context = _frame(request, reader, view)
    report = "report" in request.GET
    context |= {
        "anchor": anchor,
        "report": report,
        "items": view.report() if report else view.around(anchor),
    }
    if reader.may_read(run):
        note_access(request, reader, AccessAction.READ, run, detail={"at": anchor})
    if not is_swap(request):
        context |= _whole_page(request, reader, view)
    return render(request, template_for(request, "analysis/run_detail.html", "rounds"), context)


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def run_part(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Rounds that come in the place of a line: `first`, `last`, and which end to `take` from."""
    span = _span(request)
    take = request.GET.get("take", "first")
    if span is None or take not in ("first", "last", "none"):
        return HttpResponseBadRequest(
            "first and last are round numbers; take is first, last or none."
        )
    run = run_with_verdict(project=reader.project, pk=pk)
    view = RunView(run, may_read=reader.may_read(run), unfolded="unfold" in request.GET)
    reader.require_read(run)
    note_access(request, reader, AccessAction.READ, run, detail={"first": span[0], "last": span[1]})
    context = _frame(request, reader, view) | {"items": view.part(*span, take, _room(request))}
    if not is_swap(request):
        return redirect(_address(reader, run, at=span[1] if take == "last" else span[0]))
    return render(request, "analysis/_items.html", context)


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def run_changes(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Of the rounds of a fold, only the results that changed."""
    span = _span(request)
    if span is None:
        return HttpResponseBadRequest("first and last are round numbers.")
    run = run_with_verdict(project=reader.project, pk=pk)
    reader.require_read(run)
    view = RunView(run, may_read=True)
    changes = view.changes(*span, CHANGES_SHOWN + 1)
    note_access(request, reader, AccessAction.READ, run, detail={"first": span[0], "last": span[1]})
    context = _frame(request, reader, view) | {
        "first": span[0],
        "last": span[1],
        "changes": changes[:CHANGES_SHOWN],
        "more": len(changes) > CHANGES_SHOWN,
    }
    template = template_for(request, "analysis/run_changes.html", "changes")
    return render(request, template, context)


@require_safe
@project_page(May.SEE_RUNS)
def run_live(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """How far a run that goes on has come since the page with `seen` rounds was made."""
    run = run_for(reader.project, pk)
    seen = request.GET.get("seen", "")
    if not (seen.isdecimal() and len(seen) < 10):
        return HttpResponseBadRequest("seen is the number of the last round on the page.")
    context = {"run": run, "address": _address(reader, run), **_live(run, int(seen))}
    return render(request, "analysis/_live.html", context)


@require_safe
@project_page(May.SEE_RUNS)
def run_findings(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """All findings of a run, or of one `?round=`, where its page does not list them; a page of
    them at a time.
    """
    run = run_with_verdict(project=reader.project, pk=pk)
    findings = run.findings.order_by("order")
    number = _round_number(request.GET.get("round", ""))
    if number:
        findings = findings.filter(round=number)
    paginator = Paginator(findings, FINDINGS_PER_PAGE)
    page = paginator.get_page(request.GET.get("page"))
    if reader.may_read(run):
        # What findings say of a call quotes it.
        note_access(request, reader, AccessAction.READ, run, detail={"findings": page.number})
    context = _frame(request, reader, RunView(run, may_read=reader.may_read(run))) | {
        "page": page,
        "number": number,
        "state": urlencode({"round": number} if number else {}),
    }
    return render(request, "analysis/run_findings.html", context)


@require_safe
@project_page(May.SEE_RUNS)
def finding_near(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """{"round": …}: the nearest round with a finding after `?after=` or before `?before=`, null
    where there is none.
    """
    after, before = (request.GET.get(name, "") for name in ("after", "before"))
    number = after or before
    if bool(after) == bool(before) or not (number.isdecimal() and len(number) < 10):
        return HttpResponseBadRequest("after or before is a round number.")
    find = finding_round_after if after else finding_round_before
    return JsonResponse({"round": find(run=run_for(reader.project, pk), number=int(number))})


def _frame(request: HttpRequest, reader: Reader, view: RunView) -> dict[str, Any]:
    """What every part of the run page needs: who may read, and where its links go."""
    run = view.run
    list_state = RunFilter.of_text(request.GET.get("list", "")).text
    kept = {"list": list_state} if list_state or "list" in request.GET else {}
    return {
        "section": "runs",
        "run": run,
        "view": view,
        "verdict": view.verdict,
        "odd_round": view.odd_round,
        "may_read": reader.may_read(run),
        "may_triage": reader.may(May.TRIAGE) and reader.may_read(run),
        "may_engineer": reader.may(May.ENGINEER) and reader.may_read(run),
        "address": _address(reader, run),
        "kept": urlencode(kept),
        "list_state": list_state,
    }


def _whole_page(request: HttpRequest, reader: Reader, view: RunView) -> dict[str, Any]:
    """What stands around the rounds: verdict, facts, map, findings, the runs before and after."""
    run = view.run
    label, tone = verdict_label(view.verdict.kind if view.verdict else None)
    newer = older = None
    if "list" in request.GET:
        newer, older = neighbours(
            run=run,
            project=reader.project,
            wanted=RunFilter.of_text(request.GET["list"]),
            reader=reader,
        )
    listed = view.findings.rows[:LISTED_FINDINGS]
    return {
        **_live(run, run.last_round),
        "title": run.title if reader.may_read(run) else "",
        "label": label,
        "tone": tone,
        "facts": _facts(view),
        "completeness": completeness_rows({} if run.text_removed_at else run.completeness),
        "incidents": incidents_of_runs(run_pks=[run.pk]).get(run.pk, []),
        "map": view.map if view.last else None,
        "findings": listed,
        "findings_total": view.findings.total,
        "said": view.said,
        "said_shown": view.said.rows[-LISTED_ANNOTATIONS:],
        "said_left": len(view.said.rows) - LISTED_ANNOTATIONS,
        "findings_left": view.findings.total - len(listed),
        "newer": newer and _address(reader, newer),
        "older": older and _address(reader, older),
        "restricted_to_others": run.restricted and not reader.restricted,
        "removed": removed_words(run),
    }


def _live(run: Run, seen: int) -> dict[str, Any]:
    return {
        "live": run.ending == Ending.OPEN,
        "seen": seen,
        "new_rounds": run.last_round - seen,
    }


def _facts(view: RunView) -> list[Fact]:
    """The run's facts, with what the analysis knows of its cost and its model."""
    run, verdict = view.run, view.verdict
    facts = run_facts(run, cost=cost_fact(run, verdict))
    more = (window_fact(verdict), repeats_fact(run, verdict))
    return [*facts, *(fact for fact in more if fact)]


def _address(reader: Reader, run: Run, *, at: int | None = None) -> str:
    address = reverse("analysis:run_detail", args=[reader.project.slug, run.pk])
    return address if at is None else f"{address}?at={at}#r{at}"


def _round_number(said: str) -> int | None:
    return int(said) if said.isdecimal() and len(said) < 10 else None


def _room(request: HttpRequest) -> int:
    """How many elements the page has room for, as its script says in `?room=`."""
    said = request.GET.get("room", "")
    known = said.isdecimal() and len(said) < 5
    return min(int(said), PART_ELEMENTS) if known else PART_ELEMENTS


def _span(request: HttpRequest) -> tuple[int, int] | None:
    said = [request.GET.get(name, "") for name in ("first", "last")]
    if not all(text.isdecimal() and len(text) < 10 for text in said):
        return None
    first, last = int(said[0]), int(said[1])
    return (first, last) if 1 <= first <= last else None
