"""What people say about a run: root cause, comments, where the first odd round really is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agentdesk.htmx import template_for
from analysis.models import Annotation, AnnotationKind
from analysis.root_causes import ROOT_CAUSES, SUGGESTED
from analysis.selectors.annotations import annotation_by_id, run_annotations
from analysis.selectors.incidents import incident_by_number
from analysis.services.annotations import (
    ENGINEERS_SAY,
    MOST_CHARACTERS,
    AnnotationError,
    Said,
    annotation_add,
    annotation_edit,
    annotation_remove,
)
from transcripts.access import May, Reader, run_for
from transcripts.choices import AccessAction
from transcripts.models import Run
from transcripts.pages import note_access, project_page
from transcripts.templatetags.transcript import in_plain
from transcripts.undo import change_tell

TOLD = {
    AnnotationKind.NOTE: "Your comment stands at",
    AnnotationKind.ROOT_CAUSE: "The root cause stands at",
    AnnotationKind.ODD_ROUND: "Kept: the word on the first odd round of",
    AnnotationKind.TRIED: "What the tool really answers stands at",
}


ABOUT_INCIDENTS = (AnnotationKind.ROOT_CAUSE, AnnotationKind.NOTE)


class AnnotationForm(forms.Form):
    """What a person says. `about`: a round's number, or empty for the run as a whole."""

    kind = forms.ChoiceField(choices=AnnotationKind)
    about = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    cause = forms.CharField(required=False, max_length=30)
    text = forms.CharField(required=False, max_length=MOST_CHARACTERS)
    fix_link = forms.CharField(required=False, max_length=2_000)

    @property
    def said(self) -> Said:
        data = self.cleaned_data
        return Said(
            kind=AnnotationKind(data["kind"]),
            text=data["text"],
            cause=data["cause"],
            fix_link=data["fix_link"],
            round=data["about"],
        )


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.TRIAGE)
def run_annotate(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """The form for what one has to say about a run, or about its round `?at=`; keeps it on POST."""
    run = run_for(reader.project, pk, "verdict")
    reader.require_read(run)
    form = AnnotationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made, change = annotation_add(request=request, reader=reader, about=run, said=form.said)
        except AnnotationError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            where = f"round {made.round:,}" if made.round else "the run"
            change_tell(request, f"{TOLD[form.said.kind]} {where}.", change)
            return redirect(_address(reader, run, made.round))
    context = _form_context(request, reader, run, form)
    template = template_for(request, "analysis/annotate.html", "annotate")
    return render(request, template, context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.TRIAGE)
def incident_annotate(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """The form for what one has to say about an incident; keeps it on POST."""
    incident = incident_by_number(project=reader.project, number=number)
    if incident is None:
        raise Http404("No such incident in this project.")
    address = reverse("analysis:incident_detail", args=[reader.project.slug, incident.number])
    form = AnnotationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        said = form.said
        if said.kind not in ABOUT_INCIDENTS:
            raise PermissionDenied("This is said of a run.")
        try:
            _, change = annotation_add(
                request=request, reader=reader, about=incident, said=replace(said, round=None)
            )
        except AnnotationError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            change_tell(request, f"{TOLD[said.kind]} {incident.name}.", change)
            return redirect(f"{address}#said")
    kind = request.POST.get("kind") or request.GET.get("kind", "")
    kinds = [k for k in ABOUT_INCIDENTS if reader.may(May.ENGINEER) or k not in ENGINEERS_SAY]
    fingerprint = incident.fingerprints.order_by("pk").first()
    suggested = SUGGESTED.get(fingerprint.detector) if fingerprint else None
    context = {
        "section": "incidents",
        "about": incident.name,
        "here": reverse("analysis:incident_annotate", args=[reader.project.slug, incident.number]),
        "address": address,
        "form": form,
        "kind": kind if kind in kinds else kinds[0],
        "kinds": kinds,
        "causes": sorted(ROOT_CAUSES, key=lambda cause: cause.name != suggested),
        "suggested": suggested,
        "chosen": request.POST.get("cause") or "",
    }
    template = template_for(request, "analysis/annotate.html", "annotate")
    return render(request, template, context, status=422 if form.errors else 200)


@require_safe
@project_page(May.READ_TRANSCRIPTS)
def annotation_list(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """All that people said about a run, or about one `?round=`."""
    run = run_for(reader.project, pk)
    reader.require_read(run)
    note_access(request, reader, AccessAction.READ, run, {"annotations": True})
    said = request.GET.get("round", "")
    number = int(said) if said.isdecimal() and len(said) < 10 else None
    rows = run_annotations(run=run).rows
    if number:
        rows = [row for row in rows if row.round == number]
    context = {"section": "runs", "run": run, "rows": rows, "number": number}
    return render(request, "analysis/annotation_list.html", context | _may(reader))


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.TRIAGE)
def annotation_change(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Other words for an annotation of one's own."""
    annotation = _annotation(reader, pk)
    if annotation.author_id != reader.user.pk:
        raise PermissionDenied("Only who wrote this may change it.")
    given = {
        "kind": annotation.kind,
        "cause": annotation.cause,
        "text": annotation.text,
        "fix_link": annotation.fix_link,
        "about": annotation.round,
    }
    data = {**request.POST.dict(), "kind": annotation.kind} if request.method == "POST" else None
    form = AnnotationForm(data, initial=given)
    if form.is_valid():
        try:
            change = annotation_edit(
                request=request, reader=reader, annotation=annotation, said=form.said
            )
        except AnnotationError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            change_tell(request, "Changed. What it said before is kept in its history.", change)
            return redirect(_place(reader, annotation))
    context = {
        "section": "runs",
        "annotation": annotation,
        "form": form,
        "kind": annotation.kind,
        "causes": ROOT_CAUSES,
        "chosen": form["cause"].value(),
        "back": _place(reader, annotation),
    }
    status = 422 if form.errors else 200
    return render(request, "analysis/annotation_change.html", context, status=status)


@require_POST
@project_page(May.TRIAGE)
def annotation_gone(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Take an annotation away."""
    annotation = _annotation(reader, pk)
    change = annotation_remove(request=request, reader=reader, annotation=annotation)
    change_tell(request, "Removed.", change)
    return redirect(_place(reader, annotation))


def _annotation(reader: Reader, pk: int) -> Annotation:
    annotation = annotation_by_id(project=reader.project, pk=pk)
    if annotation is None:
        raise Http404("No such annotation in this project.")
    if annotation.run is not None:
        reader.require_read(annotation.run)
    return annotation


def _form_context(
    request: HttpRequest, reader: Reader, run: Run, form: AnnotationForm
) -> dict[str, Any]:
    verdict = getattr(run, "verdict", None)
    kind = request.POST.get("kind") or request.GET.get("kind", "")
    engineer = reader.may(May.ENGINEER)
    kinds = [each for each in AnnotationKind if engineer or each not in ENGINEERS_SAY]
    if kind not in kinds:
        kind = AnnotationKind.ROOT_CAUSE if engineer else AnnotationKind.NOTE
    odd = verdict.odd_round if verdict else None
    asked = request.POST.get("about") or request.GET.get("at") or str(odd or "")
    number = int(asked) if asked.isdecimal() and len(asked) < 10 else None
    suggested = SUGGESTED.get(verdict.odd_detector) if verdict else None
    return {
        "section": "runs",
        "run": run,
        "about": in_plain(run.ticket_id or run.run_id),
        "here": reverse("analysis:run_annotate", args=[reader.project.slug, run.pk]),
        "form": form,
        "kind": kind,
        "kinds": [each for each in kinds if each != AnnotationKind.TRIED],
        "number": min(number, max(run.last_round, 1)) if number else None,
        "odd_round": odd,
        "causes": sorted(ROOT_CAUSES, key=lambda cause: cause.name != suggested),
        "suggested": suggested,
        "chosen": request.POST.get("cause") or "",
        "address": _address(reader, run, None),
    }


def _may(reader: Reader) -> dict[str, Any]:
    return {"may_triage": reader.may(May.TRIAGE), "may_engineer": reader.may(May.ENGINEER)}


def _place(reader: Reader, annotation: Annotation) -> str:
    if annotation.run is None:
        assert annotation.incident is not None  # a constraint of the table
        number = annotation.incident.number
        return reverse("analysis:incident_detail", args=[reader.project.slug, number])
    return _address(reader, annotation.run, annotation.round)


def _address(reader: Reader, run: Run, number: int | None) -> str:
    address = reverse("analysis:run_detail", args=[reader.project.slug, run.pk])
    return f"{address}?at={number}#r{number}" if number else f"{address}#said"
