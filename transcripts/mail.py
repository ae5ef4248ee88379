"""Mail to people, as text and as HTML: who is invited, who forgot a password, whose address
changes. No word of a transcript.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import int_to_base36

from transcripts.models import Invitation, User

logger = logging.getLogger(__name__)


def invitation_send(*, invitation: Invitation, link: str) -> bool:
    """Mail the link; False where no mail is sent here, or the server does not take it."""
    subject = f"You are invited to {invitation.project.name} on Agentdesk"
    context = {"invitation": invitation, "link": link}
    return mail_send(to=invitation.email, subject=subject, name="invitation", context=context)


def password_link_send(*, user: User) -> bool:
    """Mail a link by which the person chooses a new password."""
    context = {"link": settings.AGENTDESK_URL + password_link_path(user), "user": user}
    subject = "A new password for Agentdesk"
    return mail_send(to=user.email, subject=subject, name="password_link", context=context)


def password_link_path(user: User) -> str:
    """The path of a link by which the person chooses a password; it works once."""
    token = default_token_generator.make_token(user)
    arguments = {"uidb36": int_to_base36(user.pk), "key": token}
    return reverse("account_reset_password_from_key", kwargs=arguments)


def address_link_send(*, user: User, email: str, link: str) -> bool:
    """Mail the link that confirms `email` to it."""
    context = {"link": link, "user": user, "email": email}
    subject = "Confirm your new address on Agentdesk"
    return mail_send(to=email, subject=subject, name="address_link", context=context)


def address_taken_send(*, email: str) -> bool:
    """Tell the owner of an account that somebody wanted its address for another."""
    subject = "Your address on Agentdesk"
    return mail_send(to=email, subject=subject, name="address_taken", context={"email": email})


def address_changed_send(*, before: str, after: str) -> bool:
    """Tell the address that was left that it no longer signs in."""
    context = {"before": before, "after": after}
    subject = "Your address on Agentdesk was changed"
    return mail_send(to=before, subject=subject, name="address_changed", context=context)


def mail_made(
    *, to: str, subject: str, name: str, context: Mapping[str, object], headers: dict[str, str]
) -> EmailMultiAlternatives:
    """A mail of the templates `mail/<name>.txt` and `.html`, not yet sent."""
    line = " ".join(subject.split())
    told = {**context, "subject": line}
    text = render_to_string(f"mail/{name}.txt", told)
    mail = EmailMultiAlternatives(line, text, to=[to], headers=headers)
    mail.attach_alternative(render_to_string(f"mail/{name}.html", told), "text/html")
    return mail


def mail_send(*, to: str, subject: str, name: str, context: Mapping[str, object]) -> bool:
    """Send such a mail; False where no mail is sent here, or the server does not take it."""
    if not settings.AGENTDESK_SENDS_MAIL:
        return False
    try:
        mail = mail_made(to=to, subject=subject, name=name, context=context, headers={})
        return mail.send() == 1
    except (SMTPException, OSError) as error:
        logger.warning("mail is not sent (%s)", type(error).__name__)
        return False
