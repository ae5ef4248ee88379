"""The audit lines of signing in, and what else follows from it. They belong to no project; each
project's administrators see those of its members.
"""

from __future__ import annotations

from typing import Any

from allauth.account import signals as account
from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from allauth.usersessions.internal.flows.sessions import end_other_sessions
from allauth.usersessions.models import UserSession
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from transcripts.audit import access_record
from transcripts.choices import AccessAction
from transcripts.models import Membership, User
from transcripts.services.sign_in_delays import forgotten_delete
from transcripts.sign_in.known_browsers import remember

WAYS = {"password": "password", "password_reset": "password link", "socialaccount": "provider"}


def failure_record(*, request: HttpRequest, email: str, how: str) -> None:
    """Leave a line of a wrong password or code. What was typed is not kept where it is nobody's
    address: it may be a password in the wrong field.
    """
    user = User.objects.filter(email__iexact=email).first()
    access_record(
        project=None,
        action=AccessAction.SIGN_FAILED,
        user=user,
        who="" if user else "no account",
        request=request,
        detail={"with": how},
    )


def joined_record(*, request: HttpRequest, membership: Membership) -> None:
    """Leave a line in the project that an invited person has joined."""
    access_record(
        project=membership.project,
        action=AccessAction.MEMBER,
        user=membership.user,
        request=request,
        detail={"joined": membership.user.email, "role": membership.role},
    )


@receiver(account.user_logged_in)
def signed_in(request: HttpRequest, user: User, response: HttpResponse, **_: Any) -> None:
    ways = [_way(record) for record in get_authentication_records(request, user)]
    _record(AccessAction.SIGN_IN, request, user, {"with": ", ".join(ways)})
    remember(request, response, user)
    forgotten_delete()


@receiver(user_logged_out)
def signed_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    if user is not None:
        _record(AccessAction.SIGN_OUT, request, user, {})


@receiver([account.password_changed, account.password_set])
def password_changed(request: HttpRequest, user: User, **_: Any) -> None:
    _record(AccessAction.PASSWORD, request, user, {"password": "changed"})
    end_other_sessions(request, user)


@receiver(account.password_reset)
def password_reset(request: HttpRequest, user: User, **_: Any) -> None:
    """Whoever was in by the old password is out."""
    _record(AccessAction.PASSWORD, request, user, {"password": "changed by a link"})
    for session in UserSession.objects.filter(user=user):
        session.end()


@receiver(mfa.authenticator_added)
def factor_added(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    _record(AccessAction.FACTOR, request, user, {"added": authenticator.type})


@receiver(mfa.authenticator_removed)
def factor_removed(
    request: HttpRequest, user: User, authenticator: Authenticator, **_: Any
) -> None:
    _record(AccessAction.FACTOR, request, user, {"removed": authenticator.type})


@receiver(mfa.authenticator_reset)
def factor_renewed(
    request: HttpRequest, user: User, authenticator: Authenticator, **_: Any
) -> None:
    _record(AccessAction.FACTOR, request, user, {"renewed": authenticator.type})


class SessionsAdapter(DefaultUserSessionsAdapter):
    """Ends sessions, and says so."""

    def end_sessions(self, sessions: Any) -> None:
        super().end_sessions(sessions)
        if sessions:
            request = self.request
            _record(
                AccessAction.SIGN_OUT, request, sessions[0].user, {"other sessions": len(sessions)}
            )


def _record(action: AccessAction, request: HttpRequest, user: User, detail: dict[str, Any]) -> None:
    access_record(project=None, action=action, user=user, request=request, detail=detail)


def _way(record: dict[str, Any]) -> str:
    if record["method"] == "mfa":
        return "recovery code" if record["type"] == "recovery_codes" else "code"
    return WAYS.get(record["method"], str(record["method"]))
