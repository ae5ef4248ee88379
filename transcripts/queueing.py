"""Puts tasks on the queue by name, and never waits for a queue that is away.

What is to be done stands in Postgres, so a task that is not queued is only late: the sweep finds
it.
"""

from __future__ import annotations

import logging
import time
from functools import lru_cache

import redis
from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

# The tasks of `agentdesk.tasks`, which nothing but its name is known of here.
DELIVER = "agentdesk.tasks.deliver"
RUN_ANALYSE = "agentdesk.tasks.run_analyse"
INDEX_TEXTS = "agentdesk.tasks.index_texts"
RUN_EMPTY = "agentdesk.tasks.run_empty"
PASSWORD_LINK = "agentdesk.tasks.password_link"
MENTION_MAIL = "agentdesk.tasks.mention_mail"
LIVE_TEST = "agentdesk.tasks.live_test"
# A queue that did not answer is left alone for so long, or each request would wait for it.
LEFT_ALONE_SECONDS = 5.0
_silent_until = 0.0
# Set while a task is queued that will look for what waits. It goes by itself where the task was
# lost; a worker that is behind is told of no more than this often.
DRAIN_QUEUED = "agentdesk:drain"
DRAIN_QUEUED_MS = 2000
# The same for the task that indexes texts. What comes together is indexed together.
INDEX_QUEUED = "agentdesk:index"
INDEX_QUEUED_MS = 5_000
INDEX_AFTER_SECONDS = 1.0


def enqueue(task: str, argument: str | int, *, countdown: float = 0) -> bool:
    """Queue a task with one id; False, and a line in the log, where the queue does not answer."""
    global _silent_until
    if time.monotonic() < _silent_until:
        return False
    try:
        current_app.send_task(task, (argument,), countdown=countdown, argsrepr="(hidden)")
    except (OperationalError, OSError) as error:
        _silent_until = time.monotonic() + LEFT_ALONE_SECONDS
        logger.warning("the queue does not answer (%s); the sweep will", type(error).__name__)
        return False
    return True


def enqueue_drain(delivery_id: str) -> None:
    """Queue a small delivery, unless a task is queued already that will take it along.

    Needs the delivery to be committed: the task withdraws the sign that it is queued before it
    looks for what waits, so it sees whatever was not queued on account of that sign.
    """
    if _is_first(DRAIN_QUEUED, DRAIN_QUEUED_MS):
        enqueue(DELIVER, delivery_id)


def drain_begins() -> None:
    """A worker is about to look for what waits: what comes from now on is to be queued again."""
    _withdraw(DRAIN_QUEUED)


def enqueue_index() -> None:
    """Let what was stored be indexed for search, unless a task is queued already that will."""
    if _is_first(INDEX_QUEUED, INDEX_QUEUED_MS):
        enqueue(INDEX_TEXTS, 0, countdown=INDEX_AFTER_SECONDS)


def index_begins() -> None:
    """A worker is about to look for what is to be indexed."""
    _withdraw(INDEX_QUEUED)


def _is_first(sign: str, milliseconds: int) -> bool:
    """Set a sign that a task is queued; False where it is set, or the queue does not answer."""
    if time.monotonic() < _silent_until:
        return False
    try:
        return bool(_redis().set(sign, "1", nx=True, px=milliseconds))
    except redis.RedisError:
        return True


def _withdraw(sign: str) -> None:
    try:
        _redis().delete(sign)
    except redis.RedisError as error:
        logger.warning("the queue does not answer (%s)", type(error).__name__)


@lru_cache(maxsize=1)
def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings.CELERY_BROKER_URL, socket_timeout=1, socket_connect_timeout=1
    )
