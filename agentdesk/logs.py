"""How Agentdesk logs: one event a line, with ids and never content.

An exception's message may repeat what it choked on (`invalid literal for int(): '…'`, a database's
DETAIL line), so a log line holds the exception's type and the places it passed, and its message
only for the kinds that tell of the machine and not of a transcript.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any

import structlog
from django.core.exceptions import DisallowedHost, ImproperlyConfigured
from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError

SPEAKS_OF_THE_MACHINE = (
    BrokerError,
    ConnectionError,
    DisallowedHost,
    ImproperlyConfigured,
    ImportError,
    InterfaceError,
    OperationalError,
    TimeoutError,
)
PLACES = 12

Event = MutableMapping[str, Any]


def places_only(_logger: Any, _method: str, event: Event) -> Event:
    """Replace `exc_info` by `error` (its type), `at` (innermost place last) perhaps `message`."""
    found = event.pop("exc_info", None)
    if found is True:
        found = sys.exc_info()
    error = found[1] if isinstance(found, tuple) else found
    if not isinstance(error, BaseException):
        return event
    event["error"] = f"{type(error).__module__}.{type(error).__qualname__}"
    frames = traceback.extract_tb(error.__traceback__)[-PLACES:]
    event["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    if isinstance(error, SPEAKS_OF_THE_MACHINE):
        event["message"] = str(error)
    return event


class StderrHandler(logging.Handler):
    """Writes to standard error as it is at that moment: test runners and daemons replace it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except Exception:
            self.handleError(record)


class TaskOutcomeFilter(logging.Filter):
    """Celery writes a failed task's exception into the message itself: keep the name and the id."""

    def filter(self, record: logging.LogRecord) -> bool:
        outcome = getattr(record, "data", None)
        if isinstance(outcome, dict) and "exc" in outcome:
            record.msg = "Task %s[%s] failed"
            record.args = (outcome.get("name"), outcome.get("id"))
        return True


class RouteFilter(logging.Filter):
    """Django writes the address of a refused request into the message, and an address may hold a
    run's id, or what somebody pasted: tell the route that it fits instead.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        path = getattr(request, "path", "")
        if path and isinstance(record.args, tuple):
            route = route_of(request)
            record.args = tuple(route if value == path else value for value in record.args)
        return True


def route_of(request: Any) -> str:
    """The pattern that a request's address fits, such as `p/<slug:slug>/runs/<int:pk>/`."""
    match = getattr(request, "resolver_match", None)
    return f"/{match.route}" if match else "an address that is not there"


PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    places_only,
]


def configure(kind: str, level: str) -> dict[str, Any]:
    """Set structlog up and return the `LOGGING` dictionary. `kind` is `json` or `console`."""
    formatter = structlog.stdlib.ProcessorFormatter
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *PROCESSORS,
            formatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    renderer = {
        "json": structlog.processors.JSONRenderer(),
        "console": structlog.dev.ConsoleRenderer(colors=False),
    }[kind]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"route": {"()": RouteFilter}, "task_outcome": {"()": TaskOutcomeFilter}},
        "formatters": {
            "lines": {
                "()": formatter,
                "foreign_pre_chain": PROCESSORS,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    renderer,
                ],
            }
        },
        "handlers": {"stderr": {"()": StderrHandler, "formatter": "lines", "filters": ["route"]}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            # Its lines quote the whole request, query string included.
            "django.server": {"handlers": [], "level": "CRITICAL", "propagate": False},
            "celery.app.trace": {"filters": ["task_outcome"], "level": level},
        },
    }
