from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from agentdesk.pipeline import delivery_process
from tests.factories import a_member, a_project, native_rounds
from transcripts.choices import AccessAction, DeliveryKind, DeliveryState, Role
from transcripts.maskers import typed_masker
from transcripts.models import AccessEntry, Delivery, Project, Run
from transcripts.services.deliveries import (
    delivery_accept,
    delivery_quarantine,
    delivery_retry,
)
from transcripts.views import deliveries

pytestmark = pytest.mark.django_db(transaction=True)
GOOD = json.dumps({"run_id": "run-1", "rounds": native_rounds()}).encode()


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def admin(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.ADMIN))
    return client


def a_delivery(project: Project, content: bytes, *, processed: bool = True) -> Delivery:
    delivery, _ = delivery_accept(project=project, kind=DeliveryKind.FILE, content=content)
    if processed:
        delivery_process(delivery.pk)
    delivery.refresh_from_db()
    return delivery


def page_of(name: str, delivery: Delivery) -> str:
    return reverse(f"transcripts:{name}", args=[delivery.project.slug, delivery.pk])


def test_says_what_became_of_a_delivery(admin: Client, project: Project) -> None:
    delivery = a_delivery(project, GOOD)

    text = admin.get(page_of("delivery_detail", delivery)).content.decode()

    run = Run.objects.get()
    assert "Delivery of a file: stored" in text
    assert reverse("analysis:run_detail", args=[project.slug, run.pk]) in text
    assert "3 rounds new" in text


def test_quarantine_says_what_and_where(admin: Client, project: Project) -> None:
    delivery = a_delivery(project, b'{"run_id": "r", "rounds": [{"round": 0}]}')
    assert delivery.state == DeliveryState.QUARANTINED

    text = admin.get(reverse("transcripts:delivery_list", args=[project.slug])).content.decode()

    assert str(delivery.pk)[:8] in text
    assert page_of("delivery_retry", delivery) in text
    assert f'<span title="{str(delivery.error_at).capitalize()}">' in text
    assert "Run r, the 1st round, “round”" in text


def test_a_waiting_delivery_says_so(admin: Client, project: Project) -> None:
    delivery = a_delivery(project, GOOD, processed=False)

    text = admin.get(page_of("delivery_detail", delivery)).content.decode()

    assert "It waits for a worker." in text


def test_a_retried_delivery_waits_again(admin: Client, project: Project) -> None:
    delivery = a_delivery(project, b"not a transcript")

    admin.post(page_of("delivery_retry", delivery))

    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.ACCEPTED
    line = AccessEntry.objects.get(action=AccessAction.QUARANTINE)
    changed = {"before": "quarantined", "after": "accepted"}
    assert line.detail == {"retried": str(delivery.pk), **changed}


def test_a_discarded_delivery_is_emptied(admin: Client, project: Project) -> None:
    delivery = a_delivery(project, b"not a transcript")

    admin.post(page_of("delivery_discard", delivery))

    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.DISCARDED
    assert bytes(delivery.body) == b""


def test_only_quarantine_is_decided_on(admin: Client, project: Project) -> None:
    delivery = a_delivery(project, GOOD)

    page = admin.post(page_of("delivery_discard", delivery), follow=True).content.decode()

    assert "Only a delivery in quarantine can be discarded." in page
    assert not AccessEntry.objects.filter(action=AccessAction.QUARANTINE).exists()


def test_a_delivery_of_another_project_is_not_found(admin: Client, project: Project) -> None:
    delivery = a_delivery(a_project(), GOOD)

    address = reverse("transcripts:delivery_detail", args=[project.slug, delivery.pk])

    assert admin.get(address).status_code == 404


def test_pages_meet_without_overlap(
    admin: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "ROWS_PER_PAGE", 2)
    made = [a_delivery(project, GOOD, processed=False) for _ in range(3)]
    address = reverse("transcripts:delivery_list", args=[project.slug])

    first = admin.get(address, {"state": "accepted"}).context
    second = admin.get(address, {"state": "accepted", "before": first["older"]}).context
    broken = admin.get(address, {"state": "accepted", "before": "\x00 yesterday"}).context

    seen = [delivery.pk for page in (first, second) for delivery in page["deliveries"]]
    assert seen == [delivery.pk for delivery in made[::-1]]
    assert not second["older"]
    assert len(broken["deliveries"]) == 2


def several(project: Project, count: int) -> list[Delivery]:
    """Deliveries in quarantine."""
    made = [
        delivery_accept(project=project, kind=DeliveryKind.RUNS, content=b"{%d" % number)[0]
        for number in range(count)
    ]
    masker = typed_masker(project)
    for delivery in made:
        delivery_quarantine(
            delivery=delivery,
            error=masker.text("it breaks off"),
            at=masker.text("line 1"),
            outcome={},
        )
    return made


@pytest.fixture
def admin_here(client: Client) -> tuple[Client, Project]:
    project = a_project("quarantine")
    client.force_login(a_member(project, Role.ADMIN))
    return client, project


def test_chosen_deliveries_are_decided_on_together(admin_here: tuple[Client, Project]) -> None:
    admin, project = admin_here
    first, second, third = several(project, 3)
    (foreign,) = several(a_project(), 1)
    address = reverse("transcripts:deliveries_decide", args=[project.slug])

    admin.post(address, {"decision": "discard", "delivery": [first.pk, foreign.pk, "x"]})
    admin.post(address, {"decision": "retry", "delivery": [first.pk, second.pk]})

    states = dict(Delivery.objects.values_list("pk", "state"))
    assert states == {
        first.pk: "discarded",
        second.pk: "accepted",
        third.pk: "quarantined",
        foreign.pk: "quarantined",
    }
    lines = AccessEntry.objects.filter(action=AccessAction.QUARANTINE).order_by("pk")
    assert [line.detail for line in lines] == [
        {"discarded": str(first.pk), "before": "quarantined", "after": "discarded"},
        {"retried": str(second.pk), "before": "quarantined", "after": "accepted"},
    ]


def test_all_of_quarantine_is_tried_again(admin_here: tuple[Client, Project]) -> None:
    admin, project = admin_here
    several(project, 3)
    address = reverse("transcripts:deliveries_decide", args=[project.slug])

    answer = admin.post(address, {"decision": "retry_all"}, follow=True)

    assert "3 deliveries are tried again." in answer.text
    assert set(Delivery.objects.values_list("state", flat=True)) == {"accepted"}
    assert admin.post(address, {"decision": "burn"}).status_code == 400
    nothing = admin.post(address, {"decision": "discard"}, follow=True)
    assert "Nothing was chosen" in nothing.text


def test_a_delivery_tells_of_each_earlier_try(admin_here: tuple[Client, Project]) -> None:
    admin, project = admin_here
    (delivery,) = several(project, 1)
    masker = typed_masker(project)

    for number in range(25):
        delivery_retry(delivery=delivery)
        delivery_quarantine(
            delivery=delivery, error=masker.text(f"try {number} breaks"), outcome={}
        )
    text = admin.get(reverse("transcripts:delivery_detail", args=[project.slug, delivery.pk])).text

    delivery.refresh_from_db()
    assert len(delivery.history) == 20
    assert "try 24 breaks" in text.split("Tried before")[0]
    assert "try 23 breaks" in text.split("Tried before")[1]
    assert "try 2 breaks" not in text


def test_administrators_see_everywhere_how_many_are_in_quarantine(
    admin_here: tuple[Client, Project],
) -> None:
    admin, project = admin_here
    several(project, 2)
    badge = 'title="Deliveries in quarantine">2</span>'

    assert badge in admin.get(f"/p/{project.slug}/runs/").text
    admin.force_login(a_member(project, Role.ENGINEER))
    assert badge not in admin.get(f"/p/{project.slug}/runs/").text
