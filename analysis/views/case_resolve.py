"""The incident of a case, resolved because the case passes."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from analysis.selectors.cases import latest_result
from analysis.services.case_incidents import offer_take, resolve_offer
from analysis.services.incident_undo import CHANGED
from analysis.views.cases import case_for, require_case
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.pages import note_access, project_page
from transcripts.undo import change_note, change_tell


@require_POST
@project_page(May.TRIAGE)
def case_resolve(request: HttpRequest, reader: Reader, number: int) -> HttpResponse:
    """Resolve the incident in the version whose result passed; go back to `next`."""
    case = case_for(reader, number)
    require_case(reader, case)
    offer = resolve_offer(case=case, latest=latest_result(case=case))
    before = offer_take(offer=offer, user=reader.user) if offer else None
    if offer is None or before is None:
        messages.info(request, "No passing result speaks for that any more.")
    else:
        detail = {"incident": offer.incident.name, "case": case.name, "did": "resolved"}
        note_access(request, reader, AccessAction.INCIDENT, None, detail)
        change = change_note(reader=reader, kind=CHANGED, before=before)
        change_tell(request, f"{offer.incident.name} is resolved.", change)
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        target = reverse("analysis:case_detail", args=[reader.project.slug, number])
    return redirect(target)
