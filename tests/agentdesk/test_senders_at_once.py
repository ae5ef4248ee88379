"""Several senders and workers at once: the rows are those of one after the other."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection
from django.test import Client

from agentdesk.pipeline import delivery_process
from tests.factories import a_key, a_project, native_rounds
from transcripts.choices import DeliveryKind, DeliveryState, KeyScope
from transcripts.models import Delivery, Project, Round, Run, ToolCall
from transcripts.services import delivery_accept

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 24


def a_delivery(project: Project, body: Any, **fields: Any) -> UUID:
    fields = {"kind": DeliveryKind.FILE, **fields}
    content = json.dumps(body).encode()
    return delivery_accept(project=project, content=content, **fields)[0].pk


def process_at_once(deliveries: list[UUID]) -> None:
    """Each in a thread with a connection of its own; what another try may mend is tried again."""

    def work(delivery: UUID) -> None:
        try:
            for _ in range(5):
                try:
                    delivery_process(delivery)
                    return
                except OperationalError:
                    continue
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as workers:
        list(workers.map(work, deliveries))


def test_rounds_of_one_run_from_many_senders(valkey_server: str) -> None:
    project = a_project()
    rounds = native_rounds(ROUNDS)
    process_at_once(
        [
            a_delivery(project, {"rounds": [round_]}, kind=DeliveryKind.ROUNDS, run_id="r")
            for round_ in [*rounds, *rounds]
        ]
    )

    run = Run.objects.get()
    assert (run.round_count, run.folded, run.call_count) == (ROUNDS, ROUNDS, ROUNDS - 1)
    assert Round.objects.count() == ROUNDS
    assert ToolCall.objects.count() == ROUNDS - 1
    assert run.completeness["complete"]
    assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.STORED}


def test_the_same_delivery_in_many_hands() -> None:
    delivery = a_delivery(a_project(), {"run_id": "r", "rounds": native_rounds(ROUNDS)})

    process_at_once([delivery] * 8)

    run = Run.objects.get()
    assert (run.round_count, run.folded) == (ROUNDS, 0)
    assert Delivery.objects.get().state == DeliveryState.STORED


def test_the_same_runs_in_opposite_order() -> None:
    project = a_project()
    runs = [{"run_id": f"r{n}", "rounds": native_rounds(3)} for n in range(12)]

    process_at_once([a_delivery(project, runs), a_delivery(project, runs[::-1])] * 2)

    assert Run.objects.count() == 12
    assert set(Run.objects.values_list("round_count", "folded")) == {(3, 3)}
    assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.STORED}


def test_a_client_that_repeats_what_it_saw_no_answer_to_doubles_nothing(
    valkey_server: str,
) -> None:
    """The same request at once and later, with a new run and as rounds: one delivery of each."""
    project = a_project()
    _, key = a_key(project, KeyScope.INGEST)
    whole = json.dumps({"run_id": "r", "rounds": native_rounds(3)})
    more = json.dumps({"rounds": native_rounds(4)[3:]})

    def send(number: int) -> tuple[int, str, str]:
        client = Client(headers={"Authorization": f"Bearer {key}"})
        address, body = ("/api/v1/runs", whole) if number % 2 else ("/api/v1/runs/r/rounds", more)
        headers = {"Idempotency-Key": f"try-{number % 2}"}
        try:
            answer = client.post(address, body, content_type="application/json", headers=headers)
        finally:
            connection.close()
        return answer.status_code, address, answer.json()["receipt"]

    with ThreadPoolExecutor(6) as clients:
        first = set(clients.map(send, range(12)))
    deliveries = list(Delivery.objects.order_by("received_at"))
    process_at_once([delivery.pk for delivery in deliveries])
    later = {send(number) for number in range(2)}

    assert first == later
    assert len(deliveries) == Delivery.objects.count() == 2
    assert {status for status, _, _ in first} == {202}
    run = Run.objects.get()
    assert (run.round_count, run.folded, run.replaced) == (4, 0, 0)
