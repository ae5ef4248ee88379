"""Second factors: taken away, required, sealed again after a change of the master key."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import decrypt, encrypt
from allauth.usersessions.models import UserSession
from django.db import transaction

from transcripts.models import Project, User

# Where an authenticator keeps its secret: the one of the codes, and the seed of recovery codes.
SEALED = ("secret", "seed")


@transaction.atomic
def second_factor_reset(*, user: User) -> None:
    """Take a person's second factor and recovery codes away, and end their sessions."""
    Authenticator.objects.filter(user=user).delete()
    for session in UserSession.objects.filter(user=user):
        session.end()


def project_require_factor(*, project: Project, required: bool) -> None:
    """Show nothing of the project to members without a second factor, or no longer."""
    project.require_second_factor = required
    project.save(update_fields=["require_second_factor"])


@transaction.atomic
def second_factors_reseal() -> int:
    """Seal all secrets with the first master key, so that an older one can go; returns how many.

    Raises `SealError` for a secret whose key is gone.
    """
    found = Authenticator.objects.select_for_update().order_by("pk")
    for authenticator in found:
        for name in SEALED:
            if name in authenticator.data:
                authenticator.data[name] = encrypt(decrypt(authenticator.data[name]))
        authenticator.save(update_fields=["data"])
    return len(found)
