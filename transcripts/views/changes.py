"""Taking a change back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from transcripts.access import May, Reader
from transcripts.pages import project_page
from transcripts.undo import UndoError, change_undo


@require_POST
@project_page(May.SEE_RUNS)
def change_back(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Take back a change of one's own, and go back to the page that offered it (`next`)."""
    try:
        messages.success(request, change_undo(request=request, reader=reader, pk=pk))
    except UndoError as error:
        messages.error(request, str(error))
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        target = reverse("analysis:run_list", args=[reader.project.slug])
    return redirect(target)
