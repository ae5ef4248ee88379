"""Whose password it is."""

from __future__ import annotations

from allauth.account.auth_backends import AuthenticationBackend

from transcripts.models import User


class PasswordBackend(AuthenticationBackend):
    """A person by e-mail address, in upper or lower case, and password. An address without an
    account costs as much time as a wrong password.
    """

    def _authenticate_by_email(self, email: str, password: str) -> User | None:
        found = User.objects.filter(email__iexact=email).first()
        checked: User | None = self._check_password(found, password)
        return checked
