"""What django-allauth asks of us: how tries are counted, what is said, how secrets are kept."""

from __future__ import annotations

import base64
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from transcripts.audit import client_address
from transcripts.sealing import seal, unseal
from transcripts.services.sign_in_delays import TooSoonError, try_succeeded
from transcripts.sign_in.known_browsers import guess_begin
from transcripts.sign_in.told import failure_record

SEALED_NAME = b"second factor"


class AccountAdapter(DefaultAccountAdapter):
    """Nobody makes an account by themselves; each try is counted before its password is read."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "This e-mail address and password do not match.",
        "incorrect_password": "This is not your password.",
        "enter_current_password": "This is not your password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """The person, or None; answers 429 while a delay lasts. Who was switched off is told no
        more than a stranger.
        """
        email = str(credentials.get("email", ""))
        try:
            taken = guess_begin(request, kind="password", email=email)
        except TooSoonError as error:
            raise ImmediateHttpResponse(too_soon(request, error)) from None
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        if user is None or not user.is_active:
            failure_record(request=request, email=email, how="password")
            return None
        try_succeeded(taken)
        return user

    def reauthenticate(self, user: AbstractBaseUser, password: str) -> bool:
        found = self.authenticate(self.request, email=user.get_username(), password=password)
        return found is not None and found.pk == user.pk

    def is_reauthentication_required(self, *, app: str, **_: Any) -> bool:
        """Whoever has a password or a second factor shows it again before changing them. Who signs
        in by a provider alone has nothing to show here.
        """
        return bool(self.get_reauthentication_methods(self.request.user))

    def is_safe_url(self, url: str) -> bool:
        """Whether `next` stays on this very host."""
        host = self.request.get_host()
        return url_has_allowed_host_and_scheme(url, {host}, self.request.is_secure())

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request) or "0.0.0.0"


class SecondFactorAdapter(DefaultMFAAdapter):
    """The secrets of second factors are sealed in the database."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "This code is wrong, or was used before. Wait for the next one.",
        "cannot_delete_authenticator": "A project of yours requires a second factor.",
    }

    def encrypt(self, text: str) -> str:
        return base64.b64encode(seal(text.encode(), name=SEALED_NAME)).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Raises `SealError` when the key is gone: better than letting in without a code."""
        return unseal(base64.b64decode(encrypted_text), name=SEALED_NAME).decode()


def too_soon(request: HttpRequest, error: TooSoonError) -> HttpResponse:
    """429, and when to come again."""
    context = {"seconds": error.seconds, "minutes": (error.seconds + 59) // 60}
    response = render(request, "account/too_soon.html", context, status=429)
    response["Retry-After"] = str(error.seconds)
    return response
