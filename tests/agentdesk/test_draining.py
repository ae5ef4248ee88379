"""Small deliveries are taken together, and what is wrong with one is no matter of the others."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError

from agentdesk.draining import deliveries_process
from agentdesk.tasks import deliver
from analysis.models import Verdict
from analysis.services.verdicts import run_analyse
from tests.factories import a_project, native_rounds
from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.models import Delivery, Project, Round, Run, ToolCall
from transcripts.queueing import DELIVER, drain_begins, enqueue_drain
from transcripts.services import delivery_accept
from transcripts.services.deliveries import DRAINED_BYTES, deliveries_claim

# Claims commit by themselves, which a test's own transaction would not let them.
pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 12


def a_delivery(project: Project, body: Any, **fields: Any) -> Delivery:
    fields = {"kind": DeliveryKind.ROUNDS, "run_id": "r", "format": "native", **fields}
    return delivery_accept(project=project, content=json.dumps(body).encode(), **fields)[0]


def rounds_sent(project: Project, run_id: str = "r") -> list[Delivery]:
    return [
        a_delivery(project, {"rounds": [round_]}, run_id=run_id) for round_ in native_rounds(ROUNDS)
    ]


def states() -> set[str]:
    return set(Delivery.objects.values_list("state", flat=True))


def test_one_task_takes_all_that_wait_and_analyses_once() -> None:
    project = a_project()
    first, *_ = rounds_sent(project)
    rounds_sent(project, "other")

    with patch("agentdesk.draining.run_analyse_or_wait", wraps=None) as analyse:
        analyse.side_effect = lambda run: run_analyse(run=run) and None
        deliver(str(first.pk))

    assert states() == {DeliveryState.STORED}
    assert analyse.call_count == 2
    assert Round.objects.count() == 2 * ROUNDS
    assert ToolCall.objects.count() == 2 * (ROUNDS - 1)
    assert Verdict.objects.count() == 2
    assert not Delivery.objects.exclude(body=b"").exists()


def test_each_delivery_tells_its_own_share() -> None:
    project = a_project()
    rounds = native_rounds(3)
    deliver(str(a_delivery(project, {"rounds": rounds[:1]}).pk))
    sent = [a_delivery(project, {"rounds": part}) for part in (rounds[:2], rounds[2:], rounds[2:])]

    deliver(str(sent[0].pk))

    told = [Delivery.objects.get(pk=delivery.pk).outcome for delivery in sent]
    counts = [(outcome["rounds_new"], outcome["rounds_folded"]) for outcome in told]
    assert counts == [(1, 1), (1, 0), (0, 1)]
    assert [outcome["runs"][0]["run_id"] for outcome in told] == ["r"] * 3
    assert Run.objects.get().folded == 2


def test_an_end_comes_after_the_rounds() -> None:
    project = a_project()
    rounds_sent(project)
    end = a_delivery(project, {"rounds": [], "run_id": "r"}, kind=DeliveryKind.END)

    deliver(str(end.pk))

    run = Run.objects.get()
    assert (run.over, run.round_count, run.late) == (True, ROUNDS, 0)


def test_only_the_bad_one_is_set_aside() -> None:
    project = a_project()
    sent = rounds_sent(project)
    bad = a_delivery(project, {"rounds": [{"round": 0}]})

    deliver(str(sent[0].pk))

    bad.refresh_from_db()
    assert bad.state == DeliveryState.QUARANTINED
    assert bytes(bad.body)
    assert Delivery.objects.filter(state=DeliveryState.STORED).count() == ROUNDS
    assert (Run.objects.get().round_count, Run.objects.get().folded) == (ROUNDS, 0)


def test_what_was_tried_before_is_not_taken_along() -> None:
    project = a_project()
    sent = rounds_sent(project)
    deliveries_claim()  # by a worker that died

    assert deliveries_claim() == []
    deliver(str(sent[3].pk))
    stored = Delivery.objects.filter(state=DeliveryState.STORED)
    assert [delivery.pk for delivery in stored] == [sent[3].pk]


def test_what_is_large_comes_by_itself() -> None:
    large = a_delivery(a_project(), {"rounds": [{"round": 1, "reply": "x " * DRAINED_BYTES}]})

    assert deliveries_claim() == []
    deliver(str(large.pk))

    assert states() == {DeliveryState.STORED}


def test_an_outage_is_no_attempt() -> None:
    rounds_sent(a_project())
    claimed = deliveries_claim()

    with (
        patch("agentdesk.draining.run_store", side_effect=OperationalError),
        pytest.raises(OperationalError),
    ):
        deliveries_process(claimed)

    assert set(Delivery.objects.values_list("attempts", "state")) == {(0, DeliveryState.ACCEPTED)}


def test_of_what_takes_too_long_nothing_is_stored_and_each_waits_to_be_tried_alone() -> None:
    rounds_sent(a_project())
    claimed = deliveries_claim()

    with patch("agentdesk.draining.run_analyse_or_wait", side_effect=SoftTimeLimitExceeded):
        assert deliveries_process(claimed) == {}

    assert not Round.objects.exists()
    assert set(Delivery.objects.values_list("attempts", "state")) == {(1, DeliveryState.ACCEPTED)}


def test_what_comes_after_a_task_began_is_queued_again(valkey_server: str) -> None:
    drain_begins()
    with patch("transcripts.queueing.enqueue") as enqueue:
        enqueue_drain("1")
        enqueue_drain("2")
        drain_begins()
        enqueue_drain("3")

    assert [call.args for call in enqueue.call_args_list] == [(DELIVER, "1"), (DELIVER, "3")]
