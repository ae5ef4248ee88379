"""Nobody is told more than their role may read, whatever happened since an alert was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from agentdesk.keeping import run_empty
from analysis.alerts.channels import ChannelError, channel_add, rule_add
from analysis.alerts.looking import rules_look
from analysis.alerts.outbox import rules_forget
from analysis.alerts.sending import SLACK_CHARACTERS, messages_send, slack_text
from analysis.jobs import job_advance, job_start
from analysis.masking_again import runs_to_mask
from analysis.models import (
    AlertChannel,
    AlertKind,
    AlertMessage,
    ChannelKind,
    JobKind,
    MessageState,
)
from analysis.services.keeping import HELD
from tests.analysis.alerts.receiver import Received, receiving
from tests.builders import a_run, call
from tests.factories import a_member, a_project, a_user
from tests.incident_runs import a_failing_record, a_failing_run, grouped
from transcripts.choices import Role
from transcripts.maskers import typed_masker
from transcripts.models import Membership, Project, Run, User
from transcripts.services.erasing import runs_erase
from transcripts.services.masking import mask_rule_save

pytestmark = pytest.mark.django_db
CITED = "permission denied"


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def received(settings: Any) -> Iterator[Received]:
    settings.AGENTDESK_URL = "https://desk.example"
    settings.AGENTDESK_OUTGOING_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    with receiving() as found:
        yield found


def told(project: Project, received: Received, *kinds: AlertKind, **values: Any) -> AlertChannel:
    """A webhook that leads read, with rules."""
    to, _ = channel_add(
        project=project, kind=ChannelKind.WEBHOOK, name="Ops", address=received.url,
        user=a_user(), for_leads=True,
    )  # fmt: skip
    for kind in kinds:
        rule_add(project=project, channel=to, kind=kind, cooldown_minutes=0, **values)
    rules_forget()
    return to


def mailed(project: Project, address: str, **values: Any) -> AlertChannel:
    to, _ = channel_add(
        project=project, kind=ChannelKind.EMAIL, name="Ops", address=address, user=a_user(),
        **values,
    )  # fmt: skip
    for kind in (AlertKind.RUN_FLAGGED, AlertKind.INCIDENT_NEW):
        rule_add(project=project, channel=to, kind=kind, cooldown_minutes=0)
    rules_forget()
    return to


def sent_by_mail() -> str:
    return "\n".join(f"{each.subject}\n{each.body}\n{each.alternatives}" for each in mail.outbox)


@pytest.mark.parametrize(
    ("role", "cites"),
    [(Role.LEAD, True), (Role.ENGINEER, True), (Role.ADMIN, True), (Role.OBSERVER, False)],
)
def test_a_member_is_told_what_their_role_reads_when_it_is_sent(
    project: Project, received: Received, role: Role, cites: bool
) -> None:
    """They were a lead when the channel was made and the alert was written."""
    person = a_member(project, Role.LEAD, user=a_user("anna@desk.example"))
    to = mailed(project, "Anna@desk.example", for_leads=True)
    a_failing_run(project, "one")
    Membership.objects.filter(user=person).update(role=role)

    assert messages_send(channel_pk=to.pk) == 2

    assert (CITED in sent_by_mail()) == cites


@pytest.mark.parametrize("left", ["membership", "account"])
def test_who_has_left_is_told_nothing_of_transcripts(
    project: Project, received: Received, left: str
) -> None:
    person = a_member(project, Role.LEAD, user=a_user("anna@desk.example"))
    to = mailed(project, "anna@desk.example", for_leads=True)
    a_failing_run(project, "one")
    if left == "membership":
        Membership.objects.filter(user=person).delete()
    else:
        User.objects.filter(pk=person.pk).update(is_active=False)

    messages_send(channel_pk=to.pk)

    assert mail.outbox
    assert CITED not in sent_by_mail()


def test_an_observer_is_no_receiver_of_transcripts(project: Project, received: Received) -> None:
    a_member(project, Role.OBSERVER, user=a_user("anna@desk.example"))

    with pytest.raises(ChannelError, match="is observer here, and may not read transcripts"):
        mailed(project, "anna@desk.example", for_leads=True)

    assert mailed(project, "list@desk.example", for_leads=True).for_leads


@pytest.mark.parametrize("state", [MessageState.WAITING, MessageState.DEAD])
def test_a_run_that_is_restricted_meanwhile_is_not_cited(
    project: Project, received: Received, state: MessageState
) -> None:
    to = told(project, received, AlertKind.RUN_FLAGGED, AlertKind.INCIDENT_NEW)
    a_failing_run(project, "one")
    cites = typed_masker(project).text(f"T-1: get_right said “{CITED}”.")
    of_run = AlertMessage.objects.get(kind=AlertKind.RUN_FLAGGED)
    of_run.body = {**of_run.body, "words": cites}
    of_run.save()
    AlertMessage.objects.update(state=state)
    cited = [CITED in str(each.body) for each in AlertMessage.objects.all()]

    grouped(project, a_failing_record("one", labels={"restricted": "hr"}))
    AlertMessage.objects.update(state=MessageState.WAITING)
    messages_send(channel_pk=to.pk)

    assert all(cited)
    assert received.requests
    assert all(CITED.encode() not in body for _, _, body in received.requests)


def test_a_rule_that_masks_more_holds_for_what_waits(project: Project, received: Received) -> None:
    to = told(project, received, AlertKind.RUN_FLAGGED)
    a_failing_run(project, "one", error="no right for badge 12345 here")
    mask_rule_save(
        project=project, rule=None, name="badge", family="badge", pattern=r"badge (\d{5})",
        must="badge 12345", must_not="page 12345", user=a_user(),
    )  # fmt: skip

    messages_send(channel_pk=to.pk)

    assert received.requests
    assert b"12345" not in received.requests[0][2]


def test_what_was_masked_again_is_not_cited_as_it_was(project: Project, received: Received) -> None:
    told(project, received, AlertKind.RUN_FLAGGED)
    a_failing_run(project, "one", error="no right for badge 12345 here")
    AlertMessage.objects.update(state=MessageState.DEAD)
    mask_rule_save(
        project=project, rule=None, name="badge", family="badge", pattern=r"badge (\d{5})",
        must="badge 12345", must_not="page 12345", user=a_user(),
    )  # fmt: skip
    wanted, total = runs_to_mask(project=project, everything=False)
    job = job_start(project=project, kind=JobKind.MASK_AGAIN, wanted=wanted, total=total, user=None)
    job_advance(job_pk=job.pk, seconds=20)

    assert "12345" not in str(AlertMessage.objects.get().body)


def erased(run: Run) -> None:
    runs_erase(runs=[run], held=HELD)
    while not run_empty(run.pk):
        pass


def test_nothing_is_left_of_an_erased_run(project: Project, received: Received) -> None:
    """Of what is about it, about its incident, and about a tool that it alone has named."""
    told(project, received, AlertKind.RUN_FLAGGED, AlertKind.INCIDENT_NEW)
    told(project, received, AlertKind.TOOL_ERRORS, percent=50, least=2)
    made_up = [[call("ask_maria_about_it", {"n": n}, "denied", is_error=True)] for n in range(3)]
    run = grouped(project, a_run(*made_up, "Done.", run_id="one", agent="helpdesk"))
    rules_look()
    kinds = set(AlertMessage.objects.values_list("kind", flat=True))

    erased(run)

    assert kinds == {"run_flagged", "incident_new", "tool_errors"}
    assert list(AlertMessage.objects.values_list("kind", "body")) == []


def test_a_tool_that_others_have_is_still_told_of(project: Project, received: Received) -> None:
    told(project, received, AlertKind.TOOL_ERRORS, percent=50, least=2)
    calls = [[call("get_right", {"n": n}, "denied", is_error=True)] for n in range(3)]
    run = grouped(project, a_run(*calls, "Done.", run_id="one"))
    grouped(project, a_run(*calls, "Done.", run_id="two"))
    rules_look()

    erased(run)

    assert AlertMessage.objects.get().body["tool"] == "get_right"


def test_the_cooldown_lets_a_burst_go_together(
    project: Project, received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault a minute for half an hour: with ten minutes of cooldown four requests."""
    to, _ = channel_add(
        project=project, kind=ChannelKind.WEBHOOK, name="Ops", address=received.url, user=a_user()
    )
    rule_add(project=project, channel=to, kind=AlertKind.RUN_FLAGGED, cooldown_minutes=10)
    rules_forget()
    begun = timezone.now()
    for minute in range(31):
        monkeypatch.setattr(timezone, "now", lambda at=begun + timedelta(minutes=minute): at)
        a_failing_run(project, f"run-{minute}")
        messages_send(channel_pk=to.pk)

    sizes = [len(json.loads(body)["alerts"]) for _, _, body in received.requests]
    assert sizes == [1, 9, 10, 10]


def test_slack_gets_whole_lines(project: Project, received: Received) -> None:
    to = told(project, received, AlertKind.RUN_FLAGGED)
    for number in range(40):
        a_failing_run(project, f"run-{number}")
    messages = list(AlertMessage.objects.filter(channel=to))

    text = slack_text(messages)

    assert len(text) <= SLACK_CHARACTERS
    *lines, last = text.split("\n")
    assert all(line.endswith("|Open>") for line in lines)
    assert last == f"… and {40 - len(lines)} more"
