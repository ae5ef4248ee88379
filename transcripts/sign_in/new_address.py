"""The link that confirms a person's new e-mail address.

It says itself whose it is and from which address to which, signed, so that nothing of an address
is kept before its owner has confirmed it: allauth's own pages keep such an address with the
account, and a provider's sign-in would then join whoever owns it to the account of who typed it.
Since the old address is in it, it works once.
"""

from __future__ import annotations

from django.conf import settings
from django.core import signing
from django.urls import reverse

from transcripts.models import User

SALT = "transcripts.sign_in.new_address"
SECONDS = 60 * 60 * 24


class LinkOverError(Exception):
    """The link is no link, of another person, was used, or is too old."""


def link_to(*, user: User, email: str) -> str:
    """The address that `email` is confirmed at."""
    said = {"user": user.pk, "from": user.email, "to": email}
    token = signing.dumps(said, salt=SALT)
    return settings.AGENTDESK_URL + reverse("address_confirm", args=[token])


def address_in(*, token: str, user: User) -> str:
    """The new address that a link is for; raises `LinkOverError`."""
    try:
        said = signing.loads(token, salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        raise LinkOverError from None
    if (said["user"], said["from"]) != (user.pk, user.email):
        raise LinkOverError
    return str(said["to"])
