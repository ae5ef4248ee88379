"""Takes back what administrators did to members, invitations and second factors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from transcripts.access import May, Reader
from transcripts.choices import Role
from transcripts.models import Invitation, Membership, Project
from transcripts.services.members import LastAdministratorError
from transcripts.services.second_factors import project_require_factor
from transcripts.undo import UndoError, undoes
from transcripts.undo_rows import Rows, pairs_of

MEMBER, INVITATION, FACTOR = "member_changed", "invitation_withdrawn", "factor_required"
MEMBERS = Rows(
    Membership,
    ("user_id", "role", "restricted", "created_at"),
    name=lambda membership: f"The membership of {membership.user.email}",
)
INVITATIONS = Rows(
    Invitation,
    ("role", "expires_at", "removed_at"),
    name=lambda invitation: f"The invitation of {invitation.email}",
)


@undoes(MEMBER, may=May.ADMINISTER)
def member_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Give a member the role of before, end a membership, or let one begin again."""
    admins = Membership.objects.select_for_update().filter(project=reader.project, role=Role.ADMIN)
    # Locked, so that two of them cannot leave at once.
    list(admins.order_by("pk"))
    (pair,) = pairs_of(noted)
    back = MEMBERS.put_back(reader.project, [pair])
    if not admins.exists():
        raise UndoError(str(LastAdministratorError()))
    if not back:
        return "They are no longer a member."
    membership = cast(Membership, back[0])
    role = Role(membership.role).label.lower()
    if pair[1] is None:
        return f"{membership.user.email} is a member again, as {role}."
    read = ", and reads restricted runs" if membership.restricted else ""
    return f"{membership.user.email} is {role} as before{read}."


@undoes(INVITATION, may=May.ADMINISTER)
def invitation_back(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Let the link of an invitation work again, until its day."""
    members = Membership.objects.filter(project=reader.project)
    invitation = cast(Invitation, INVITATIONS.put_back(reader.project, pairs_of(noted))[0])
    if members.filter(user__email__iexact=invitation.email).exists():
        raise UndoError(f"{invitation.email} is a member by now.")
    return f"{invitation.email} is invited as before: the link works again."


@undoes(FACTOR, may=May.ADMINISTER)
def factor_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Require a second factor of all members as before, or of none."""
    project = Project.objects.select_for_update(no_key=True).get(pk=reader.project.pk)
    if project.require_second_factor != noted["after"]:
        raise UndoError("Somebody has changed it again since.")
    project_require_factor(project=project, required=noted["before"])
    if noted["before"]:
        return "Every member needs a second factor, as before."
    return "No second factor is required, as before."
