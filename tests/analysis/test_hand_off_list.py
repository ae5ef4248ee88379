from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import RunTriage
from analysis.selectors import hand_offs as selectors
from tests.builders import a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_shown_run
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Project, Run, User
from transcripts.record import Ending

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def person(project: Project) -> User:
    return a_member(project, Role.LEAD)


@pytest.fixture
def lead(client: Client, person: User) -> Client:
    client.force_login(person)
    return client


def handed_off(project: Project, run_id: str, tool: str = "escalate_to_it_team") -> Run:
    asked = call(tool, {"reason": "only the owner may do it"}, "queued")
    record = a_run([call()], [asked], run_id=run_id, ticket_id=f"T {run_id}",
                   ending=Ending.HANDED_OFF)  # fmt: skip
    return a_shown_run(record, project)


def page(client: Client, project: Project, **query: str) -> str:
    return client.get(
        reverse("analysis:hand_off_list", args=[project.slug]), query
    ).content.decode()


def change(client: Client, project: Project, run: Run, **form: str) -> str:
    to = reverse("analysis:hand_off_change", args=[project.slug, run.pk])
    return client.post(to, form, follow=True).content.decode()


def test_it_says_why_and_for_whom(project: Project, lead: Client) -> None:
    handed_off(project, "one")
    a_shown_run(a_run([call()], "Done.", run_id="fine", ticket_id="T fine"), project)

    text = page(lead, project)

    assert "Handed off after 2 rounds: “only the owner may do it”" in text
    assert ">to </span>IT team</td>" in text
    assert "T one" in text
    assert "T fine" not in text
    assert 'title="1 waiting"' in text


def test_an_empty_queue_says_what_it_is_for(project: Project, lead: Client) -> None:
    text = page(lead, project)

    assert "Nobody waits" in text
    assert "waiting</span>" not in text


def test_take_done_and_back(project: Project, lead: Client, person: User) -> None:
    run = handed_off(project, "one")

    assert "T one is yours now." in change(lead, project, run, action="take")
    assert "T one" in page(lead, project, tab="mine")
    text = change(lead, project, run, action="done")

    assert "T one is done." in text
    assert RunTriage.objects.get(run=run).done_by == person
    assert "Nobody waits" in page(lead, project)
    assert "T one" in page(lead, project, tab="done")
    undo = re.search(r'action="([^"]*/undo/)"', text)
    assert undo
    lead.post(undo[1])
    triage = RunTriage.objects.get(run=run)
    assert (triage.owner, triage.done_at, triage.done_by) == (person, None, None)
    lines = AccessEntry.objects.filter(action=AccessAction.TRIAGE).order_by("pk")
    assert [line.detail for line in lines] == [{"hand_off": "take"}, {"hand_off": "done"}]


def test_what_is_done_can_wait_again(project: Project, lead: Client) -> None:
    run = handed_off(project, "one")
    change(lead, project, run, action="done")

    assert "T one waits again." in change(lead, project, run, action="again", tab="done")
    assert "T one" in page(lead, project)


def test_twice_changes_nothing(project: Project, lead: Client) -> None:
    run = handed_off(project, "one")
    for action in ("take", "done"):
        change(lead, project, run, action=action)
        assert "/undo/" not in change(lead, project, run, action=action)


def test_only_handed_off_runs_are_changed(project: Project, lead: Client) -> None:
    run = a_shown_run(a_run([call()], "Done."), project)

    assert "was not handed off" in change(lead, project, run, action="done")
    assert not RunTriage.objects.exists()


def test_an_observer_sees_no_words_and_changes_nothing(project: Project, client: Client) -> None:
    run = handed_off(project, "one")
    client.force_login(a_member(project, Role.OBSERVER))

    text = page(client, project)

    assert "Handed off after 2 rounds" in text
    assert "only the owner" not in text
    to = reverse("analysis:hand_off_change", args=[project.slug, run.pk])
    assert client.post(to, {"action": "take"}).status_code == 403


def test_pages(project: Project, lead: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "ROWS_PER_PAGE", 2)
    for name in "abc":
        handed_off(project, name)

    first = page(lead, project)
    older = re.search(r'href="\?([^"]*before=[^"]*)"', first)
    assert older
    address = reverse("analysis:hand_off_list", args=[project.slug])
    second = lead.get(f"{address}?{older[1]}".replace("&amp;", "&")).content.decode()

    assert re.findall(r"<b>T (.)</b>", first) == ["c", "b"]
    assert re.findall(r"<b>T (.)</b>", second) == ["a"]


def test_an_htmx_change_swaps_the_queue(project: Project, lead: Client) -> None:
    run = handed_off(project, "one")

    to = reverse("analysis:hand_off_change", args=[project.slug, run.pk])
    text = lead.post(to, {"action": "take"}, headers=HTMX).content.decode()

    assert text.lstrip().startswith('<div id="queue"')
    assert 'id="messages"' in text
