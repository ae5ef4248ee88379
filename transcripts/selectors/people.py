"""Who belongs to a project, and its keys."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.db.models import Exists, OuterRef

from transcripts.choices import Role
from transcripts.models import ApiKey, Invitation, Membership, Project, User


def member_list(*, project: Project) -> list[Membership]:
    """The project's members with their accounts, by e-mail address; `has_factor` says who has a
    second factor.
    """
    factor = Authenticator.objects.filter(user=OuterRef("user"), type=Authenticator.Type.TOTP)
    members = Membership.objects.filter(project=project).select_related("user")
    return list(members.annotate(has_factor=Exists(factor)).order_by("user__email"))


def member_by_id(*, project: Project, pk: int) -> Membership | None:
    """One membership of the project."""
    return Membership.objects.filter(project=project, pk=pk).select_related("user").first()


def key_list(*, project: Project) -> list[ApiKey]:
    """The project's keys, revoked ones too, newest first."""
    keys = ApiKey.objects.filter(project=project).select_related("created_by", "successor")
    return list(keys.order_by("-created_at", "-pk"))


def key_by_id(*, project: Project, pk: int) -> ApiKey | None:
    """One key of the project."""
    return ApiKey.objects.filter(project=project, pk=pk).first()


def without_factor_count(*, project: Project) -> int:
    """How many members have no second factor."""
    having = Authenticator.objects.filter(type=Authenticator.Type.TOTP).values("user_id")
    return Membership.objects.filter(project=project).exclude(user_id__in=having).count()


def invitation_list(*, project: Project) -> list[Invitation]:
    """The project's open and expired invitations, by e-mail address."""
    invitations = Invitation.objects.filter(project=project).select_related("created_by")
    return list(invitations.order_by("email"))


def invitation_by_id(*, project: Project, pk: int) -> Invitation | None:
    """One invitation of the project."""
    return Invitation.objects.filter(project=project, pk=pk).first()


def is_governed(*, user: User, by: User) -> bool:
    """Whether `by` administers every project that `user` is a member of.

    Less would let the administrator of one project into another: a new password or a second factor
    less opens all of an account.
    """
    administered = Membership.objects.filter(user=by, role=Role.ADMIN).values("project_id")
    return not Membership.objects.filter(user=user).exclude(project_id__in=administered).exists()
