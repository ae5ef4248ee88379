"""Settings: erase all runs of one ticket, after its id was typed once more."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from analysis.selectors.keeping import erasure_weight, held_runs, runs_of_ticket
from analysis.services.keeping import HELD
from transcripts.access import May, Reader
from transcripts.pages import project_page
from transcripts.services.erasing import runs_erase
from transcripts.services.removal import HeldError

LISTED = 50


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def ticket_erase(request: HttpRequest, reader: Reader) -> HttpResponse:
    """What an erasure of the runs of `ticket` would take; a POST erases them."""
    said = request.POST if request.method == "POST" else request.GET
    ticket = said.get("ticket", "").replace("\x00", "").strip()
    runs = runs_of_ticket(project=reader.project, ticket=ticket)
    error = ""
    if request.method == "POST":
        if request.POST.get("confirm", "").strip() != ticket or not ticket:
            error = "Type the ticket's id exactly as it stands above."
        else:
            try:
                erased = runs_erase(
                    runs=runs.select_related("project"),
                    held=HELD,
                    user=reader.user,
                    request=request,
                )
            except HeldError:
                error = "A run of it is on legal hold. Lift the hold first; nothing was erased."
            else:
                messages.success(request, f"Erased: {erased} run{'' if erased == 1 else 's'}.")
                return redirect("analysis:retention", reader.project.slug)
    context = {
        "section": "settings",
        "ticket": ticket,
        "weight": erasure_weight(project=reader.project, runs=runs),
        "runs": runs[:LISTED],
        "held": held_runs(runs)[:LISTED],
        "listed": LISTED,
        "error": error,
    }
    status = 422 if error else 200
    return render(request, "analysis/ticket_erase.html", context, status=status)
