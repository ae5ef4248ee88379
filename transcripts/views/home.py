"""The way in: to the first project of who signed in; light or dark."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from transcripts.access import memberships_of
from transcripts.models import User
from transcripts.pages import THEMES

THEME_SECONDS = 60 * 60 * 24 * 365


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Go to the runs of the person's first project; say what to do when there is none."""
    memberships = memberships_of(cast(User, request.user))
    if not memberships:
        return render(request, "transcripts/no_project.html")
    return redirect("analysis:run_list", memberships[0].project.slug)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep light, dark or the system's choice in a cookie of this browser."""
    chosen = request.POST.get("theme", "")
    if chosen not in THEMES:
        return HttpResponseBadRequest("theme is auto, light or dark.")
    back = request.POST.get("next", "/")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    response = redirect(back if safe else "/")
    response.set_cookie(
        "theme", chosen, THEME_SECONDS, samesite="Lax", httponly=True, secure=request.is_secure()
    )
    return response
