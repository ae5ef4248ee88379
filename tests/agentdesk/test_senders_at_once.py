"""Several senders and workers at once: the rows are those of one after the other."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection

from agentdesk.pipeline import delivery_process
from tests.factories import a_project, native_rounds
from transcripts.choices import DeliveryKind, DeliveryState
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
