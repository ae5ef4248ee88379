"""Who belongs to a project, and its keys."""

from __future__ import annotations

from transcripts.models import ApiKey, Membership, Project


def member_list(*, project: Project) -> list[Membership]:
    """The project's members with their accounts, by e-mail address."""
    members = Membership.objects.filter(project=project).select_related("user")
    return list(members.order_by("user__email"))


def member_by_id(*, project: Project, pk: int) -> Membership | None:
    """One membership of the project."""
    return Membership.objects.filter(project=project, pk=pk).select_related("user").first()


def key_list(*, project: Project) -> list[ApiKey]:
    """The project's keys, revoked ones too, newest first."""
    keys = ApiKey.objects.filter(project=project).select_related("created_by")
    return list(keys.order_by("-created_at", "-pk"))


def key_by_id(*, project: Project, pk: int) -> ApiKey | None:
    """One key of the project."""
    return ApiKey.objects.filter(project=project, pk=pk).first()
