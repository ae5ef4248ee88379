"""What all pages of a project share: sign-in, membership, and who reads."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache

from transcripts.access import (
    May,
    Reader,
    TranscriptRemovedError,
    memberships_of,
    reader_for,
)
from transcripts.audit import access_record
from transcripts.choices import AccessAction, Role
from transcripts.models import Run, User
from transcripts.sign_in.second_factor import is_missing

P = ParamSpec("P")
ProjectView = Callable[Concatenate[HttpRequest, Reader, P], HttpResponseBase]
THEMES = ("auto", "light", "dark")


def project_page(what: May) -> Callable[[ProjectView[P]], Callable[..., HttpResponseBase]]:
    """Make a view of `view(request, reader, …)`, served below `/p/<slug>/`.

    Sends who is not signed in to sign in; answers 404 without a membership and 403 where the role
    may not
    do `what`. Nothing of it is kept by a cache, and a fragment is never served for a page. What a
    POST does is one transaction.
    """

    def decorate(view: ProjectView[P]) -> Callable[..., HttpResponseBase]:
        @login_required
        @never_cache
        @wraps(view)
        def guarded(
            request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            # All memberships are fetched at once, for the project switcher.
            memberships = memberships_of(cast(User, request.user))
            reader = reader_for(cast(User, request.user), slug, memberships)
            request.reader = reader  # type: ignore[attr-defined]
            request.memberships = memberships  # type: ignore[attr-defined]
            reader.require(what)
            if is_missing(reader.user, reader.project):
                return _ask_for_second_factor(request)
            # A change is kept with its audit line or not at all.
            together = transaction.atomic() if request.method == "POST" else nullcontext()
            try:
                with together:
                    response: HttpResponseBase = view(request, reader, *args, **kwargs)
            except TranscriptRemovedError as removed:
                response = render(request, "410.html", {"why": str(removed)}, status=410)
            patch_vary_headers(response, ("HX-Request",))
            return response

        return cast(Callable[..., HttpResponseBase], guarded)

    return decorate


def _ask_for_second_factor(request: HttpRequest) -> HttpResponse:
    """Send a person to set one up, and back afterwards; a part of a page cannot show that."""
    there = f"{reverse('mfa_activate_totp')}?{urlencode({'next': request.get_full_path()})}"
    if request.headers.get("HX-Request"):
        return HttpResponse(status=403, headers={"HX-Redirect": there})
    messages.info(request, "This project asks for a second factor. Set one up to go on.")
    return redirect(there)


def shell(request: HttpRequest) -> dict[str, Any]:
    """The context of the frame around each page: who reads, their projects, light or dark."""
    theme = request.COOKIES.get("theme", "auto")
    reader: Reader | None = getattr(request, "reader", None)
    return {
        "reader": reader,
        "memberships": getattr(request, "memberships", ()),
        "theme": theme if theme in THEMES else "auto",
        "may_administer": reader is not None and reader.may(May.ADMINISTER),
        "may_set_limits": reader is not None and reader.may(May.ENGINEER),
        "may_read_transcripts": reader is not None and reader.may(May.READ_TRANSCRIPTS),
        "single_sign_on": next((app["name"] for app in _providers()), ""),
        "role_label": Role(reader.role).label if reader else "",
    }


def _providers() -> list[dict[str, Any]]:
    providers: Any = settings.SOCIALACCOUNT_PROVIDERS
    return list(providers["single_sign_on"]["APPS"])


def note_access(
    request: HttpRequest,
    reader: Reader,
    action: AccessAction,
    run: Run | None,
    detail: dict[str, Any],
) -> None:
    """Leave the audit line of a person who reads, searches, exports, or changes settings (no
    run).
    """
    access_record(
        project=reader.project,
        action=action,
        run=run,
        user=reader.user,
        request=request,
        detail=detail,
    )
