"""Jobs over many runs: how far they are, and what came of them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from agentdesk.htmx import is_swap, template_for
from analysis import reading_again
from analysis.jobs import job_by_id, job_cancel, job_go_on, job_start
from analysis.models import Job, JobKind
from analysis.words import detector_title, verdict_label
from transcripts.access import May, Reader
from transcripts.models import Run
from transcripts.pages import project_page


@require_safe
@project_page(May.ENGINEER)
def job_detail(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """One job: its progress while it is at work, then its result."""
    context = job_context(reader, job_for(reader, pk))
    return render(request, template_for(request, "analysis/job_detail.html", "job"), context)


@require_POST
@project_page(May.ENGINEER)
def job_stop(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Cancel a job. What it has read stays read."""
    job = job_for(reader, pk)
    job_cancel(job=job)
    if is_swap(request):
        job.refresh_from_db()
        return render(request, "analysis/job_detail.html#job", job_context(reader, job))
    return redirect("analysis:job_detail", reader.project.slug, pk)


@require_POST
@project_page(May.ENGINEER)
def runs_read_again(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Start to read past runs again: those that are behind the times, or all."""
    wanted, total = reading_again.runs_to_read(
        project=reader.project, everything="everything" in request.POST
    )
    if not total:
        messages.info(request, "All runs were read under the limits and by the detectors of now.")
        return redirect("analysis:limits", reader.project.slug)
    job = job_start(
        project=reader.project,
        kind=JobKind.READ_AGAIN,
        wanted=wanted,
        total=total,
        user=reader.user,
    )
    job_go_on(job)
    return redirect("analysis:job_detail", reader.project.slug, job.pk)


def job_context(reader: Reader, job: Job) -> dict[str, Any]:
    """A job as its template shows it, with the runs that it names."""
    changes = job.result.get("changes", [])
    runs = Run.objects.select_related("verdict").in_bulk([each["run"] for each in changes])
    rows = [
        {
            "run": runs[each["run"]],
            "flips": each["flips"],
            "flagged": each["flagged"],
            "now": verdict_label(each["kinds"][0]),
            "then": verdict_label(each["kinds"][1]),
            **{
                what: [detector_title(name) for name in each[what]]
                for what in ("gained", "lost", "moved")
            },
        }
        for each in sorted(changes, key=lambda each: not each["flips"])
        # A run may have been deleted since, or been another project's all along: never show that.
        if each["run"] in runs and runs[each["run"]].project_id == reader.project.pk
    ]
    return {
        "section": "settings",
        "job": job,
        "page_name": "masking" if job.is_masking else "limits",
        "tried": _tried(reader, job),
        "is_preview": job.kind == JobKind.PREVIEW,
        "changes": rows,
        "changes_left": job.changed - len(rows) if job.kind == JobKind.PREVIEW else 0,
        "whole": job.wanted.get("runs", 0) <= job.total,
        "of_runs": job.wanted.get("runs", 0),
    }


def _tried(reader: Reader, job: Job) -> list[tuple[Run, dict[str, Any]]]:
    """The runs in which a trial of masking found something, with how much."""
    named = job.result.get("runs", []) if job.kind == JobKind.MASK_TRIAL else []
    runs = Run.objects.filter(project=reader.project).in_bulk([each["run"] for each in named])
    return [(runs[each["run"]], each) for each in named if each["run"] in runs]


def job_for(reader: Reader, pk: int) -> Job:
    """A job of the project; what it is about must be the reader's business."""
    job = job_by_id(project=reader.project, pk=pk)
    if job is None:
        raise Http404("No such job in this project.")
    if job.is_masking:
        reader.require(May.ADMINISTER)
    return job
