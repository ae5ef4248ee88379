"""The API of incidents: the list, and one. Adds to the router of `transcripts`."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import Http404, HttpRequest
from ninja import Query

from analysis.models import Incident, IncidentState
from analysis.pages.incident_lists import IncidentFilter, incident_page
from analysis.schemas import IncidentListOut, IncidentOneOut
from analysis.selectors.incidents import (
    incident_by_number,
    runs_of_incident,
    tickets_of,
    versions_of,
)
from transcripts.api import FOUND, REFUSED, may_read, router
from transcripts.key_sets import place_of
from transcripts.models import Project
from transcripts.problems import ProblemError
from transcripts.schemas import ProblemOut

INCIDENTS_AT_ONCE = 200
RUNS_TOLD = 50
Text = Annotated[str, Query(max_length=300)]


@router.get(
    "/incidents",
    auth=may_read,
    response={200: IncidentListOut, **REFUSED, 422: ProblemOut},
    summary="List incidents",
    tags=["incidents"],
)
def incidents_list(
    request: HttpRequest,
    state: IncidentState | None = None,
    open: bool | None = None,
    agent: Text = "",
    detector: Text = "",
    tool: Text = "",
    q: Annotated[str, Query(max_length=300, description="INC-14, or words of the title")] = "",
    cursor: Text = "",
    limit: Annotated[int, Query(ge=1, le=INCIDENTS_AT_ONCE)] = 50,
) -> dict[str, Any]:
    """Incidents of the key's project, those seen last first."""
    for parameter, text in {"agent": agent, "detector": detector, "tool": tool, "q": q}.items():
        if "\0" in text:
            raise ProblemError(422, "NUL is in no incident.", at=parameter)
    if cursor and place_of(cursor) is None:
        raise ProblemError(422, "This is no cursor of this list.", at="cursor")
    wanted = IncidentFilter(
        tab="open" if open else "all", state=state or "", agent=agent, detector=detector,
        tool=tool, q=q.strip(),
    )  # fmt: skip
    page = incident_page(
        project=_project(request), wanted=wanted, user=None, cites=True, before=cursor, limit=limit
    )
    return {"incidents": [incident_out(each) for each in page.incidents], "next": page.cursor}


@router.get(
    "/incidents/{number}",
    auth=may_read,
    response={200: IncidentOneOut, **FOUND},
    summary="Read an incident",
    tags=["incidents"],
)
def incident_read(request: HttpRequest, number: str) -> dict[str, Any]:
    """One incident by its number (`14`, or `INC-14`), with its latest runs, versions and tickets.
    Of one that was merged, the one that took it over.
    """
    digits = number.upper().removeprefix("INC-")
    known = digits.isascii() and digits.isdecimal() and len(digits) < 10
    project = _project(request)
    incident = incident_by_number(project=project, number=int(digits)) if known else None
    if incident is None:
        raise Http404("No such incident in this project.")
    tickets, _ = tickets_of(incident=incident)
    columns = ("prompt_version", "code_version", "model")
    return {
        **incident_out(incident),
        "fingerprints": list(incident.fingerprints.order_by("pk")),
        "runs": list(
            runs_of_incident(incident=incident).values_list("run_id", flat=True)[:RUNS_TOLD]
        ),
        "tickets": [ticket for ticket, _ in tickets],
        "versions": {column: versions_of(incident=incident, column=column) for column in columns},
    }


def incident_out(incident: Incident) -> dict[str, Any]:
    """An incident as the API shows it."""
    as_is = ("number", "name", "title", "state", "state_at", "first_seen_at", "last_seen_at",
             "run_count", "resolved_at", "resolved_in", "resolved_kind", "ignored_until",
             "ignored_after", "held")  # fmt: skip
    return {
        **{name: getattr(incident, name) for name in as_is},
        "owner": incident.owner.email if incident.owner else None,
        "priority": incident.get_priority_display(),
    }


def _project(request: HttpRequest) -> Project:
    project: Project = request.auth.project  # type: ignore[attr-defined]
    return project
