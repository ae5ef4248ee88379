"""The Celery app. Its settings are in `agentdesk.settings`, under CELERY_."""

from __future__ import annotations

import ctypes
import gc
import logging.config
import os
import signal
from pathlib import Path
from typing import Any

from celery import Celery, Task
from celery.signals import (
    beat_embedded_init,
    heartbeat_sent,
    setup_logging,
    task_prerun,
    worker_init,
    worker_process_init,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentdesk.settings")

PR_SET_PDEATHSIG = 1
HIDDEN = "(hidden)"


class QuietTask(Task):  # type: ignore[type-arg]
    """A task whose arguments are shown nowhere: no log, no event and no header repeats them."""

    def apply_async(self, *args: Any, **options: Any) -> Any:
        options.setdefault("argsrepr", HIDDEN)
        options.setdefault("kwargsrepr", HIDDEN)
        return super().apply_async(*args, **options)


app = Celery("agentdesk", task_cls=QuietTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Celery would end the database connection after each task. Its own setting to keep it is read by
# this name alone, and is counted in tasks.
app.conf.CELERY_DB_REUSE_MAX = 10_000


@setup_logging.connect
def log_as_django_does(**_: Any) -> None:
    """Celery would put its own handlers on the root logger."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


@worker_init.connect
def load_rules(**_: Any) -> None:
    """Before the pool forks: children share them, and the first task need not wait.

    Prices (65 MB in all processes together) are left to the first task that needs one.
    """
    from transcripts.masking.engine import load

    load()
    # What is there now is there for good: a collection in a child would copy all of its pages.
    gc.collect()
    gc.freeze()


@task_prerun.connect
def look_after_connections(**_: Any) -> None:
    """As Django does before a request: what is old or broken is made anew."""
    from django.db import connections

    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()


@worker_process_init.connect
@beat_embedded_init.connect
def die_with_the_parent(**_: Any) -> None:
    """A child of a killed worker would go on for as long as its task lasts, the beat for ever."""
    if hasattr(signal, "SIGKILL") and os.uname().sysname == "Linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@heartbeat_sent.connect
def say_alive(**_: Any) -> None:
    """Touch the file that a container's health check looks at."""
    from django.conf import settings

    if settings.AGENTDESK_ALIVE_FILE:
        Path(settings.AGENTDESK_ALIVE_FILE).touch()
