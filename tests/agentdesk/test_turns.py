"""A worker does not wait long for what another one holds: it puts its work back and goes on."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import Mock, patch

import pytest
from django.db import connection, transaction

from agentdesk.draining import deliveries_process
from agentdesk.pipeline import delivery_process, trace_assemble
from tests.factories import a_project, native_rounds
from tests.transcripts.services.test_traces_any_order import agent_spans, request_of
from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.models import Delivery, OpenTrace, Project, Run
from transcripts.queueing import DELIVER
from transcripts.services.deliveries import deliveries_claim, delivery_accept

pytestmark = pytest.mark.django_db(transaction=True)

SPANS = agent_spans(1, "", "main", [("Looking.", ["ok"]), ("Done.", [])])


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentdesk.turns.LOCK_WAIT_MS", 100)


@pytest.fixture
def queued() -> Iterator[Mock]:
    with (
        patch("agentdesk.pipeline.enqueue") as alone,
        patch("agentdesk.draining.enqueue", alone),
    ):
        yield alone


@contextmanager
def held(table: str) -> Iterator[None]:
    """Another worker holds the rows of a table."""
    holds, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SELECT 1 FROM {table} FOR UPDATE")
            holds.set()
            done.wait(30)
        connection.close()

    worker = threading.Thread(target=hold)
    worker.start()
    holds.wait(30)
    try:
        yield
    finally:
        done.set()
        worker.join()


def spans_delivery(project: Project, spans: list[dict[str, object]]) -> Delivery:
    return delivery_accept(
        project=project, kind=DeliveryKind.SPANS, content=request_of(spans), format="otlp"
    )[0]


def rounds_delivery(project: Project, number: int) -> Delivery:
    body = json.dumps({"rounds": [native_rounds()[number]]}).encode()
    kind = DeliveryKind.ROUNDS
    return delivery_accept(project=project, kind=kind, content=body, run_id="r")[0]


def test_spans_of_a_trace_in_other_hands_are_put_back(queued: Mock) -> None:
    project = a_project()
    delivery_process(spans_delivery(project, SPANS[:2]).pk)
    more = spans_delivery(project, SPANS[2:])

    with held("transcripts_opentrace"):
        began = time.monotonic()
        due = delivery_process(more.pk)
        took = time.monotonic() - began

    more.refresh_from_db()
    assert due == {}
    assert took < 10
    assert (more.state, more.attempts) == (DeliveryState.ACCEPTED, 0)
    queued.assert_called_once_with(DELIVER, str(more.pk), countdown=1.0)
    delivery_process(more.pk)
    assert OpenTrace.objects.get().span_count == len(SPANS)


def test_small_deliveries_of_a_run_in_other_hands_are_put_back(queued: Mock) -> None:
    project = a_project()
    delivery_process(rounds_delivery(project, 0).pk)
    more = [rounds_delivery(project, number) for number in (1, 2)]

    with held("transcripts_run"):
        deliveries_process(deliveries_claim())

    assert queued.call_count == 1
    assert Delivery.objects.filter(state=DeliveryState.ACCEPTED, attempts=0).count() == len(more)
    deliveries_process(deliveries_claim())
    assert Run.objects.get().round_count == 3


def test_a_trace_whose_run_is_in_other_hands_is_put_together_later(queued: Mock) -> None:
    project = a_project()
    for part in (SPANS[:2], SPANS[2:3]):
        delivery_process(spans_delivery(project, part).pk)
    trace = OpenTrace.objects.get()
    assert trace.due_at is not None

    with held("transcripts_run"):
        trace_assemble(trace.pk)

    trace.refresh_from_db()
    assert trace.due_at is not None
    assert queued.call_args.args[1] == trace.pk
    trace_assemble(trace.pk)
    trace.refresh_from_db()
    assert trace.due_at is None
