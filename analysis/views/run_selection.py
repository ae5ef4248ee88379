"""What is done to the runs that were chosen in the list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from agentdesk.htmx import is_swap, template_for
from analysis.job_undo import JOB, change_of_job, job_that_took_back, job_words
from analysis.jobs import BESIDE_OTHERS, TAKEN_BACK, job_by_id, job_cancel, job_go_on, job_start
from analysis.lists import bulk
from analysis.lists.archive import runs_zipped
from analysis.lists.bulk import Selection, SelectionError
from analysis.lists.counts import Count, count_of_runs
from analysis.lists.filters import RunFilter
from analysis.models import Job, JobKind
from analysis.services.run_triage import LABELLED, OWNED, runs_assign, runs_label
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.export import all_exporters
from transcripts.models import Run
from transcripts.pages import note_access, project_page
from transcripts.undo import change_note, change_tell


@require_POST
@project_page(May.TRIAGE)
def run_selection(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Assign, label, export or delete the runs that were chosen (`do` says which)."""
    do = _DO.get(request.POST.get("do", ""))
    selection = Selection.of(request.POST, reader)
    back = _back(request, reader)
    if do is None:
        messages.error(request, "Say what to do with the runs.")
        return redirect(back)
    count = count_of_runs(selection.runs())
    if not count.number:
        messages.error(request, "No run was chosen.")
        return redirect(back)
    try:
        return do(request, reader, selection, count)
    except SelectionError as error:
        messages.error(request, str(error))
        return redirect(back)


def _assign(
    request: HttpRequest, reader: Reader, selection: Selection, count: Count
) -> HttpResponse:
    owner = bulk.member_of(reader.project, request.POST.get("owner", ""), reader)
    whose = f"given to {owner.short_name}" if owner else "without an owner"
    if _is_many(count):
        wanted = selection.job_wanted(owner=owner.pk if owner else None)
        return _by_job(request, reader, JobKind.ASSIGN, wanted, count)
    pks = _pks(selection)
    told = runs_assign(project=reader.project, pks=pks, owner=owner)
    note_access(request, reader, AccessAction.TRIAGE, None, {"runs": pks, "owner": told["owner"]})
    _tell(request, reader, OWNED, told, told["before"], whose)
    return redirect(_back(request, reader))


def _label(
    request: HttpRequest, reader: Reader, selection: Selection, count: Count
) -> HttpResponse:
    put = request.POST["do"] == "label"
    label = bulk.label_of(reader.project, request.POST.get("label", ""))
    said = f"{'labelled' if put else 'without'} {label[0]}" + (
        "" if label[1] == "yes" else f"={label[1]}"
    )
    if _is_many(count):
        wanted = selection.job_wanted(label="=".join(label), put=put)
        return _by_job(request, reader, JobKind.LABEL, wanted, count)
    told = runs_label(project=reader.project, pks=_pks(selection), label=label, put=put)
    note_access(request, reader, AccessAction.TRIAGE, None, {"runs": told["runs"], "label": put})
    _tell(request, reader, LABELLED, told, told["runs"], said)
    return redirect(_back(request, reader))


def _export(
    request: HttpRequest, reader: Reader, selection: Selection, count: Count
) -> HttpResponse:
    """A zip file of the runs that the reader may read, each reading with its line in the log."""
    reader.require(May.ENGINEER)
    asked = request.POST.getlist("as") or ["native"]
    exporters = [exporter for exporter in all_exporters() if exporter.name in asked]
    if not exporters:
        raise SelectionError("No such format.")
    readable = selection.runs()
    if not reader.restricted:
        readable = readable.filter(restricted=False)
    pks = list(readable.order_by("-pk").values_list("pk", flat=True)[: bulk.EXPORTED + 1])
    if len(pks) > bulk.EXPORTED:
        raise SelectionError(
            f"One file takes {bulk.EXPORTED:,} runs. Narrow the list, by time for example."
        )
    if not pks:
        raise SelectionError("These runs are restricted to readers who are named for them.")
    detail = {"as": [exporter.name for exporter in exporters], "of": len(pks)}

    def note(run: Run) -> None:
        note_access(request, reader, AccessAction.EXPORT, run, detail)

    runs = (run for start in range(0, len(pks), 50) for run in _in_order(pks[start : start + 50]))
    name = f"{reader.project.slug}-{timezone.now():%Y-%m-%d}-{len(pks)}-runs.zip"
    answer = StreamingHttpResponse(
        runs_zipped(runs=runs, exporters=exporters, note=note),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
    # Django's middleware and decorators take both kinds of answers; their types name one.
    return cast(HttpResponse, answer)


def _in_order(pks: list[int]) -> list[Run]:
    found = Run.objects.in_bulk(pks)
    return [found[pk] for pk in pks if pk in found]


def _delete(
    request: HttpRequest, reader: Reader, selection: Selection, count: Count
) -> HttpResponse:
    """Ask first, with what goes; then do it."""
    reader.require(May.ADMINISTER)
    if request.POST.get("sure") != "yes":
        return render(request, "analysis/run_selection.html", _asked(request, selection, count))
    if _is_many(count):
        return _by_job(request, reader, JobKind.DELETE, selection.job_wanted(), count)
    gone, held = bulk.runs_delete(
        project=reader.project, pks=_pks(selection), user=reader.user, request=request
    )
    stay = f" {_runs(held)} on legal hold stay." if held else ""
    messages.success(request, f"{_runs(gone)} deleted for good.{stay}")
    return redirect(_back(request, reader))


def _asked(request: HttpRequest, selection: Selection, count: Count) -> dict[str, Any]:
    from django.db.models import Count as Counted
    from django.db.models import Q, Sum

    sums = selection.runs().aggregate(
        runs=Counted("pk"),
        rounds=Sum("round_count"),
        restricted=Counted("pk", filter=Q(restricted=True)),
        live=Counted("pk", filter=Q(ending="open")),
    )
    return {
        "section": "runs",
        "sums": sums,
        "pks": selection.pks,
        "all": selection.wanted is not None,
        "list": request.POST.get("list", ""),
        "back": _back(request, selection.reader),
    }


_DO: dict[str, Callable[[HttpRequest, Reader, Selection, Count], HttpResponse]] = {
    "assign": _assign,
    "label": _label,
    "unlabel": _label,
    "export": _export,
    "delete": _delete,
}


@require_safe
@project_page(May.TRIAGE)
def run_job(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """How far a job over chosen runs is."""
    context = _job_context(reader, _job(reader, pk))
    return render(request, template_for(request, "analysis/run_job.html", "job"), context)


@require_POST
@project_page(May.TRIAGE)
def run_job_stop(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Cancel a job over chosen runs. What it has done stays done."""
    job = _job(reader, pk)
    if job_cancel(job=job):
        detail = {"job": job.pk, "cancelled": True}
        note_access(request, reader, AccessAction.TRIAGE, None, detail)
    if is_swap(request):
        job.refresh_from_db()
        return render(request, "analysis/run_job.html#job", _job_context(reader, job))
    return redirect("analysis:run_job", reader.project.slug, pk)


def _job_context(reader: Reader, job: Job) -> dict[str, Any]:
    taken_back = job.kind == JobKind.TAKE_BACK
    return {
        "section": "runs",
        "job": job,
        "change": change_of_job(reader, job),
        "back": job_that_took_back(job),
        "words": job_words(job) if taken_back and not job.waits else "",
    }


def _job(reader: Reader, pk: int) -> Job:
    job = job_by_id(project=reader.project, pk=pk)
    if job is None or job.kind not in BESIDE_OTHERS:
        raise Http404("No such job over chosen runs in this project.")
    return job


def _by_job(
    request: HttpRequest, reader: Reader, kind: JobKind, wanted: dict[str, Any], count: Count
) -> HttpResponse:
    total = count.number or 0
    job: Job = job_start(
        project=reader.project, kind=kind, wanted=wanted, total=total, user=reader.user
    )
    action = AccessAction.DELETE if kind == JobKind.DELETE else AccessAction.TRIAGE
    note_access(request, reader, action, None, {"job": job.pk, "runs": total})
    if kind in TAKEN_BACK:
        change_note(reader=reader, kind=JOB, before={"job": job.pk})
    job_go_on(job)
    return redirect("analysis:run_job", reader.project.slug, job.pk)


def _tell(
    request: HttpRequest,
    reader: Reader,
    kind: str,
    told: dict[str, Any],
    changed: list[Any],
    said: str,
) -> None:
    if not changed:
        messages.info(request, f"Nothing to change: they were {said} already.")
        return
    change = change_note(reader=reader, kind=kind, before=told)
    change_tell(request, f"{_runs(len(changed))} {said}.", change)


def _is_many(count: Count) -> bool:
    return count.how != "exactly" or (count.number or 0) > bulk.AT_ONCE


def _pks(selection: Selection) -> list[int]:
    return list(selection.runs().order_by("-pk").values_list("pk", flat=True)[: bulk.AT_ONCE])


def _back(request: HttpRequest, reader: Reader) -> str:
    """The list as it was."""
    query = RunFilter.of_text(request.POST.get("list", "")).text
    return f"{reverse('analysis:run_list', args=[reader.project.slug])}?{query or 'tab=flagged'}"


def _runs(count: int) -> str:
    return f"{count:,} run{'' if count == 1 else 's'}"
