from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import a_member, a_project
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.audit import access_record
from transcripts.choices import AccessAction, Role
from transcripts.models import Project
from transcripts.views import access_list

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def admin(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.ADMIN))
    return client


def text_of(client: Client, project: Project, **query: object) -> str:
    address = reverse("transcripts:access_list", args=[project.slug])
    return client.get(address, query).content.decode()


def test_tells_who_did_what(admin: Client, project: Project) -> None:
    run = the_vpn_run(project)
    person = a_member(project, Role.LEAD)
    access_record(project=project, action=AccessAction.READ, run=run, user=person)
    access_record(project=a_project(), action=AccessAction.EXPORT, user=a_member(project))

    text = text_of(admin, project)

    assert person.email in text
    assert "read transcript" in text
    assert "vpn-20931" in text
    assert text.count("<tr>") == 2


@pytest.mark.parametrize("by", ["who", "action", "run"])
def test_filters_narrow(admin: Client, project: Project, by: str) -> None:
    run, other = the_vpn_run(project), a_shown_run(project=project)
    anna, bert = a_member(project), a_member(project)
    access_record(project=project, action=AccessAction.READ, run=run, user=anna)
    access_record(project=project, action=AccessAction.EXPORT, run=other, user=bert)
    query = {"who": anna.email, "action": "read", "run": run.pk}

    text = text_of(admin, project, **{by: query[by]})

    assert anna.email in text
    assert bert.email not in text


def test_pages_go_on(admin: Client, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_list, "LINES_PER_PAGE", 2)
    for number in range(3):
        access_record(project=project, action=AccessAction.READ, detail={"n": number})

    first = text_of(admin, project)
    query = first.split('rel="next" href="?')[1].split('"')[0]
    second = admin.get(
        reverse("transcripts:access_list", args=[project.slug]) + f"?{query}"
    ).content.decode()

    assert "n 2" in first
    assert "n 0" not in first
    assert "n 0" in second


def test_the_page_of_a_run_says_who_read_it(admin: Client, project: Project) -> None:
    run = the_vpn_run(project)
    person = a_member(project, Role.LEAD)
    access_record(project=project, action=AccessAction.FIND, run=run, user=person)

    swap = admin.get(
        reverse("transcripts:run_readers", args=[project.slug, run.pk]),
        headers={"HX-Request": "true"},
    ).content.decode()

    assert "<html" not in swap
    assert f"<b>{person.email}</b> searched transcript" in swap
