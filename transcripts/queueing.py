"""Puts tasks on the queue by name, and never waits for a queue that is away.

What is to be done stands in Postgres, so a task that is not queued is only late: the sweep finds
it.
"""

from __future__ import annotations

import logging
import time

from celery import current_app
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

# The tasks of `agentdesk.tasks`, which nothing but its name is known of here.
DELIVER = "agentdesk.tasks.deliver"
RUN_ANALYSE = "agentdesk.tasks.run_analyse"
# A queue that did not answer is left alone for so long, or each request would wait for it.
LEFT_ALONE_SECONDS = 5.0
_silent_until = 0.0


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
