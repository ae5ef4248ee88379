"""Who sends: bearer keys of the API, their scopes and how often they may ask."""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from functools import lru_cache
from typing import Any

import redis
from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer

from transcripts.choices import KeyScope
from transcripts.models import ApiKey
from transcripts.problems import ProblemError
from transcripts.services.api_keys import key_digest

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 60
# The last use is told to the minute, so that not every request writes it.
USE_INTERVAL = timedelta(minutes=1)
# A Redis that did not answer is left alone for so long; without it nothing is counted.
LEFT_ALONE_SECONDS = 5.0
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="agentdesk"'}


class KeyAuth(HttpBearer):
    """A key of the project with one of the scopes. 401 for no or a bad key, 403 for
    lack of scope.
    """

    openapi_name = "key"

    def __init__(self, *scopes: KeyScope) -> None:
        super().__init__()
        self.scopes = scopes

    def __call__(self, request: HttpRequest) -> ApiKey:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise ProblemError(
                401, "Send `Authorization: Bearer` and a key of the project.", headers=CHALLENGE
            )
        return self.authenticate(request, token.strip())

    def authenticate(self, request: HttpRequest, token: str) -> ApiKey:
        found = ApiKey.objects.select_related("project").filter(digest=key_digest(token))
        key = found.filter(revoked_at=None).first()
        if key is None:
            raise ProblemError(401, "This key is unknown or was revoked.", headers=CHALLENGE)
        if key.expired:
            raise ProblemError(401, "This key has expired.", headers=CHALLENGE)
        if not any(scope.value in key.scopes for scope in self.scopes):
            wanted = " or ".join(scope.value for scope in self.scopes)
            raise ProblemError(403, f"This key lacks the scope {wanted}.")
        _limit(key)
        _note_use(key)
        return key


def _note_use(key: ApiKey) -> None:
    now = timezone.now()
    if key.last_used_at is None or key.last_used_at < now - USE_INTERVAL:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_INTERVAL)
        ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)


def _limit(key: ApiKey) -> None:
    """Refuse by 429 what goes beyond the requests of a minute. Redis away: nothing is refused."""
    allowed = settings.AGENTDESK_KEY_REQUESTS_PER_MINUTE
    now = time.time()
    window = int(now // WINDOW_SECONDS)
    # Not by its number, which another database on the same Redis has given to a key of its own.
    name = bytes(key.digest)[:8].hex()
    count = _counter().count(f"agentdesk:key:{name}:{window}")
    if count > allowed:
        wait = int((window + 1) * WINDOW_SECONDS - now) + 1
        raise ProblemError(
            429,
            f"This key may ask {allowed:,} times a minute.",
            headers={"Retry-After": str(wait)},
        )


class _Counter:
    """Counts in Redis, which all web processes share."""

    def __init__(self, url: str) -> None:
        options: dict[str, Any] = {"socket_timeout": 0.2, "socket_connect_timeout": 0.2}
        self.client = redis.Redis.from_url(url, **options)
        self.silent_until = 0.0

    def count(self, name: str) -> int:
        """How often `name` was counted, this time included; 0 where Redis does not answer."""
        if time.monotonic() < self.silent_until:
            return 0
        try:
            pipe = self.client.pipeline(transaction=False)
            pipe.incr(name)
            pipe.expire(name, 2 * WINDOW_SECONDS)
            return int(pipe.execute()[0])
        except redis.RedisError as error:
            self.silent_until = time.monotonic() + LEFT_ALONE_SECONDS
            logger.warning("requests are not counted: Redis (%s)", type(error).__name__)
            return 0


@lru_cache(maxsize=1)
def _counter() -> _Counter:
    return _Counter(settings.CELERY_BROKER_URL)
