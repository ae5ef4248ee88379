"""Who is mentioned is told by mail, without a word of what was said."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from agentdesk.tasks import mention_mail
from analysis.models import Annotation
from tests.factories import a_member, a_project, a_user
from tests.page_runs import the_vpn_run
from transcripts.choices import Role
from transcripts.models import Membership, Project, Run, User

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[str]:
    settings.AGENTDESK_SENDS_MAIL = True
    queued: list[str] = []
    monkeypatch.setattr(
        "analysis.services.mention_mail.enqueue",
        lambda task, told, countdown: queued.append(told),
    )
    return queued


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk", name="Helpdesk")


@pytest.fixture
def run(project: Project) -> Run:
    return the_vpn_run(project)


@pytest.fixture
def anna(project: Project) -> User:
    return a_member(project, Role.LEAD, user=a_user("anna@desk.example", name="Anna B"))


@pytest.fixture
def erin(project: Project, client: Client) -> Client:
    client.force_login(a_member(project, Role.ENGINEER, user=a_user("erin@desk.example")))
    return client


def comment(client: Client, run: Run, text: str, about: str = "") -> None:
    address = reverse("analysis:run_annotate", args=["helpdesk", run.pk])
    answer = client.post(address, {"kind": "note", "text": text, "about": about})
    assert answer.status_code == 302


def told_to(queued: list[str]) -> None:
    for told in queued:
        mention_mail(told)


def test_the_mail_says_who_and_where_and_not_what(
    erin: Client,
    anna: User,
    run: Run,
    queued: list[str],
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        comment(erin, run, "@anna and @erin: Zanzibar.", about="3")
    told_to(queued)

    (sent,) = mail.outbox
    link = f"{settings.AGENTDESK_URL}/p/helpdesk/runs/{run.pk}/?at=3#r3"
    assert sent.to == ["anna@desk.example"]
    assert sent.subject == "erin mentioned you at IT-20931, round 3"
    assert link in sent.body
    assert f'href="{link}"' in sent.alternatives[0][0]
    assert "Zanzibar" not in sent.body + str(sent.alternatives[0][0])


def test_an_edit_tells_who_is_new_in_it(
    erin: Client,
    anna: User,
    run: Run,
    project: Project,
    queued: list[str],
    django_capture_on_commit_callbacks: Any,
) -> None:
    a_member(project, Role.LEAD, user=a_user("max@desk.example"))
    with django_capture_on_commit_callbacks(execute=True):
        comment(erin, run, "@anna look")
        pk = Annotation.objects.get().pk
        address = reverse("analysis:annotation_change", args=["helpdesk", pk])
        erin.post(address, {"kind": "note", "text": "@anna and @max look"})
    told_to(queued)

    assert [sent.to[0] for sent in mail.outbox] == ["anna@desk.example", "max@desk.example"]


@pytest.mark.parametrize("since", ["removed", "observer", "gone", "switched off"])
def test_who_may_not_read_it_by_then_is_told_nothing(
    erin: Client,
    anna: User,
    run: Run,
    queued: list[str],
    since: str,
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        comment(erin, run, "@anna look")
    annotation, membership = Annotation.objects.get(), Membership.objects.get(user=anna)
    if since == "removed":
        erin.post(reverse("analysis:annotation_gone", args=["helpdesk", annotation.pk]))
    elif since == "observer":
        membership.role = Role.OBSERVER
        membership.save()
    elif since == "gone":
        membership.delete()
    else:
        User.objects.filter(pk=anna.pk).update(is_active=False)
    told_to(queued)

    assert len(queued) == 1
    assert mail.outbox == []


def test_a_restricted_run_is_told_to_those_who_may_read_it(
    erin: Client,
    anna: User,
    run: Run,
    queued: list[str],
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        comment(erin, run, "@anna look")
    Run.objects.filter(pk=run.pk).update(restricted=True)
    told_to(queued)

    assert mail.outbox == []


def test_nothing_is_queued_where_no_mail_is_sent(
    erin: Client,
    anna: User,
    run: Run,
    queued: list[str],
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.AGENTDESK_SENDS_MAIL = False
    with django_capture_on_commit_callbacks(execute=True):
        comment(erin, run, "@anna look")

    assert queued == []
