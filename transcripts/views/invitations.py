"""Settings: invitations to the project."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.mail import invitation_send
from transcripts.models import Invitation
from transcripts.pages import note_access, project_page
from transcripts.selectors import people
from transcripts.services import invitations
from transcripts.services.member_undo import INVITATION, INVITATIONS
from transcripts.undo import change_offer
from transcripts.views.members_page import members_page


def invited(request: HttpRequest, reader: Reader, *, email: str, role: str) -> HttpResponse:
    """Invite an address, and answer with the members and the link, this once."""
    invitation, token = invitations.invitation_create(
        project=reader.project, email=email, role=role, user=reader.user
    )
    link = request.build_absolute_uri(reverse("invitation_accept", args=[token]))
    mailed = invitation_send(invitation=invitation, link=link)
    detail = {"invited": invitation.email, "role": role, "mailed": mailed}
    note_access(request, reader, AccessAction.INVITE, None, detail)
    shown = {
        "email": invitation.email,
        "link": link,
        "for": "invitation",
        "mailed": "yes" if mailed else "",
    }
    return members_page(request, reader, shown_once=shown)


@require_POST
@project_page(May.ADMINISTER)
def invitation_again(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Invite once more: a new link with a new term; the old one ends."""
    invitation = _invitation(reader, pk)
    return invited(request, reader, email=invitation.email, role=invitation.role)


@require_POST
@project_page(May.ADMINISTER)
def invitation_withdraw(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """End an invitation."""
    invitation = _invitation(reader, pk)
    before = INVITATIONS.told(invitation)
    invitations.invitation_withdraw(invitation=invitation)
    note_access(request, reader, AccessAction.INVITE, None, {"withdrawn": invitation.email})
    words = f"The invitation of {invitation.email} is withdrawn: its link is dead."
    noted = {"rows": [(before, INVITATIONS.told(invitation))]}
    change_offer(request=request, reader=reader, kind=INVITATION, before=noted, words=words)
    return redirect("transcripts:member_list", reader.project.slug)


def _invitation(reader: Reader, pk: int) -> Invitation:
    found = people.invitation_by_id(project=reader.project, pk=pk)
    if found is None:
        raise Http404("No such invitation to this project.")
    return found
