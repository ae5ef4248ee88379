"""Settings: limits of the project, its agents and tools; their effect; the file of them."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from agentdesk.htmx import is_swap
from analysis import reading_again
from analysis.detectors.limits import LimitsError, limits_content
from analysis.jobs import job_advance, job_go_on, job_latest, job_start
from analysis.limits import pages as limit_pages
from analysis.limits import sets as limit_sets
from analysis.limits.forms import LimitsForm, RunLimitsForm, ScopeForm, ToolLimitsForm
from analysis.limits.learning import baseline_for, baseline_list
from analysis.limits.previews import preview_wanted
from analysis.limits.sets import LimitBook, Scope, Values
from analysis.limits.undoing import LIMITS
from analysis.lists.options import options_offered
from analysis.models import Job, JobKind
from analysis.views.jobs import job_context
from transcripts.access import May, Reader
from transcripts.maskers import typed_masker
from transcripts.models import Project
from transcripts.pages import project_page
from transcripts.undo import change_offer
from transcripts.undo_rows import Pair

# A preview that is done within it is shown at once; else a worker goes on with it.
AT_ONCE_SECONDS = 0.8
LARGEST_FILE = 2**20


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ENGINEER)
def limits(request: HttpRequest, reader: Reader) -> HttpResponse:
    """The limits of one scope (`agent`, `tool`); previews or saves others on POST."""
    scope = _scope(request)
    book = limit_sets.limit_book(project_id=reader.project.pk)
    form = _form(scope, book, request)
    preview: Job | None = None
    if request.method == "POST" and form.is_valid():
        try:
            if request.POST.get("action") == "preview":
                preview = _preview(reader, scope, form.values)
            else:
                return _save(request, reader, scope, form.values)
        except LimitsError as error:
            form.add_error(None, str(error))
    if request.method == "POST" and is_swap(request):
        context = job_context(reader, preview) if preview else {"form": form}
        return render(request, "analysis/_effect.html", context)
    context = _context(reader, scope, book, form)
    if preview:
        context |= job_context(reader, preview)
    return render(request, "analysis/limits.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ENGINEER)
def limits_file(request: HttpRequest, reader: Reader) -> HttpResponse:
    """The limits of a project or agent as the file of `check --limits`; takes one in on POST."""
    agent = _scope(request).agent
    if request.method == "POST":
        return _take_in(request, reader, agent)
    learned = baseline_for(project_id=reader.project.pk, agent=agent)
    currency = limit_pages.main_currency(learned)
    baseline = limit_sets.baseline_of(learned, currency=currency)
    applied = limit_sets.limit_book(project_id=reader.project.pk).applied(agent, baseline)
    text = json.dumps(limits_content(applied.limits), indent=1, ensure_ascii=False)
    response = HttpResponse(text + "\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="limits-{reader.project.slug}.json"'
    return response


def _scope(request: HttpRequest) -> Scope:
    form = ScopeForm(request.GET)
    if not form.is_valid():
        raise Http404("There are no such limits.")
    return Scope(form.cleaned_data["agent"], form.cleaned_data["tool"])


def _form(scope: Scope, book: LimitBook, request: HttpRequest) -> LimitsForm:
    kind = ToolLimitsForm if scope.tool else RunLimitsForm
    return kind(request.POST) if request.method == "POST" else kind.filled(book.of(scope))


def _preview(reader: Reader, scope: Scope, values: Values) -> Job:
    """Start a preview, and do as much of it as a person waits for."""
    wanted, total = preview_wanted(project=reader.project, scope=scope, values=values)
    job = job_start(
        project=reader.project, kind=JobKind.PREVIEW, wanted=wanted, total=total, user=reader.user
    )
    if job_advance(job_pk=job.pk, seconds=AT_ONCE_SECONDS):
        job_go_on(job)
    job.refresh_from_db()
    return job


def _save(request: HttpRequest, reader: Reader, scope: Scope, values: Values) -> HttpResponse:
    changed = limit_sets.limit_set_save(
        project=reader.project, scope=scope, values=values, user=reader.user, request=request
    )
    if changed:
        words = "Saved. Runs that come from now on are read under these limits."
        _tell(request, reader, [changed], words)
    else:
        messages.info(request, "Nothing has changed.")
    return redirect(limits_address(reader.project, scope))


def _take_in(request: HttpRequest, reader: Reader, agent: str) -> HttpResponse:
    upload = request.FILES.get("file")
    try:
        if upload is None or (upload.size or 0) > LARGEST_FILE:
            raise LimitsError("choose a limits file, of 1 MiB at most")
        try:
            content = json.loads(upload.read())
        except (ValueError, RecursionError) as error:
            raise LimitsError(f"not JSON: {error}") from error
        changed = limit_sets.limits_import(
            project=reader.project, agent=agent, content=content, user=reader.user, request=request
        )
    except LimitsError as error:
        # The reason names what it is about, and messages wait in a cookie or in a table.
        told = typed_masker(reader.project).text(f"The file was not taken in: {error}.")
        messages.error(request, told)
    else:
        if changed:
            plural = "" if len(changed) == 1 else "s"
            words = f"Taken in: {len(changed)} set{plural} of limits changed."
            _tell(request, reader, changed, words)
        else:
            messages.info(request, "The file says what is set already.")
    return redirect(limits_address(reader.project, Scope(agent)))


def _tell(request: HttpRequest, reader: Reader, pairs: list[Pair], words: str) -> None:
    """Say what was done, with a way back."""
    change_offer(request=request, reader=reader, kind=LIMITS, before={"rows": pairs}, words=words)


def limits_address(project: Project, scope: Scope) -> str:
    """The page of one scope's limits."""
    said = {"agent": scope.agent, "tool": scope.tool}
    query = urlencode({name: value for name, value in said.items() if value})
    address = reverse("analysis:limits", args=[project.slug])
    return f"{address}?{query}" if query else address


def _context(reader: Reader, scope: Scope, book: LimitBook, form: LimitsForm) -> dict[str, Any]:
    project = reader.project
    baselines = baseline_list(project=project)
    learned = next((each for each in baselines if each.agent == scope.agent), None)
    known = {*book.agents, *(each.agent for each in baselines if each.agent)}
    agents = sorted(known | set(options_offered(project=project).counts["agent"]))
    shown = baselines if not scope.agent else [learned] if learned else []
    return {
        "section": "settings",
        "scope": scope,
        "address": limits_address(project, scope),
        "form": form,
        "rows": limit_pages.limit_rows(form, book=book, scope=scope, learned=learned),
        "agents": [
            (agent, limits_address(project, Scope(agent)), bool(book.of(Scope(agent))))
            for agent in agents
        ],
        "wider": limits_address(project, Scope(scope.agent)),
        "tools": []
        if scope.tool
        else limit_pages.tool_rows(project=project, book=book, scope=scope, learned=learned),
        "learned": [] if scope.tool else limit_pages.learned_rows(shown),
        **past_runs(reader, book),
    }


def past_runs(reader: Reader, book: LimitBook) -> dict[str, Any]:
    """How many past runs are behind the times, and the job that reads them again."""
    count = reading_again.outdated_count(project=reader.project, book=book)
    return {
        "outdated": count,
        "outdated_up_to": reading_again.COUNT_UP_TO,
        "reading": job_latest(project=reader.project, kind=JobKind.READ_AGAIN),
    }
