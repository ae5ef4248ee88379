from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from tests.factories import a_member, a_project
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.audit import access_record
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Project, Run
from transcripts.selectors import access as selectors
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
    assert text.count("<tr><td") == 1


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

    assert "n 2</span>" in first
    assert "n 0</span>" not in first
    assert "n 0</span>" in second


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


def test_search_by_days_run_id_and_address(admin: Client, project: Project) -> None:
    run = the_vpn_run(project)
    entry = access_record(project=project, action=AccessAction.READ, run=run)
    day = f"{entry.at:%Y-%m-%d}"
    inside = RequestFactory().get("/", REMOTE_ADDR="10.1.2.3")
    access_record(project=project, action=AccessAction.EXPORT, run=run, request=inside)

    def found(**query: str) -> int:
        return text_of(admin, project, **query).count("<tr><td")

    assert found(since=day, until=day) == 2
    assert found(until="2001-01-01") == found(since="2999-01-01") == 0
    assert found(what="vpn-20") == 2
    assert found(what="20931") == 0
    assert found(address="10.1.2.3") == found(address="10.1.0.0/16") == 1
    assert found(address="10.2.0.0/16") == 0
    assert found(address="10.1.0.0/16", action="read") == 0


@pytest.mark.parametrize("name", ["since", "until", "address", "run", "action", "before"])
@pytest.mark.parametrize("value", ["x", "\x00", "9" * 40, "' OR 1=1 --", "2026-13-41"])
def test_what_cannot_be_meant_filters_nothing(
    admin: Client, project: Project, name: str, value: str
) -> None:
    access_record(project=project, action=AccessAction.READ, detail={"round": 7})

    assert "round 7" in text_of(admin, project, **{name: value})


def test_what_changed_is_told_in_words_before_and_after(admin: Client, project: Project) -> None:
    detail = {
        "limits": {"agent": "helpdesk", "tool": ""},
        "before": {"rounds": 12, "repeats": 3},
        "after": {"rounds": 20, "repeats": 3},
    }
    access_record(project=project, action=AccessAction.SETTINGS, detail=detail)
    access_record(
        project=project,
        action=AccessAction.SETTINGS,
        detail={"setting": "retention", "before": ["all: 30 days"], "after": ["all: 60 days"]},
    )

    text = text_of(admin, project)

    assert "limits: agent helpdesk" in text
    assert "rounds: <del>12</del> → <ins>20</ins>" in text
    assert "repeats" not in text
    assert "<del>all: 30 days</del> → <ins>nothing</ins>" in text
    assert "<del>nothing</del> → <ins>all: 60 days</ins>" in text
    assert "{" not in text.split("<tbody>")[1].split("</tbody>")[0]


def test_a_line_of_a_run_that_is_gone_has_no_link(admin: Client, project: Project) -> None:
    run = the_vpn_run(project)
    access_record(project=project, action=AccessAction.READ, run=run)
    Run.objects.filter(pk=run.pk).delete()

    text = text_of(admin, project, run=run.pk)

    assert "vpn-20931" in text
    assert "it is no longer here" in text
    assert f"/runs/{run.pk}/" not in text


def exported(client: Client, project: Project, **query: object) -> list[dict[str, Any]]:
    answer = client.get(reverse("transcripts:access_export", args=[project.slug]), query)
    assert answer.streaming
    assert answer["Content-Type"] == "application/jsonl"
    return [json.loads(line) for line in answer.getvalue().decode().splitlines()]


def test_lines_are_written_out_a_page_at_a_time_oldest_first(
    admin: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "LINES_AT_ONCE", 2)
    for number in range(5):
        access_record(project=project, action=AccessAction.READ, detail={"round": number})
    access_record(project=a_project(), action=AccessAction.READ)

    lines = exported(admin, project)

    assert [line["detail"].get("round") for line in lines] == [0, 1, 2, 3, 4, None]
    assert lines[-1]["action"] == "export"
    assert set(lines[0]) == {
        *("id", "at", "who", "user_id", "api_key_id", "action", "what", "run_pk"),
        *("address", "detail"),
    }


def test_an_export_is_filtered_and_says_so_in_its_own_line(admin: Client, project: Project) -> None:
    anna = a_member(project)
    access_record(project=project, action=AccessAction.READ, user=anna)
    access_record(project=project, action=AccessAction.FIND)

    lines = exported(admin, project, who=anna.email)

    assert [line["who"] for line in lines] == [anna.email]
    own = AccessEntry.objects.latest("pk")
    assert own.detail == {"audit_log": {"who": anna.email}}
    assert f"audit log: who {anna.email}" in text_of(admin, project)
