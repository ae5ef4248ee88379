"""Log lines hold ids and places, never content."""

from __future__ import annotations

import json
import logging
import logging.config
from collections.abc import Iterator

import pytest
import structlog
from django.conf import settings
from django.db import IntegrityError, OperationalError
from django.test import Client

from agentdesk import logs

CANARY = "canary-4417-7731"


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """The product's JSON logs; the tests' own come back afterwards."""
    logging.config.dictConfig(logs.configure("json", "INFO"))
    yield capsys
    logging.config.dictConfig(logs.configure("console", "WARNING"))
    logging.config.dictConfig(settings.LOGGING)


def logged(lines: pytest.CaptureFixture[str]) -> dict[str, object]:
    line = lines.readouterr().err.strip()
    assert "\n" not in line
    return dict(json.loads(line))


def fail(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    "error",
    [ValueError(f"invalid literal: {CANARY}"), IntegrityError(f"DETAIL: Key (a)=({CANARY})")],
    ids=["value", "integrity"],
)
def test_an_exception_is_told_by_type_and_place(
    lines: pytest.CaptureFixture[str], error: Exception
) -> None:
    try:
        fail(error)
    except Exception:
        logging.getLogger("a").exception("it failed")

    event = logged(lines)
    assert CANARY not in str(event)
    assert str(event["error"]).endswith(type(error).__name__)
    assert "test_logs.py" in str(event["at"])
    assert "in fail" in str(event["at"]) or "fail" in str(event["at"])


def test_an_exception_of_the_machine_keeps_its_message(lines: pytest.CaptureFixture[str]) -> None:
    try:
        fail(OperationalError("connection refused"))
    except Exception:
        structlog.get_logger("a").exception("it failed")

    assert logged(lines)["message"] == "connection refused"


def test_a_failed_task_is_told_by_name_and_id(lines: pytest.CaptureFixture[str]) -> None:
    outcome = {"name": "a.task", "id": "4711", "exc": CANARY, "traceback": CANARY}
    logging.getLogger("celery.app.trace").error(
        "Task %(name)s[%(id)s] raised: %(exc)s\n%(traceback)s", outcome, extra={"data": outcome}
    )

    event = logged(lines)
    assert event["event"] == "Task a.task[4711] failed"
    assert CANARY not in str(event)


def test_ids_are_kept(lines: pytest.CaptureFixture[str]) -> None:
    structlog.get_logger("a").info("delivery stored", receipt="4711", runs=1)

    event = logged(lines)
    assert (event["event"], event["receipt"], event["level"]) == ("delivery stored", "4711", "info")


@pytest.mark.parametrize(
    ("address", "route"),
    [
        pytest.param(f"/api/v1/runs/{CANARY}/rounds", "runs/<path:run_id>/rounds", id="a run's id"),
        pytest.param(f"/p/{CANARY}/", "an address that is not there", id="no address"),
    ],
)
@pytest.mark.django_db
def test_a_refused_request_is_told_by_its_route(
    lines: pytest.CaptureFixture[str], client: Client, address: str, route: str
) -> None:
    client.post(address, b"{", content_type="application/json")

    line = logged(lines)
    assert route in str(line["event"])
    assert CANARY not in str(line)
