"""One incident: what happened, since when, to whom, what to do, and who did what about it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agentdesk.htmx import is_swap, template_for
from analysis.models import Incident
from analysis.pages.incident_pages import IncidentView
from analysis.selectors.annotations import incident_annotations
from analysis.selectors.incidents import incident_by_number
from analysis.views.incident_list import incidents_decide
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.pages import note_access, project_page


@require_safe
@project_page(May.SEE_RUNS)
def incident_detail(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """An incident by its number; that of one that was merged leads to the one that took it over."""
    incident = _incident(reader, number)
    if incident.number != number:
        return redirect("analysis:incident_detail", reader.project.slug, incident.number)
    template = template_for(request, "analysis/incident_detail.html", "incident")
    return render(request, template, _context(request, reader, incident))


@require_safe
@project_page(May.SEE_RUNS)
def incident_events(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """Lines of the timeline before the one with the id `?before=`."""
    before = request.GET.get("before", "")
    at = int(before) if before.isascii() and before.isdecimal() and len(before) < 19 else None
    view = IncidentView(reader, _incident(reader, number), events_before=at)
    context = {"section": "incidents", "view": view, "incident": view.incident}
    template = template_for(request, "analysis/incident_events.html", "events")
    return render(request, template, context)


@require_POST
@project_page(May.TRIAGE)
def incident_change(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """Change one incident (`action`), and show it again."""
    incident = _incident(reader, number)
    incidents_decide(request, reader, [incident])
    again = _incident(reader, number)
    if not is_swap(request):
        return redirect(_address(reader, again))
    if again.number != number:
        # It is part of another one now, at whose page one goes on.
        response = HttpResponse(status=204)
        response["HX-Redirect"] = _address(reader, again)
        return response
    context = _context(request, reader, again) | {"told": True}
    return render(request, "analysis/incident_detail.html#incident", context)


def _incident(reader: Reader, number: int) -> Incident:
    incident = incident_by_number(project=reader.project, number=number)
    if incident is None:
        raise Http404("No such incident in this project.")
    return incident


def _address(reader: Reader, incident: Incident) -> str:
    return reverse("analysis:incident_detail", args=[reader.project.slug, incident.number])


def _context(request: HttpRequest, reader: Reader, incident: Incident) -> dict[str, Any]:
    view = IncidentView(reader, incident)
    place = view.place
    if place is not None and view.may_read_place:
        # What the finding says of the call quotes it.
        detail = {"at": place.round, "incident": incident.number}
        note_access(request, reader, AccessAction.READ, place.run, detail=detail)
    return {
        "section": "incidents",
        "swap": is_swap(request),
        "incident": incident,
        "view": view,
        "may_triage": reader.may(May.TRIAGE),
        "said": incident_annotations(incident=incident) if reader.may(May.TRIAGE) else [],
        "may_hold": reader.may(May.ADMINISTER),
    }
