"""The runs that come with Agentdesk: sent to a project, and removed from it in one go."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.examples import REMOVED, examples_remove
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.pages import note_access, project_page
from transcripts.services.example_runs import ExamplesError, examples_send
from transcripts.services.removal import HeldError
from transcripts.undo import change_offer


@require_POST
@project_page(May.ENGINEER)
def examples_load(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Send the examples, and follow them."""
    try:
        delivery = examples_send(project=reader.project, user=reader.user)
    except ExamplesError as error:
        messages.error(request, str(error))
        return redirect("analysis:run_list", reader.project.slug)
    detail = {"sent": "the examples"}
    note_access(request, reader, AccessAction.SETTINGS, None, detail)
    address = reverse("transcripts:receipts", args=[reader.project.slug])
    return redirect(f"{address}?r={delivery.pk}")


@require_POST
@project_page(May.ADMINISTER)
def examples_gone(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Remove the examples, with the incidents, notes and test cases that are of them alone."""
    try:
        count = examples_remove(reader=reader, request=request)
    except HeldError:
        messages.error(request, "An example is on legal hold. Lift the hold first.")
        return redirect("analysis:run_list", reader.project.slug)
    if count:
        words = f"{count} example{'' if count == 1 else 's'} removed."
        change_offer(
            request=request, reader=reader, kind=REMOVED, before={"runs": count}, words=words
        )
    else:
        messages.info(request, "There was no example left.")
    return redirect("analysis:run_list", reader.project.slug)
