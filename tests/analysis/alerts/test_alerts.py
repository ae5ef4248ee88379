"""From a run to the receiver: what is written, told, sent, tried again and given up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.db import connection, transaction
from django.utils import timezone

from analysis.alerts import sending
from analysis.alerts.channels import ChannelError, channel_add, message_retry, rule_add
from analysis.alerts.looking import rules_look
from analysis.alerts.outbox import rules_forget
from analysis.alerts.sending import channels_due, messages_send
from analysis.alerts.timing import MOST_TRIES
from analysis.models import (
    AlertChannel,
    AlertKind,
    AlertMessage,
    ChannelKind,
    Incident,
    MessageState,
)
from analysis.services.incident_aging import incidents_age
from analysis.services.incidents import incident_resolve
from tests.analysis.alerts.receiver import Received, receiving
from tests.builders import a_round, a_run, call
from tests.factories import a_project, a_user
from tests.incident_runs import a_failing_record, a_failing_run, grouped, the_incident
from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.models import Delivery, Project
from transcripts.services.deliveries import delivery_accept

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def local(settings: Any) -> Iterator[None]:
    """This machine may be sent to, as nowhere else; no rule is remembered from before."""
    settings.AGENTDESK_OUTGOING_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.AGENTDESK_URL = "https://desk.example"
    rules_forget()
    yield
    rules_forget()


@pytest.fixture
def received() -> Iterator[Received]:
    with receiving() as found:
        yield found


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


def channel(
    project: Project, received: Received, kind: ChannelKind = ChannelKind.WEBHOOK, **values: Any
) -> tuple[AlertChannel, str]:
    address = "lead@desk.example" if kind == ChannelKind.EMAIL else received.url
    return channel_add(
        project=project, kind=kind, name="Ops", address=address, user=a_user(), **values
    )


def rule(project: Project, to: AlertChannel, kind: AlertKind, **values: Any) -> Any:
    made = rule_add(project=project, channel=to, kind=kind, **{"cooldown_minutes": 0, **values})
    rules_forget()
    return made


def words(project: Project) -> list[str]:
    rows = AlertMessage.objects.filter(project=project).order_by("made_at", "pk")
    return [each.body["words"] for each in rows]


def test_a_new_incident_is_told_once(project: Project, received: Received) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW)

    a_failing_run(project, "one")
    a_failing_run(project, "two")
    assert messages_send(channel_pk=to.pk) == 1
    assert messages_send(channel_pk=to.pk) == 0

    ((path, _, body),) = received.requests
    assert path == "/hook"
    (alert,) = json.loads(body)["alerts"]
    assert alert["kind"] == "incident_new"
    assert alert["words"] == "INC-1: get_right failed"
    assert alert["link"] == "https://desk.example/p/helpdesk/incidents/1/"
    assert (alert["incident"], alert["runs"]) == ("INC-1", 1)


def test_words_of_tools_are_for_channels_of_leads(project: Project, received: Received) -> None:
    open_, _ = channel(project, received)
    leads, _ = channel(project, received, for_leads=True)
    for to in (open_, leads):
        rule(project, to, AlertKind.INCIDENT_NEW)
        rule(project, to, AlertKind.RUN_FLAGGED)

    a_failing_run(project, "one")

    told = {pk: " ".join(words_of) for pk, words_of in _by_channel().items()}
    assert "permission denied" not in told[open_.pk]
    assert "permission denied" in told[leads.pk]


def _by_channel() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for each in AlertMessage.objects.all():
        found.setdefault(each.channel_id, []).append(each.body["words"])
    return found


def test_what_comes_back_and_what_escalates_is_told(project: Project, received: Received) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_REGRESSED)
    rule(project, to, AlertKind.INCIDENT_ESCALATING)
    now = timezone.now()
    a_failing_run(project, "first", at=now - timedelta(days=3))
    incident_resolve(incident=the_incident(project))
    for number in range(10):
        a_failing_run(project, f"run {number}")
    incidents_age()

    kinds = set(AlertMessage.objects.values_list("kind", flat=True))
    assert kinds == {"incident_regressed", "incident_escalating"}


@pytest.mark.parametrize(
    ("kind", "values", "told"),
    [
        (AlertKind.RUN_FLAGGED, {}, True),
        (AlertKind.RUN_FLAGGED, {"agent": "billing"}, False),
        (AlertKind.DETECTOR, {"detector": "failed_result"}, True),
        (AlertKind.DETECTOR, {"detector": "empty_result"}, False),
        (AlertKind.COST, {"amount": Decimal(1), "currency": "eur"}, True),
        (AlertKind.COST, {"amount": Decimal(3), "currency": "EUR"}, False),
        (AlertKind.COST, {"amount": Decimal(1), "currency": "USD"}, False),
        (AlertKind.INCIDENT_NEW, {"agent": "helpdesk"}, True),
        (AlertKind.INCIDENT_NEW, {"agent": "billing"}, False),
    ],
)
def test_rules_tell_of_what_they_are_for(
    project: Project, received: Received, kind: AlertKind, values: dict[str, Any], told: bool
) -> None:
    to, _ = channel(project, received)
    rule(project, to, kind, **values)
    first, second, last = a_failing_record("one").rounds
    costly = a_round(*second.calls, cost=Decimal(2))
    run = a_run(first, costly, last, run_id="one", agent="helpdesk", currency="EUR")

    grouped(project, run)
    grouped(project, run)

    assert AlertMessage.objects.count() == told


def test_a_tool_that_fails_too_often(project: Project, received: Received) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.TOOL_ERRORS, percent=50, least=4)
    calls = [[call("get_right", {"n": n}, "denied", is_error=n % 2 == 0)] for n in range(4)]
    grouped(project, a_run(*calls, "Done."))

    assert rules_look() == 1
    assert rules_look() == 0

    assert words(project) == ["get_right failed in 2 of 4 calls (50%) in 60 minutes."]


def test_deliveries_in_quarantine(project: Project, received: Received) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.QUARANTINE)
    delivery, _ = delivery_accept(project=project, kind=DeliveryKind.FILE, content=b"x")
    Delivery.objects.filter(pk=delivery.pk).update(
        state=DeliveryState.QUARANTINED, finished_at=timezone.now()
    )

    assert (rules_look(), rules_look()) == (1, 0)
    assert words(project) == ["1 delivery is in quarantine since the last look."]


def test_a_receiver_can_verify_by_the_snippet_of_the_document(
    project: Project, received: Received
) -> None:
    to, secret = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one")
    messages_send(channel_pk=to.pk)
    document = (ROOT / "docs" / "alerts.md").read_text()
    snippet = re.search(r"```python\n(.*?)```", document, re.DOTALL)
    assert snippet
    space: dict[str, Any] = {}
    exec(snippet[1], space)

    ((_, headers, body),) = received.requests

    assert space["is_genuine"](headers, body, secret)
    assert not space["is_genuine"](headers, body + b" ", secret)
    assert not space["is_genuine"](headers, body, "another")
    old = {**headers, "X-Agentdesk-Timestamp": "1"}
    assert not space["is_genuine"](old, body, secret)


def test_slack_gets_a_text_without_markup_of_others(project: Project, received: Received) -> None:
    to, _ = channel(project, received, ChannelKind.SLACK, for_leads=True)
    rule(project, to, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one", error="<!channel> <http://evil.example|click> & more")

    messages_send(channel_pk=to.pk)

    text = json.loads(received.requests[0][2])["text"]
    assert "<!channel>" not in text
    assert "&lt;!channel&gt;" in text
    assert text.endswith("<https://desk.example/p/helpdesk/incidents/1/|Open>")


def test_e_mail(project: Project, received: Received) -> None:
    to, _ = channel(project, received, ChannelKind.EMAIL)
    rule(project, to, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one", tool="a\nBcc: x@y.example")
    a_failing_run(project, "two", tool="other")

    messages_send(channel_pk=to.pk)

    (sent,) = mail.outbox
    assert sent.to == ["lead@desk.example"]
    assert "\n" not in sent.subject
    assert sent.subject.endswith("(and 1 more)")
    assert "https://desk.example/p/helpdesk/incidents/2/" in sent.body
    assert sent.body.endswith("https://desk.example/p/helpdesk/runs/?tab=flagged\n")
    ((html, kind),) = sent.alternatives
    assert kind == "text/html"
    assert 'href="https://desk.example/p/helpdesk/incidents/2/"' in html
    assert sent.recipients() == ["lead@desk.example"]


def test_without_a_mail_server_nothing_is_called_sent(
    project: Project, received: Received, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    to, _ = channel(project, received, ChannelKind.EMAIL)
    rule(project, to, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one")

    assert messages_send(channel_pk=to.pk) == 0
    assert AlertMessage.objects.get().error == "No mail server is set for this Agentdesk."


def test_what_fails_is_tried_again_later_and_then_given_up(
    project: Project, received: Received
) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one")
    received.status = 500

    for attempt in range(1, MOST_TRIES + 1):
        assert messages_send(channel_pk=to.pk) == 0
        message = AlertMessage.objects.get()
        assert (message.attempts, message.error) == (attempt, "It answered 500.")
        assert messages_send(channel_pk=to.pk) == 0
        assert len(received.requests) == attempt
        AlertMessage.objects.update(due_at=timezone.now())

    assert message.state == MessageState.DEAD
    assert channels_due() == []
    received.status = 204
    assert message_retry(message=message)
    assert messages_send(channel_pk=to.pk) == 1
    assert not message_retry(message=message)


def test_a_receiver_that_is_not_there(project: Project, received: Received) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW)
    with receiving() as gone:
        pass
    other, _ = channel(project, gone)
    rule(project, other, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one")

    assert messages_send(channel_pk=other.pk) == 0
    assert messages_send(channel_pk=to.pk) == 1
    assert "no connection" in AlertMessage.objects.get(channel=other).error


def test_the_cooldown_and_the_digest_collect(project: Project, received: Received) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW, cooldown_minutes=30)
    for name in ("one", "two", "three"):
        a_failing_run(project, name, tool=f"tool_{name}")

    assert messages_send(channel_pk=to.pk) == 1
    AlertMessage.objects.update(due_at=timezone.now())
    assert messages_send(channel_pk=to.pk) == 2

    assert [len(json.loads(body)["alerts"]) for _, _, body in received.requests] == [1, 2]


def test_a_channel_that_is_switched_off_keeps_what_waits(
    project: Project, received: Received
) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one")
    AlertChannel.objects.update(active=False)

    assert messages_send(channel_pk=to.pk) == 0
    assert channels_due() == []
    AlertChannel.objects.update(active=True)
    assert channels_due() == [to.pk]


def test_what_is_rolled_back_is_not_told(project: Project, received: Received) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW)

    with transaction.atomic():
        a_failing_run(project, "one")
        transaction.set_rollback(True)

    assert not AlertMessage.objects.exists()
    assert not Incident.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_workers_send_each_message_once(
    project: Project, received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "AT_ONCE", 3)
    to, _ = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW)
    for number in range(20):
        a_failing_run(project, f"run {number}", tool=f"tool_{chr(97 + number)}")

    def work(_: int) -> int:
        try:
            return messages_send(channel_pk=to.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        sent = sum(pool.map(work, range(4)))

    ids = [a["id"] for _, _, body in received.requests for a in json.loads(body)["alerts"]]
    assert sent == len(ids) == len(set(ids)) == 20


def test_a_worker_that_died_gives_its_messages_back(project: Project, received: Received) -> None:
    to, _ = channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one")
    assert sending._claim(to.pk)

    assert channels_due() == []
    assert messages_send(channel_pk=to.pk) == 0
    AlertMessage.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))

    assert channels_due() == [to.pk]
    assert messages_send(channel_pk=to.pk) == 1


def test_addresses_inside_are_refused_and_none_is_kept_plain(
    project: Project, received: Received, settings: Any
) -> None:
    to, secret = channel(project, received)
    row = AlertChannel.objects.filter(pk=to.pk).values().get()
    assert received.url not in str(row)
    assert secret not in str(row)
    assert row["shown"] == "127.0.0.1"
    settings.AGENTDESK_OUTGOING_NETWORKS = ()

    with pytest.raises(ChannelError, match="not public"):
        channel(project, received)
    rule(project, to, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one")
    assert messages_send(channel_pk=to.pk) == 0
    assert received.requests == []
    assert "not public" in AlertMessage.objects.get().error
