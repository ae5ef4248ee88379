from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analysis.models import Incident, Priority
from analysis.pages import incident_lists
from tests.factories import a_member, a_project
from tests.incident_runs import a_failing_run, the_incident
from tests.page_runs import a_hostile_run
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Project, User

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
MOST_QUERIES = 20


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def address(project: Project) -> str:
    return reverse("analysis:incident_list", args=[project.slug])


@pytest.fixture
def person(project: Project) -> User:
    return a_member(project, Role.LEAD)


@pytest.fixture
def lead(client: Client, person: User) -> Client:
    client.force_login(person)
    return client


def titles(client: Client, address: str, **query: str) -> list[str]:
    text = client.get(address, query).content.decode()
    return re.findall(r'<a class="open"[^>]*>(.*?)</a>', text)


def change(client: Client, project: Project, *numbers: int, **form: str) -> str:
    to = reverse("analysis:incidents_change", args=[project.slug])
    return client.post(to, {"number": numbers, **form}, follow=True).content.decode()


def test_the_page_shows_what_goes_wrong(project: Project, lead: Client, address: str) -> None:
    a_failing_run(project, "one")
    a_failing_run(project, "two")

    text = lead.get(address).content.decode()

    assert "get_right failed: “permission denied for user …”" in text
    assert "INC-1" in text
    assert 'class="number runs">2<' in text
    assert ">New<" in text


def test_an_empty_project_says_what_to_do_next(lead: Client, address: str) -> None:
    text = lead.get(address).content.decode()

    assert "No incident yet" in text
    assert "Send runs" in text


def test_filters_that_find_nothing_are_told_in_words(
    project: Project, lead: Client, person: User, address: str
) -> None:
    a_failing_run(project, "one")
    asked = {"q": "zebra", "detector": "failed_result", "owner": str(person.pk)}

    text = lead.get(address, asked).content.decode()

    assert "Nothing here has <b>“zebra”</b> and owner <b>" in text
    assert f"<b>{person.short_name}</b> and fault <b>Failed result</b>." in text


def test_a_row_says_whose_fault_it_is(project: Project, lead: Client, address: str) -> None:
    a_failing_run(project, "one")

    assert "INC-1 · helpdesk" in lead.get(address).content.decode()


def test_an_htmx_request_gets_the_list_alone(project: Project, lead: Client, address: str) -> None:
    a_failing_run(project, "one")

    answer = lead.get(address, headers=HTMX)

    assert answer.content.lstrip().startswith(b'<div id="incident-list"')
    assert b"<html" not in answer.content
    assert b'id="incident-tabs"' in answer.content
    assert "HX-Request" in answer.headers["Vary"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["get_left", "get_right"]),
        ({"q": "INC-1"}, ["get_right"]),
        ({"q": "2"}, ["get_left"]),
        ({"q": "time-out"}, ["get_left"]),
        ({"q": "HELPDESK"}, ["get_right"]),
        ({"agent": "billing"}, ["get_left"]),
        ({"tool": "get_right"}, ["get_right"]),
        ({"detector": "failed_result"}, ["get_left", "get_right"]),
        ({"detector": "nothing"}, []),
        ({"priority": "1"}, ["get_left"]),
        ({"state": "new"}, ["get_right"]),
        ({"owner": "none"}, ["get_right"]),
        ({"tab": "mine"}, ["get_left"]),
        ({"tab": "resolved"}, []),
        ({"tab": "nonsense", "state": "x", "priority": "9", "owner": "x\x00"},
         ["get_left", "get_right"]),
        ({"q": "%' OR 1=1"}, []),
    ],
)  # fmt: skip
def test_filters_narrow(
    project: Project, person: User, lead: Client, address: str, query: dict[str, str],
    found: list[str],
) -> None:  # fmt: skip
    a_failing_run(project, "one")
    a_failing_run(project, "two", tool="get_left", error="time-out", agent="billing")
    Incident.objects.filter(number=2).update(priority=Priority.HIGH, owner=person, state="ongoing")
    a_failing_run(a_project(), "elsewhere")

    assert [title.split()[0] for title in titles(lead, address, **query)] == found


def test_pages_by_key_set(
    project: Project, lead: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incident_lists.incident_page, "__kwdefaults__", {
        **(incident_lists.incident_page.__kwdefaults__ or {}), "limit": 2,
    })  # fmt: skip
    for name in "abcde":
        a_failing_run(project, name, tool=f"tool_{name}")
    Incident.objects.update(last_seen_at=timezone.now())
    seen: list[str] = []
    query = ""

    for _ in range(3):
        text = lead.get(f"{address}?{query}").content.decode()
        seen += re.findall(r'<a class="open"[^>]*>tool_(.)', text)
        older = re.search(r'href="\?([^"]*)" rel="next"', text)
        query = older[1] if older else ""

    assert seen == list("edcba")
    back = re.search(r'href="\?([^"]*)" rel="prev"', text)
    assert back
    assert [t[5] for t in titles(lead, f"{address}?{back[1]}")] == ["c", "b"]


def test_a_bad_cursor_is_the_beginning(project: Project, lead: Client, address: str) -> None:
    a_failing_run(project, "one")

    for cursor in ("x", "-", "99999999999999999999-1", "1-", "\u0661-\u0661"):
        assert len(titles(lead, address, before=cursor)) == 1


def test_queries_do_not_grow_with_rows(project: Project, lead: Client, address: str) -> None:
    a_failing_run(project, "one")
    lead.get(address)  # The first view of a session keeps what it learns of the person.
    with CaptureQueriesContext(connection) as few:
        lead.get(address)
    for name in "abcdef":
        a_failing_run(project, name, tool=f"tool_{name}")
    with CaptureQueriesContext(connection) as many:
        lead.get(address)

    assert len(many) == len(few) <= MOST_QUERIES


def test_markup_is_escaped(project: Project, lead: Client, address: str) -> None:
    a_hostile_run(project)

    text = lead.get(address).content.decode()

    assert Incident.objects.exists()
    assert "<script>alert" not in text
    assert "<img src=x" not in text


def test_an_observer_sees_no_words_of_tools_and_changes_nothing(
    project: Project, client: Client, address: str
) -> None:
    a_failing_run(project, "one")
    client.force_login(a_member(project, Role.OBSERVER))

    text = client.get(address).content.decode()

    assert "get_right failed" in text
    assert "permission" not in text
    assert 'name="action"' not in text
    assert titles(client, address, q="permission") == []
    to = reverse("analysis:incidents_change", args=[project.slug])
    assert client.post(to, {"number": 1, "action": "resolve"}).status_code == 403


def test_several_are_changed_at_once_and_back(project: Project, person: User, lead: Client) -> None:
    for name in ("one", "two", "three"):
        a_failing_run(project, name, tool=f"tool_{name}")

    text = change(lead, project, 1, 3, action="resolve", list="tab=all")

    assert "2 incidents are resolved." in text
    states = list(Incident.objects.order_by("number").values_list("state", flat=True))
    assert states == ["resolved", "new", "resolved"]
    line = AccessEntry.objects.get(action=AccessAction.INCIDENT)
    assert line.who == person.email
    assert line.detail == {"change": "resolve", "incidents": [1, 3]}
    undo = re.search(r'action="([^"]*/undo/)"', text)
    assert undo
    lead.post(undo[1])
    assert set(Incident.objects.values_list("state", flat=True)) == {"new"}


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("take", "2 incidents are yours now."),
        ("ignore_week", "2 incidents are ignored until"),
        ("ignore", "2 incidents are ignored for good."),
        ("merge", "1 incident is part of INC-1 now."),
        ("reopen", "Nothing has changed."),
        ("assign", "Nothing has changed."),
        ("explode", "There is no such change."),
        ("hold", ""),
    ],
)
def test_each_bulk_change(project: Project, lead: Client, action: str, told: str) -> None:
    for name in ("one", "two"):
        a_failing_run(project, name, tool=f"tool_{name}")

    text = change(lead, project, 1, 2, action=action)

    # A hold is for administrators.
    assert told in text if told else "This needs an administrator" in text


def test_nothing_chosen_is_said(project: Project, lead: Client) -> None:
    assert "No incident was chosen." in change(lead, project, action="resolve")
    other = a_project()
    a_failing_run(other, "one")
    assert "No incident was chosen." in change(lead, project, 1, action="resolve")
    assert the_incident(other).state == "new"


def test_an_htmx_change_swaps_the_list_and_says_so(project: Project, lead: Client) -> None:
    a_failing_run(project, "one", at=timezone.now() - timedelta(days=1))

    to = reverse("analysis:incidents_change", args=[project.slug])
    answer = lead.post(to, {"number": 1, "action": "take"}, headers=HTMX).content.decode()

    assert answer.lstrip().startswith('<div id="incident-list"')
    assert 'id="messages"' in answer
    assert "INC-1 is yours now." in answer


def test_sign_in_is_required(client: Client, address: str) -> None:
    assert client.get(address).status_code == 302
