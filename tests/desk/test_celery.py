"""The queue carries ids, shows none of them, and its absence holds nobody up."""

from __future__ import annotations

import time

import pytest
from django.conf import settings
from kombu.exceptions import OperationalError

from agentdesk.celery import HIDDEN, app
from agentdesk.local import ports


def test_publishing_without_a_broker_fails_soon() -> None:
    with app.connection(f"redis://127.0.0.1:{ports.any_free()}/0") as connection:
        began = time.monotonic()
        with pytest.raises(OperationalError):
            app.send_task("agentdesk.tasks.sweep", connection=connection)

        assert time.monotonic() - began < 5


def test_arguments_are_hidden_from_logs_and_headers(valkey_server: str) -> None:
    @app.task(name="tests.noop")
    def noop(_receipt: str) -> None: ...

    with app.connection(valkey_server) as connection:
        noop.apply_async(("a-receipt",), connection=connection, queue="tests")
        message = connection.SimpleQueue("tests").get(timeout=5)
        message.ack()

    assert message.headers["argsrepr"] == message.headers["kwargsrepr"] == HIDDEN
    del app.tasks["tests.noop"]


def test_work_of_a_killed_worker_is_done_again() -> None:
    assert settings.CELERY_TASK_ACKS_LATE is True
    assert settings.CELERY_TASK_REJECT_ON_WORKER_LOST is True
    longest = settings.CELERY_TASK_TIME_LIMIT
    assert settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"] > longest


def test_only_json_is_read() -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"


def test_the_sweep_is_on_the_schedule() -> None:
    tasks = {entry["task"] for entry in app.conf.beat_schedule.values()}

    assert "agentdesk.tasks.sweep" in tasks
