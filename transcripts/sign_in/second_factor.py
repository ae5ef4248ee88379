"""Who has a second factor, and of whom one is required."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.conf import settings

from transcripts.models import Membership, Project, User


def has_second_factor(user: User) -> bool:
    """Whether the person has set one up. Signing in then asks for it, so who is signed in has
    shown it. Recovery codes alone are none.
    """
    found = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP)
    return bool(found.exists())


def is_required(user: User) -> bool:
    """Whether the installation or a project of the person asks for one."""
    if settings.AGENTDESK_REQUIRE_SECOND_FACTOR:
        return True
    return Membership.objects.filter(user=user, project__require_second_factor=True).exists()


def is_missing(user: User, project: Project) -> bool:
    """Whether the person has to set one up before anything of the project is shown."""
    required = settings.AGENTDESK_REQUIRE_SECOND_FACTOR or project.require_second_factor
    return bool(required) and not has_second_factor(user)
