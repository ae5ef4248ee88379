"""Who gets an alert, and what they may read of it when it is sent: roles change after it was
written, and so does what a project masks.
"""

from __future__ import annotations

from typing import Any

from analysis.models import AlertChannel, AlertMessage, ChannelKind
from analysis.words import without_quotes
from transcripts.access import ROLE_MAY, May
from transcripts.maskers import typed_masker
from transcripts.models import Membership, Project, User


def body_for(channel: AlertChannel, message: AlertMessage) -> dict[str, Any]:
    """The message's body as its receiver may have it now."""
    words = str(message.body["words"])
    quotes = channel.for_leads and (
        channel.kind != ChannelKind.EMAIL or not may_not_read(message.project, channel.shown)
    )
    masker = typed_masker(message.project)
    return {**message.body, "words": masker.text(words if quotes else without_quotes(words))}


def may_not_read(project: Project, address: str) -> str:
    """Why a mail address may get no words of transcripts; empty where it may.

    An address that is no person's is a list of people, whom an administrator vouches for.
    """
    user = User.objects.filter(email__iexact=address).first()
    if user is None:
        return ""
    membership = Membership.objects.filter(project=project, user=user).first()
    if membership is None or not user.is_active:
        return f"{address} is no member of this project."
    if May.READ_TRANSCRIPTS not in ROLE_MAY[membership.role]:
        role = membership.get_role_display().lower()
        return f"{address} is {role} here, and may not read transcripts."
    return ""
