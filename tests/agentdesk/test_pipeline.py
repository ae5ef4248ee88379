"""A delivery on its way: stored with its verdict, set aside with its error, never half of it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.utils import timezone

from agentdesk.pipeline import delivery_process
from agentdesk.tasks import deliver, sweep
from analysis.models import Finding, Verdict
from analysis.services.verdicts import stale_run_analyse
from tests.factories import a_project, native_rounds
from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.masking import MaskingError
from transcripts.models import Delivery, Message, Project, Round, Run, ToolCall
from transcripts.services import delivery_accept, delivery_discard, delivery_retry
from transcripts.services.deliveries import MAX_ATTEMPTS, delivery_claim

# Claims commit by themselves, which a test's own transaction would not let them.
pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "ghp_" + "aB3dE5fG7h" * 3 + "Ij9kLm"


def a_delivery(content: Any, **fields: Any) -> Delivery:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    project = fields.pop("project", None) or a_project()
    fields = {"kind": DeliveryKind.FILE, **fields}
    return delivery_accept(project=project, content=body, **fields)[0]


def a_run_body(run_id: str = "r1", **fields: Any) -> dict[str, Any]:
    return {"run_id": run_id, "rounds": native_rounds(), **fields}


def processed(delivery: Delivery) -> Delivery:
    delivery_process(delivery.pk)
    delivery.refresh_from_db()
    return delivery


def test_a_run_is_stored_with_its_verdict_and_the_body_is_emptied() -> None:
    delivery = processed(a_delivery(a_run_body()))

    assert delivery.state == DeliveryState.STORED
    assert bytes(delivery.body) == b""
    assert delivery.outcome["rounds_new"] == 3
    run = Run.objects.get()
    assert run.over
    assert Verdict.objects.get(run=run).sentence
    assert ToolCall.objects.filter(run=run).count() == 2


def test_what_is_sent_again_changes_nothing() -> None:
    project = a_project()
    processed(a_delivery(a_run_body(), project=project))
    before = list(Round.objects.values().order_by("number"))

    again = processed(a_delivery(a_run_body(), project=project))

    assert again.outcome["rounds_folded"] == 3
    assert list(Round.objects.values().order_by("number")) == before
    assert Run.objects.get().folded == 3


def test_processing_twice_does_it_once() -> None:
    delivery = processed(a_delivery(a_run_body()))

    assert delivery_process(delivery.pk) == {}
    assert Run.objects.get().folded == 0


def test_the_task_takes_an_id() -> None:
    delivery = a_delivery(a_run_body())

    deliver(str(delivery.pk))

    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.STORED


def test_a_secret_is_in_no_row() -> None:
    rounds = native_rounds()
    rounds[0]["calls"][0]["result"] = f"token {SECRET}"
    processed(a_delivery(a_run_body(f"run of {SECRET}", rounds=rounds, agent=SECRET)))

    told = [
        json.dumps(list(model.objects.values()), default=str)
        for model in (Delivery, Run, Round, ToolCall, Message, Verdict, Finding)
    ]
    assert "[SECRET:" in told[1]
    assert not [text for text in told if SECRET in text]


def test_what_no_importer_knows_is_set_aside_sealed() -> None:
    delivery = processed(a_delivery({"some": "thing"}))

    assert delivery.state == DeliveryState.QUARANTINED
    assert bytes(delivery.body) != b""
    assert '"some"' in delivery.error
    assert not Run.objects.exists()


def test_the_error_of_a_delivery_is_masked() -> None:
    delivery = processed(a_delivery({SECRET: "thing"}))

    assert delivery.state == DeliveryState.QUARANTINED
    assert SECRET not in delivery.error


def test_of_several_runs_the_readable_ones_are_stored() -> None:
    lines = [json.dumps(a_run_body("good")), '{"run_id": "bad", "rounds": [{"round": "x"}]}']
    delivery = processed(a_delivery("\n".join(lines).encode()))

    assert delivery.state == DeliveryState.QUARANTINED
    assert delivery.outcome["runs_stored"] == 1
    assert delivery.outcome["problems"][0]["at"] == "line 2, run bad, $.rounds[0].round"
    assert Run.objects.get().run_id == "good"


def test_a_retry_of_a_partly_stored_delivery_doubles_nothing() -> None:
    lines = [json.dumps(a_run_body("good")), "{broken"]
    delivery = processed(a_delivery("\n".join(lines).encode()))

    delivery_retry(delivery=delivery)
    processed(delivery)

    assert delivery.state == DeliveryState.QUARANTINED
    assert Run.objects.get().round_count == 3


def test_a_retry_is_queued() -> None:
    delivery = processed(a_delivery({"some": "thing"}))
    with patch("transcripts.services.deliveries.enqueue") as enqueue:
        delivery_retry(delivery=delivery)

    enqueue.assert_called_once_with("agentdesk.tasks.deliver", str(delivery.pk))
    assert (delivery.state, delivery.attempts) == (DeliveryState.ACCEPTED, 0)


def test_a_discarded_delivery_is_emptied() -> None:
    delivery = processed(a_delivery({"some": "thing"}))

    delivery_discard(delivery=delivery)

    assert delivery.state == DeliveryState.DISCARDED
    assert bytes(delivery.body) == b""


def test_what_cannot_be_masked_is_not_stored() -> None:
    delivery = a_delivery([a_run_body("one"), a_run_body("two")])
    with patch("transcripts.services.runs.Masker.run", side_effect=MaskingError("masking failed")):
        processed(delivery)

    assert delivery.state == DeliveryState.QUARANTINED
    assert not Run.objects.exists()


def test_a_crash_in_the_middle_leaves_nothing_behind() -> None:
    delivery = a_delivery([a_run_body("one"), a_run_body("two")])
    with patch(
        "agentdesk.pipeline.run_analyse_or_wait", side_effect=[None, ZeroDivisionError("x" * 50)]
    ):
        processed(delivery)

    assert delivery.state == DeliveryState.QUARANTINED
    assert "ZeroDivisionError" in delivery.error
    assert "xxx" not in delivery.error
    assert not Run.objects.exists()


def test_an_outage_is_tried_again() -> None:
    delivery = a_delivery(a_run_body())
    with (
        patch("agentdesk.pipeline.run_store", side_effect=OperationalError("gone")),
        pytest.raises(OperationalError),
    ):
        delivery_process(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.ACCEPTED, 0)

    assert processed(delivery).state == DeliveryState.STORED


def test_a_delivery_that_kills_its_workers_is_set_aside() -> None:
    delivery = a_delivery(a_run_body())
    for _ in range(MAX_ATTEMPTS):
        assert delivery_claim(delivery_id=delivery.pk)

    processed(delivery)

    assert delivery.state == DeliveryState.QUARANTINED
    assert "Workers died" in delivery.error


def test_the_sweep_queues_what_was_left(settings: Any) -> None:
    left, fresh = a_delivery(a_run_body("left")), a_delivery(a_run_body("fresh"))
    Delivery.objects.filter(pk=left.pk).update(queued_at=timezone.now() - timedelta(hours=1))
    with patch("agentdesk.tasks.enqueue") as enqueue:
        first, second = sweep(), sweep()

    assert (first, second) == (1, 0)
    enqueue.assert_called_once_with("agentdesk.tasks.deliver", str(left.pk))
    assert fresh.pk != left.pk


def test_rounds_come_one_by_one_until_the_end() -> None:
    project = a_project()
    for round_ in native_rounds():
        body = {"rounds": [round_]}
        processed(a_delivery(body, project=project, kind=DeliveryKind.ROUNDS, run_id="live"))
    run = Run.objects.get()
    assert not run.over

    end = {"run_id": "live", "rounds": [], "ending": "handed_off"}
    processed(a_delivery(end, project=project, kind=DeliveryKind.END, run_id="live"))

    run.refresh_from_db()
    assert (run.over, run.ending, run.round_count) == (True, "handed_off", 3)


def test_rounds_for_another_run_than_the_addresss_are_refused() -> None:
    body = {"run_id": "other", "rounds": native_rounds()}
    delivery = processed(a_delivery(body, kind=DeliveryKind.ROUNDS, run_id="mine"))

    assert delivery.state == DeliveryState.QUARANTINED
    assert not Run.objects.exists()


def test_a_live_run_is_read_once_a_second_and_once_at_the_end() -> None:
    project = a_project()
    rounds = native_rounds(6)[:5]
    due = {}
    for round_ in rounds:
        delivery = a_delivery(
            {"rounds": [round_]}, project=project, kind=DeliveryKind.ROUNDS, run_id="live"
        )
        due |= delivery_process(delivery.pk)
    verdict = Verdict.objects.get()
    assert list(due) == [verdict.run_id]
    assert verdict.stale_since is not None
    assert "1 round" in verdict.sentence

    assert stale_run_analyse(run_pk=verdict.run_id)
    assert not stale_run_analyse(run_pk=verdict.run_id)

    verdict.refresh_from_db()
    assert verdict.stale_since is None
    assert "5 rounds" in verdict.sentence


def test_an_idempotency_key_gives_the_first_receipt() -> None:
    project: Project = a_project()
    first, is_new = delivery_accept(
        project=project, kind=DeliveryKind.FILE, content=b"[]", idempotency_key="k"
    )
    second, is_new_again = delivery_accept(
        project=project, kind=DeliveryKind.FILE, content=b"[]", idempotency_key="k"
    )

    assert (first.pk, is_new, is_new_again) == (second.pk, True, False)


def test_an_end_without_rounds_is_read_too() -> None:
    project = a_project()
    rounds = {"rounds": native_rounds()[:2]}
    processed(a_delivery(rounds, project=project, kind=DeliveryKind.ROUNDS, run_id="live"))
    assert "Still going" in Verdict.objects.get().sentence

    end = {"run_id": "live", "rounds": [], "ending": "handed_off"}
    processed(a_delivery(end, project=project, kind=DeliveryKind.END, run_id="live"))

    assert "Handed off after 2 rounds." in Verdict.objects.get().sentence
