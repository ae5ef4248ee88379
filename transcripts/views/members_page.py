"""The page of members, which several views answer with."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from transcripts.access import Reader
from transcripts.choices import Role
from transcripts.selectors import people


def members_page(
    request: HttpRequest,
    reader: Reader,
    *,
    form: forms.Form | None = None,
    shown_once: dict[str, str] | None = None,
) -> HttpResponse:
    """Members, invitations and the form for more. `shown_once`: a link, for whom and for what."""
    members = people.member_list(project=reader.project)
    context = {
        "section": "settings",
        "members": members,
        "invitations": people.invitation_list(project=reader.project),
        "roles": Role.choices,
        "form": form,
        "chosen_role": (form["role"].value() if form else None) or Role.OBSERVER,
        "shown_once": shown_once,
        "sends_mail": settings.AGENTDESK_SENDS_MAIL,
        "required_of_all": settings.AGENTDESK_REQUIRE_SECOND_FACTOR,
        "without_factor": people.without_factor_count(project=reader.project),
    }
    status = 422 if form is not None and form.errors else 200
    return render(request, "transcripts/member_list.html", context, status=status)
