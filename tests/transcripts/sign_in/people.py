"""Persons who sign in as a browser does, by the pages."""

from __future__ import annotations

import time
from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.test import Client

from transcripts.models import User

EMAIL, PASSWORD = "lead@desk.example", "tall-orchid-9917-hall"


def sign_in(client: Client, email: str = EMAIL, password: str = PASSWORD, **more: Any) -> Any:
    return client.post("/sign-in/", {"login": email, "password": password}, **more)


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def with_second_factor(user: User) -> str:
    """Set a second factor up, as the page leaves it; returns its secret."""
    secret = str(generate_totp_secret())
    TOTP.activate(user, secret)
    RecoveryCodes.activate(user)
    return secret


def code_of(secret: str, *, steps: int = 0) -> str:
    """The code that an authenticator app shows now, or some steps of 30 seconds from now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps)))


def secret_of(user: User) -> str:
    found = Authenticator.objects.get(user=user, type=Authenticator.Type.TOTP)
    return str(get_adapter().decrypt(found.data["secret"]))


def recovery_codes_of(user: User) -> list[str]:
    found = Authenticator.objects.get(user=user, type=Authenticator.Type.RECOVERY_CODES)
    return list(found.wrap().get_unused_codes())
