"""Forms of django-allauth, with tries counted and our own words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.account.forms import ChangePasswordForm, LoginForm
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm, DeactivateTOTPForm
from django import forms

from transcripts.services.sign_in_delays import TooSoonError, try_succeeded
from transcripts.sign_in.adapters import too_soon
from transcripts.sign_in.known_browsers import guess_begin
from transcripts.sign_in.second_factor import is_required
from transcripts.sign_in.told import failure_record


class SignInForm(LoginForm):
    """E-mail and password. The address is never told apart from the password."""

    def clean_login(self) -> str:
        return str(super().clean_login()).replace("\x00", "")


class ChangeForm(ChangePasswordForm):
    """The old password counts as a guess, as it does at the sign-in."""

    def clean_oldpassword(self) -> str:
        with counted(self.user, kind="password"):
            return str(super().clean_oldpassword())


class CodeForm(AuthenticateForm):
    """A code of the second factor, after the password."""

    def clean_code(self) -> str:
        with counted(self.user, kind="code"):
            return str(super().clean_code())


class CodeAgainForm(ReauthenticateForm):
    """A code, asked for again before something that matters."""

    def clean_code(self) -> str:
        with counted(self.user, kind="code"):
            return str(super().clean_code())


class FirstCodeForm(ActivateTOTPForm):
    """The code by which a new second factor shows that it works."""

    def clean_code(self) -> str:
        with counted(self.user, kind="code"):
            return str(super().clean_code())


class TurnOffForm(DeactivateTOTPForm):
    """No second factor is turned off where one is required."""

    def clean(self) -> dict[str, Any] | None:
        if is_required(self.authenticator.user):
            raise forms.ValidationError(
                "A second factor is required of you, so it can only be replaced: ask an "
                "administrator to reset it."
            )
        cleaned: dict[str, Any] | None = super().clean()
        return cleaned


@contextmanager
def counted(user: Any, *, kind: str) -> Iterator[None]:
    """Count what is done within as a try, and as a failed one if it raises a `ValidationError`."""
    request = context.request
    try:
        taken = guess_begin(request, kind=kind, email=user.email)
    except TooSoonError as error:
        raise ImmediateHttpResponse(too_soon(request, error)) from None
    try:
        yield
    except forms.ValidationError:
        failure_record(request=request, email=user.email, how=kind)
        raise
    try_succeeded(taken)
