"""Browsers in which a person has signed in before, known by a signed cookie.

Guesses from elsewhere slow down the account, and must not keep its owner out: a known browser is
counted by itself. The cookie lets nobody in, it only decides which count a try belongs to.
(After OWASP's "slow down online guessing attacks with device cookies".)
"""

from __future__ import annotations

import secrets

from django.core import signing
from django.http import HttpRequest, HttpResponse

from transcripts.audit import client_address
from transcripts.models import User
from transcripts.services.sign_in_delays import Try, address_key, key_of, try_begin

COOKIE = "agentdesk_browser"
SALT = "transcripts.sign_in.known_browsers"
SECONDS = 60 * 60 * 24 * 180


def browser_of(request: HttpRequest, email: str) -> str:
    """The browser's own number, where this person has signed in with it; else empty."""
    try:
        known = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=SECONDS)
        return str(known["browser"]) if known["email"] == email.casefold() else ""
    except (signing.BadSignature, KeyError, TypeError, ValueError):
        return ""


def remember(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Say in a cookie that this person signed in here. Each sign-in gets a new number, so that a
    stolen cookie's count does not follow its owner.
    """
    value = {"email": user.email.casefold(), "browser": secrets.token_urlsafe(12)}
    response.set_cookie(
        COOKIE,
        signing.dumps(value, salt=SALT),
        SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )


def guess_begin(request: HttpRequest, *, kind: str, email: str) -> Try:
    """Count a try at a secret of the account (`kind`: "password" or "code"); raises
    `TooSoonError`.
    """
    if browser := browser_of(request, email):
        return try_begin(own=key_of(f"{kind} browser", browser), address=None)
    own = key_of(f"{kind} account", email.casefold())
    return try_begin(own=own, address=address_key(client_address(request)))
