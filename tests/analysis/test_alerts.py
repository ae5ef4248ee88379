"""The settings page of alerts."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.alerts.channels import channel_address, removed_forget
from analysis.alerts.outbox import rules_forget, rules_of
from analysis.alerts.sending import messages_send
from analysis.models import AlertChannel, AlertMessage, AlertRule, MessageState
from tests.analysis.alerts.receiver import receiving
from tests.factories import a_member, a_project
from transcripts.choices import AccessAction, Role
from transcripts.maskers import typed_masker
from transcripts.models import AccessEntry, Change, Project
from transcripts.undo import UNDONE_WITHIN

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def admin(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.ADMIN))
    return client


def add(client: Client, project: Project, what: str, **form: object) -> Any:
    address = reverse("analysis:alerts", args=[project.slug])
    return client.post(address, {"add": what, **form}, follow=True)


def mail_channel(client: Client, project: Project) -> AlertChannel:
    add(client, project, "channel", kind="email", name="Ops", address="ops@desk.example")
    return AlertChannel.objects.get(project=project)


def test_a_webhook_shows_its_secret_once(project: Project, admin: Client, settings: Any) -> None:
    settings.AGENTDESK_OUTGOING_NETWORKS = (ip_network("127.0.0.0/8"),)

    text = add(
        admin, project, "channel", kind="webhook", name="Ops",
        address="http://127.0.0.1:9/hook?key=hidden", quiet_from="22:00", quiet_until="07:00",
        time_zone="Europe/Berlin",
    ).content.decode()  # fmt: skip

    channel = AlertChannel.objects.get()
    assert 'id="secret"' in text
    assert "key=hidden" not in text
    assert channel_address(channel) == "http://127.0.0.1:9/hook?key=hidden"
    assert "not from 22:00 to 07:00 (Europe/Berlin)" in text
    again = admin.get(reverse("analysis:alerts", args=[project.slug])).content.decode()
    assert 'id="secret"' not in again
    assert AccessEntry.objects.filter(action=AccessAction.SETTINGS).count() == 1


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"kind": "webhook", "address": "http://169.254.169.254/x"}, "not public"),
        ({"kind": "slack", "address": "file:///etc/passwd"}, "errorlist"),
        ({"kind": "email", "address": "nobody"}, "This is no e-mail address."),
        ({"kind": "email", "address": "a@b.example", "time_zone": "Mars"}, "no such time zone"),
        ({"kind": "email", "address": "a@b.example", "quiet_from": "22:00"}, "when they end"),
        ({"kind": "pigeon", "address": "a@b.example"}, "Select a valid choice"),
    ],
)
def test_what_does_not_fit_is_said(
    project: Project, admin: Client, form: dict[str, str], error: str
) -> None:
    answer = add(admin, project, "channel", name="Ops", **form)

    assert answer.status_code == 422
    assert error in answer.content.decode()
    assert not AlertChannel.objects.exists()


@pytest.mark.parametrize(
    ("form", "fits"),
    [
        ({"kind": "incident_new"}, True),
        ({"kind": "detector", "detector": "empty_result"}, True),
        ({"kind": "detector"}, False),
        ({"kind": "cost", "amount": "5", "currency": "EUR"}, True),
        ({"kind": "cost", "amount": "5"}, False),
        ({"kind": "tool_errors", "percent": "50"}, True),
        ({"kind": "tool_errors", "percent": "500"}, False),
        ({"kind": "test"}, False),
    ],
)
def test_rules(project: Project, admin: Client, form: dict[str, str], fits: bool) -> None:
    channel = mail_channel(admin, project)

    answer = add(admin, project, "rule", channel=channel.pk, **form)

    assert answer.status_code == (200 if fits else 422)
    assert AlertRule.objects.count() == fits


def test_a_channel_of_another_project_is_none_of_ours(project: Project, admin: Client) -> None:
    other = a_project()
    client = Client()
    client.force_login(a_member(other, Role.ADMIN))
    foreign = mail_channel(client, other)

    assert add(admin, project, "rule", channel=foreign.pk, kind="incident_new").status_code == 422
    to = reverse("analysis:alert_channel_change", args=[project.slug, foreign.pk])
    assert admin.post(to, {"action": "remove"}).status_code == 404


def test_the_test_button_says_what_came_of_it(
    project: Project, admin: Client, settings: Any
) -> None:
    settings.AGENTDESK_OUTGOING_NETWORKS = (ip_network("127.0.0.0/8"),)
    with receiving() as received:
        add(admin, project, "channel", kind="webhook", name="Ops", address=received.url)
        channel = AlertChannel.objects.get()
        to = reverse("analysis:alert_channel_change", args=[project.slug, channel.pk])

        good = admin.post(to, {"action": "test"}, follow=True).content.decode()
        received.status = 404
        bad = admin.post(to, {"action": "test"}, follow=True).content.decode()

    assert "The test was taken." in good
    assert "The test did not arrive: It answered 404." in bad
    assert len(received.requests) == 2


def test_what_was_given_up_is_shown_tried_again_or_discarded(
    project: Project, admin: Client
) -> None:
    channel = mail_channel(admin, project)
    message = AlertMessage.objects.create(
        project=project, channel=channel, kind="incident_new", subject="x",
        error="It answered 500.", state=MessageState.DEAD,
        body={"words": typed_masker(project).text("INC-1: <b>bad</b>")},
    )  # fmt: skip
    page = reverse("analysis:alerts", args=[project.slug])
    text = admin.get(page).content.decode()
    assert "Given up · 1" in text
    assert "It answered 500." in text
    assert "<b>bad</b>" not in text
    to = reverse("analysis:alert_message_change", args=[project.slug, message.pk])

    assert "tried again" in admin.post(to, {"action": "retry"}, follow=True).content.decode()
    message.refresh_from_db()
    assert (message.state, message.attempts) == (MessageState.WAITING, 0)
    AlertMessage.objects.update(state=MessageState.DEAD)
    assert "Discarded." in admin.post(to, {"action": "discard"}, follow=True).content.decode()
    assert "Nothing has changed." in admin.post(to, follow=True).content.decode()


def test_switching_and_removing(project: Project, admin: Client) -> None:
    channel = mail_channel(admin, project)
    add(admin, project, "rule", channel=channel.pk, kind="incident_new")
    rule = AlertRule.objects.get()
    to = reverse("analysis:alert_channel_change", args=[project.slug, channel.pk])

    admin.post(to, {"action": "off"})
    channel.refresh_from_db()
    assert not channel.active
    admin.post(reverse("analysis:alert_rule_remove", args=[project.slug, rule.pk]))
    assert not AlertRule.objects.exists()
    admin.post(to, {"action": "remove"})
    assert not AlertChannel.objects.exists()


def test_a_removed_channel_comes_back_with_its_rules_and_what_waits(
    project: Project, admin: Client, mailoutbox: list[Any], settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    channel = mail_channel(admin, project)
    add(admin, project, "rule", channel=channel.pk, kind="run_flagged")
    body = {name: typed_masker(project).text("words") for name in ("words", "link", "project")}
    AlertMessage.objects.create(
        project=project, channel=channel, kind="run_flagged", subject="run:1", body=body
    )
    to = reverse("analysis:alert_channel_change", args=[project.slug, channel.pk])

    page = admin.post(to, {"action": "remove"}, follow=True).content.decode()
    while_gone = (messages_send(channel_pk=channel.pk), len(rules_of(project.pk)))
    change = Change.objects.latest("pk")
    back = admin.post(
        reverse("transcripts:change_back", args=[project.slug, change.pk]), follow=True
    )

    assert "The channel Ops is removed, with its rule." in page
    assert "words" not in page
    assert while_gone == (0, 0)
    assert "The channel Ops is back, with its rule." in back.content.decode()
    rules_forget()
    assert (messages_send(channel_pk=channel.pk), len(rules_of(project.pk))) == (1, 1)
    assert len(mailoutbox) == 1


def test_what_was_removed_is_gone_after_a_day(project: Project, admin: Client) -> None:
    channel = mail_channel(admin, project)
    add(admin, project, "rule", channel=channel.pk, kind="run_flagged")
    to = reverse("analysis:alert_channel_change", args=[project.slug, channel.pk])
    admin.post(to, {"action": "remove"})

    today = removed_forget()
    long_ago = timezone.now() - UNDONE_WITHIN - timedelta(minutes=1)
    AlertChannel.everything.update(removed_at=long_ago)
    AlertRule.everything.update(removed_at=long_ago)

    assert (today, removed_forget()) == (0, 2)
    assert not AlertChannel.everything.exists()
