"""Invitations to a project: made, taken, sent again, withdrawn."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from transcripts.models import Invitation, Membership, Project, User
from transcripts.undo import UNDONE_WITHIN

TOKEN_BYTES = 32


class InvitationGoneError(Exception):
    """The link was used, withdrawn, replaced by a newer one, or is too old."""


@transaction.atomic
def invitation_create(
    *, project: Project, email: str, role: str, user: User | None
) -> tuple[Invitation, str]:
    """Invite an address; returns the invitation and its link's token, which is kept nowhere. An
    earlier invitation of the address to this project is replaced, and its link ends.
    """
    Invitation.everything.filter(project=project, email__iexact=email).delete()
    token = secrets.token_urlsafe(TOKEN_BYTES)
    invitation = Invitation.objects.create(
        project=project,
        email=User.objects.normalize_email(email),
        role=role,
        digest=_digest(token),
        created_by=user,
        expires_at=timezone.now() + timedelta(days=settings.AGENTDESK_INVITATION_DAYS),
    )
    return invitation, token


def invitation_find(*, token: str) -> Invitation:
    """The invitation that a link is for; raises `InvitationGoneError`."""
    found = Invitation.objects.select_related("project").filter(digest=_digest(token)).first()
    if found is None or found.expired:
        raise InvitationGoneError
    return found


@transaction.atomic
def invitation_accept(*, token: str, name: str, password: str) -> Membership:
    """Make the account and its membership; raises `InvitationGoneError`, also for the second of two
    who take the same link at once, and where the address has got an account since.
    """
    invitation = invitation_find(token=token)
    taken = Invitation.objects.select_for_update().filter(pk=invitation.pk).first()
    if taken is None or User.objects.filter(email__iexact=invitation.email).exists():
        raise InvitationGoneError
    user = User.objects.create_user(invitation.email, password, name=name)
    return _join(invitation, user)


@transaction.atomic
def invitation_join(*, token: str, user: User) -> Membership:
    """Make who is signed in a member; the invitation must be for their address."""
    invitation = invitation_find(token=token)
    if invitation.email.casefold() != user.email.casefold():
        raise InvitationGoneError
    return _join(invitation, user)


def invitation_withdraw(*, invitation: Invitation) -> None:
    """End the link at once. The invitation can be brought back for a day."""
    invitation.removed_at = timezone.now()
    invitation.save(update_fields=["removed_at"])


def invitations_forget() -> int:
    """Delete invitations that nobody can bring back any more; returns how many."""
    old = Invitation.everything.filter(removed_at__lt=timezone.now() - UNDONE_WITHIN)
    return old.delete()[0]


@transaction.atomic
def account_by_provider(
    *, email: str, name: str, known: User | None
) -> tuple[User | None, list[Membership]]:
    """The account of a verified address, and the memberships that it got by open invitations.

    `known`: the account that the provider's person has been joined to before. None where there is
    no account and none may be made: only who is invited gets one, unless
    AGENTDESK_OIDC_INVITED_ONLY says otherwise.
    """
    now = timezone.now()
    invited = list(
        Invitation.objects.select_for_update()
        .filter(email__iexact=email, expires_at__gt=now)
        .order_by("pk")
    )
    user = known or User.objects.filter(email__iexact=email).first()
    if user is None:
        if not invited and settings.AGENTDESK_OIDC_INVITED_ONLY:
            return None, []
        user = User.objects.create_user(email, name=name)
    if not user.is_active:
        return user, []
    return user, [_join(invitation, user) for invitation in invited]


def _join(invitation: Invitation, user: User) -> Membership:
    membership, _ = Membership.objects.get_or_create(
        project=invitation.project, user=user, defaults={"role": invitation.role}
    )
    invitation.delete()
    return membership


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
