"""Times in the reader's own time zone, which the browser says in a cookie."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable
from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE = "tz"
LONGEST_NAME = 60


class ZoneMiddleware:
    """Activates the time zone of the cookie; UTC where there is none, or none by that name."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = _zone(request.COOKIES.get(COOKIE, "")[:LONGEST_NAME])
        if zone is None:
            return self.get_response(request)
        with timezone.override(zone):
            return self.get_response(request)


@lru_cache(maxsize=500)
def _zone(name: str) -> zoneinfo.ZoneInfo | None:
    if not name or name not in _names():
        return None
    return zoneinfo.ZoneInfo(name)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())
