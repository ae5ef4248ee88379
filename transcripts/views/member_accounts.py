"""Settings: help for members who cannot sign in, and whether a second factor is required."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.mail import password_link_path
from transcripts.models import User
from transcripts.pages import note_access, project_page
from transcripts.selectors import people
from transcripts.services import second_factors
from transcripts.services.member_undo import FACTOR
from transcripts.undo import change_offer
from transcripts.views.members import membership_of
from transcripts.views.members_page import members_page


@require_POST
@project_page(May.ADMINISTER)
def member_password(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Show a link by which the member chooses a new password, this once. The old one still works
    until then.
    """
    user = _governed(reader, pk)
    note_access(request, reader, AccessAction.PASSWORD, None, {"link for": user.email})
    link = request.build_absolute_uri(password_link_path(user))
    shown = {"email": user.email, "link": link, "for": "password"}
    return members_page(request, reader, shown_once=shown)


@require_POST
@project_page(May.ADMINISTER)
def member_factor(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Take a member's second factor away, for a lost telephone. Their sessions end."""
    user = _governed(reader, pk)
    second_factors.second_factor_reset(user=user)
    note_access(request, reader, AccessAction.FACTOR, None, {"reset for": user.email})
    messages.success(
        request, f"{user.email} signs in without a second factor now, and can set up a new one."
    )
    return redirect("transcripts:member_list", reader.project.slug)


@require_POST
@project_page(May.ADMINISTER)
def second_factor(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Require a second factor of every member, or no longer."""
    required = "required" in request.POST
    before = reader.project.require_second_factor
    second_factors.project_require_factor(project=reader.project, required=required)
    name = "second factor required"
    detail = {"before": {name: before}, "after": {name: required}}
    note_access(request, reader, AccessAction.SETTINGS, None, detail)
    said = (
        "Every member needs a second factor now."
        if required
        else "No second factor is required any more."
    )
    noted = {"before": before, "after": required}
    change_offer(request=request, reader=reader, kind=FACTOR, before=noted, words=said)
    return redirect("transcripts:member_list", reader.project.slug)


def _governed(reader: Reader, pk: int) -> User:
    """The member's account, if the reader may decide on all of it; 403 otherwise."""
    user = membership_of(reader, pk).user
    if not people.is_governed(user=user, by=reader.user):
        raise PermissionDenied(
            f"{user.email} is also a member of a project that you do not administer. Whoever runs "
            "Agentdesk can help: ./desk manage changepassword, ./desk manage reset_second_factor."
        )
    return user
