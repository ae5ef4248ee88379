"""Mail to people: who is invited, who forgot a password. No word of a transcript."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import int_to_base36

from transcripts.models import Invitation, User

logger = logging.getLogger(__name__)


def invitation_send(*, invitation: Invitation, link: str) -> bool:
    """Mail the link; False where no mail is sent here, or the server does not take it."""
    subject = f"You are invited to {invitation.project.name} on Agentdesk"
    context = {"invitation": invitation, "link": link}
    return _send(invitation.email, subject, "mail/invitation.txt", context)


def password_link_send(*, user: User) -> bool:
    """Mail a link by which the person chooses a new password."""
    context = {"link": settings.AGENTDESK_URL + password_link_path(user), "user": user}
    return _send(user.email, "A new password for Agentdesk", "mail/password_link.txt", context)


def password_link_path(user: User) -> str:
    """The path of a link by which the person chooses a password; it works once."""
    token = default_token_generator.make_token(user)
    arguments = {"uidb36": int_to_base36(user.pk), "key": token}
    return reverse("account_reset_password_from_key", kwargs=arguments)


def _send(to: str, subject: str, template: str, context: dict[str, object]) -> bool:
    if not settings.AGENTDESK_SENDS_MAIL:
        return False
    message = EmailMessage(" ".join(subject.split()), render_to_string(template, context), to=[to])
    try:
        return message.send() == 1
    except (SMTPException, OSError) as error:
        logger.warning("mail is not sent (%s)", type(error).__name__)
        return False
