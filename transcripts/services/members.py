"""Who belongs to a project, and as what."""

from __future__ import annotations

from dataclasses import dataclass

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction

from transcripts.choices import Role
from transcripts.models import Membership, Project, User
from transcripts.unseen import name_cleaned


class LastAdministratorError(ValueError):
    """A project keeps at least one administrator."""

    def __init__(self) -> None:
        super().__init__("A project keeps at least one administrator. Make another one first.")


class AlreadyMemberError(ValueError):
    """The person is a member already."""


class AddressTakenError(ValueError):
    """Another account has the e-mail address."""


@dataclass(frozen=True)
class Added:
    """The new membership; `new_account` says that the person had no account, and has no password
    yet.
    """

    membership: Membership
    new_account: bool


@transaction.atomic
def member_add(*, project: Project, email: str, role: str) -> Added:
    """Make a person a member, by e-mail address in upper or lower case; makes their account where
    needed.
    """
    user = User.objects.filter(email__iexact=email).first()
    new_account = user is None
    if user is None:
        user = User.objects.create_user(email=email)
    membership, made = Membership.objects.get_or_create(
        project=project, user=user, defaults={"role": role}
    )
    if not made:
        raise AlreadyMemberError(f"{user.email} is a member already, as {membership.role}.")
    return Added(membership, new_account)


@transaction.atomic
def member_add_known(*, project: Project, email: str, role: str) -> Membership | None:
    """Make a person who has an account a member; None for an address without one."""
    if not User.objects.filter(email__iexact=email).exists():
        return None
    return member_add(project=project, email=email, role=role).membership


def person_rename(*, user: User, name: str) -> None:
    """Take another name for a person."""
    user.name = name_cleaned(name)
    user.save(update_fields=["name"])


def person_readdress(*, user: User, email: str) -> None:
    """Take another e-mail address for a person, who signs in with it alone from now on; raises
    `AddressTakenError`. Links for the old one, as for a new password, end.
    """
    try:
        with transaction.atomic():
            user.email = User.objects.normalize_email(email)
            user.save(update_fields=["email"])
            # By an address that allauth keeps beside the account's own one could still sign in.
            EmailAddress.objects.filter(user=user).delete()
    except IntegrityError:
        user.refresh_from_db(fields=["email"])
        raise AddressTakenError("Another account has this address.") from None


@transaction.atomic
def member_change(*, membership: Membership, role: str, restricted: bool) -> None:
    """Change role, and whether the person reads restricted runs."""
    if membership.role == Role.ADMIN and role != Role.ADMIN:
        _keep_an_administrator(membership)
    membership.role = role
    membership.restricted = restricted
    membership.save(update_fields=["role", "restricted"])


@transaction.atomic
def member_remove(*, membership: Membership) -> None:
    """End a membership. The person's account and audit lines stay."""
    if membership.role == Role.ADMIN:
        _keep_an_administrator(membership)
    membership.delete()


def _keep_an_administrator(leaving: Membership) -> None:
    """Locks the project's administrators, so that two of them cannot leave at once."""
    admins = Membership.objects.select_for_update().filter(
        project=leaving.project_id, role=Role.ADMIN
    )
    if not any(membership.pk != leaving.pk for membership in admins.order_by("pk")):
        raise LastAdministratorError
