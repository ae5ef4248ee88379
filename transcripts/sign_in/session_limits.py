"""Ends sessions: so long after signing in, and when nothing was asked for so long."""

from __future__ import annotations

import time
from collections.abc import Callable

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from transcripts.audit import client_address

# Use is noted to the minute, so that not every request writes it.
NOTE_SECONDS = 60
BEGAN, SEEN = "began", "seen"


class SessionLimits:
    """Middleware, behind the one that says who is signed in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # A request without the cookie has no session, and none is looked for.
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            limit(request, now=time.time())
        return self.get_response(request)


def limit(request: HttpRequest, *, now: float) -> None:
    """Sign out a session that is over; otherwise note that it is in use."""
    session = request.session
    began, seen = session.get(BEGAN, now), session.get(SEEN, now)
    too_old = now - began > settings.SESSION_COOKIE_AGE
    if too_old or now - seen > settings.AGENTDESK_IDLE_SECONDS:
        logout(request)
        return
    if SEEN not in session or now - seen >= NOTE_SECONDS:
        session[BEGAN], session[SEEN] = began, now
        address = client_address(request)
        told = {"ip": address} if address else {}
        mine = UserSession.objects.filter(session_key=session.session_key)
        mine.update(last_seen_at=timezone.now(), **told)
