"""A new master key in front: all that was sealed with the old one is still read, and new things
are sealed with the new one.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from agentdesk.pipeline import delivery_process
from analysis.alerts.channels import channel_add, channel_address, channel_secret
from analysis.models import ChannelKind
from tests.agentdesk.test_otlp import a_request, spans_of
from tests.factories import a_key, a_member, a_project, native_rounds
from transcripts.choices import DeliveryState, KeyScope, Role
from transcripts.models import Delivery, Project, Run, SpanChunk
from transcripts.sealing import SealError
from transcripts.services.held import delivery_hold, delivery_release

pytestmark = pytest.mark.django_db(transaction=True)

NEW = bytes(range(64, 96))


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def sender(project: Project) -> Client:
    _, text = a_key(project, KeyScope.INGEST)
    return Client(headers={"Authorization": f"Bearer {text}"})


def send(sender: Client, address: str, body: Any) -> None:
    answer = sender.post(address, json.dumps(body), content_type="application/json")
    assert answer.status_code in (200, 202), answer.content


def process() -> None:
    for delivery in Delivery.objects.filter(state=DeliveryState.ACCEPTED):
        delivery_process(delivery.pk)


def a_body(run_id: str, rounds: int = 3) -> dict[str, Any]:
    return {"run_id": run_id, "rounds": native_rounds(rounds)}


def test_what_waits_is_read_after_a_change_of_the_key(
    sender: Client, project: Project, settings: Any
) -> None:
    """Deliveries, uploads that nobody has confirmed, spans of open traces, addresses of channels,
    and sessions; and runs go on as the same ones.
    """
    old = settings.AGENTDESK_MASTER_KEYS
    person = a_member(project, Role.ENGINEER)
    browser = Client()
    browser.force_login(person)
    held = delivery_hold(project=project, user=person, content=json.dumps(a_body("held")).encode(),
                         file_name="held.json")  # fmt: skip
    send(sender, "/api/v1/runs", a_body("again"))
    process()
    send(sender, "/api/v1/runs", a_body("waiting"))
    request, late = a_request(), a_request()
    spans = spans_of(request)
    spans_of(late)[:] = spans[3:]
    del spans[3:]
    send(sender, "/v1/traces", request)
    channel, secret = channel_add(
        project=project, kind=ChannelKind.WEBHOOK, name="Ops", user=person,
        address="https://93.184.215.14/hook",
    )  # fmt: skip

    settings.AGENTDESK_MASTER_KEYS = (NEW, *old)
    process()
    delivery_release(delivery=held)
    send(sender, "/v1/traces", late)
    send(sender, "/api/v1/runs", a_body("again"))
    process()

    assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.STORED}
    runs = {str(run.run_id): run for run in Run.objects.all()}
    assert {"again", "waiting", "held"} <= runs.keys()
    assert (runs["again"].round_count, runs["again"].folded) == (3, 3)
    assert len(runs) == 4, "spans of both requests are one run"
    assert channel_address(channel) == "https://93.184.215.14/hook"
    assert channel_secret(channel).decode() == secret
    assert browser.get("/p/helpdesk/runs/").status_code == 200


def test_what_comes_after_it_is_sealed_with_the_new_key(
    sender: Client, project: Project, settings: Any
) -> None:
    """So that an old key can go once nothing of it waits."""
    old = settings.AGENTDESK_MASTER_KEYS
    settings.AGENTDESK_MASTER_KEYS = (NEW, *old)
    send(sender, "/api/v1/runs", a_body("new"))
    send(sender, "/v1/traces", a_request())

    settings.AGENTDESK_MASTER_KEYS = old
    process()

    waiting = Delivery.objects.all()
    assert set(waiting.values_list("state", flat=True)) == {DeliveryState.QUARANTINED}
    assert "AGENTDESK_MASTER_KEYS" in waiting[0].error
    assert not SpanChunk.objects.exists()


def test_without_its_key_a_delivery_is_set_aside_and_not_lost(
    sender: Client, project: Project, settings: Any
) -> None:
    old = settings.AGENTDESK_MASTER_KEYS
    send(sender, "/api/v1/runs", a_body("kept"))
    channel, _ = channel_add(
        project=project, kind=ChannelKind.WEBHOOK, name="Ops", user=a_member(project),
        address="https://93.184.215.14/hook",
    )  # fmt: skip
    settings.AGENTDESK_MASTER_KEYS = (NEW,)
    process()
    with pytest.raises(SealError):
        channel_address(channel)
    (delivery,) = Delivery.objects.all()
    assert (delivery.state, bool(delivery.body)) == (DeliveryState.QUARANTINED, True)

    settings.AGENTDESK_MASTER_KEYS = (NEW, *old)
    browser = Client()
    browser.force_login(a_member(project, Role.ADMIN))
    browser.post(f"/p/helpdesk/deliveries/{delivery.pk}/retry/")
    process()

    assert Run.objects.get().run_id == "kept"
