from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.lists import pages
from tests.builders import a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_hostile_run, a_shown_run, hostile_text, the_vpn_run
from transcripts.choices import Role
from transcripts.models import Project, Run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
MOST_QUERIES = 12


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def address(project: Project) -> str:
    return reverse("analysis:run_list", args=[project.slug])


@pytest.fixture
def lead(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.LEAD))
    return client


def finished(run_id: str, project: Project, **fields: str) -> Run:
    return a_shown_run(a_run([call()], "Done.", run_id=run_id, **fields), project)


def text_of(client: Client, address: str, **query: str) -> str:
    return client.get(address, query).content.decode()


def test_flagged_runs_come_first(lead: Client, project: Project, address: str) -> None:
    the_vpn_run(project)
    finished("fine", project, ticket_id="IT-1")

    flagged, everything = text_of(lead, address), text_of(lead, address, tab="all")

    assert "IT-20931" in flagged
    assert "IT-1<" not in flagged
    assert "IT-20931" in everything
    assert "IT-1<" in everything


def test_says_what_happened_to_whom(lead: Client, project: Project, address: str) -> None:
    run = the_vpn_run(project)

    text = text_of(lead, address)

    assert '<span class="label breach">Stopped</span>' in text
    assert "First odd round: 3, reset_vpn_profile returned nothing." in text
    assert "VPN drops every ten minutes" in text
    assert f'{reverse("analysis:run_detail", args=[project.slug, run.pk])}?list=#r3"' in text
    assert '<path class="s-odd"' in text


def test_an_htmx_request_gets_the_list_alone(lead: Client, project: Project, address: str) -> None:
    the_vpn_run(project)

    swap = lead.get(address, headers=HTMX)

    assert swap.content.decode().strip().startswith('<div id="run-list"')
    assert '<nav id="run-tabs" class="tabs"' in swap.content.decode()
    assert "<html" not in swap.content.decode()
    assert "HX-Request" in swap.headers["Vary"]
    assert "no-store" in swap.headers["Cache-Control"]


@pytest.mark.parametrize("header", ["HX-Boosted", "HX-History-Restore-Request"])
def test_a_whole_page_for_boosted_and_restored(lead: Client, address: str, header: str) -> None:
    page = lead.get(address, headers={**HTMX, header: "true"})

    assert page.content.decode().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"agent": "billing"}, "IT-2"),
        ({"ending": "stopped"}, "IT-20931"),
        ({"finding": "ticket_lost"}, "IT-20931"),
        ({"tool": "reset_vpn_profile"}, "IT-20931"),
        ({"model": "small-1"}, "IT-2"),
        ({"prompt": "v2"}, "IT-2"),
        ({"q": "it-2 "}, "IT-2"),
        ({"q": "run-b"}, "IT-2"),
        ({"q": "vpn drops"}, "IT-20931"),
    ],
)
def test_filters_narrow(
    lead: Client, project: Project, address: str, query: dict[str, str], found: str
) -> None:
    the_vpn_run(project)
    finished("run-a", project, ticket_id="IT-1")
    finished(
        "run-b",
        project,
        ticket_id="IT-2",
        agent="billing",
        model="small-1",
        prompt_version="v2",
    )

    text = text_of(lead, address, tab="all", **query)

    tickets = [ticket for ticket in ("IT-20931", "IT-1", "IT-2") if f"<b>{ticket}</b>" in text]
    assert [found] == [t for t in tickets if query != {"q": "it-2 "} or t != "IT-20931"]


def test_live_runs_have_their_tab(lead: Client, project: Project, address: str) -> None:
    record = a_run([call()], [call("other")], live=True, run_id="live", ticket_id="IT-7")
    a_shown_run(record, project, live=True)
    finished("fine", project, ticket_id="IT-1")

    text = text_of(lead, address, tab="live")

    assert "<b>IT-7</b>" in text
    assert "<b>IT-1</b>" not in text
    assert "Still going" in text


@pytest.mark.parametrize("sort", ["newest", "oldest", "cost", "rounds", "wasted"])
def test_pages_meet_without_overlap(
    lead: Client, project: Project, address: str, sort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where all that is ordered by is equal."""
    monkeypatch.setattr(pages, "ROWS_PER_PAGE", 2)
    made = [finished(f"run-{number}", project).pk for number in range(5)]

    first = lead.get(address, {"tab": "all", "sort": sort}).context["page"]
    second = lead.get(f"{address}?{first.older}").context["page"]
    third = lead.get(f"{address}?{second.older}").context["page"]
    back = lead.get(f"{address}?{third.newer}").context["page"]

    seen = [run.pk for page in (first, second, third) for run in page.runs]
    assert seen == (made if sort == "oldest" else made[::-1])
    assert not first.newer
    assert not third.older
    assert [run.pk for run in back.runs] == [run.pk for run in second.runs]


@pytest.mark.parametrize("cursor", ["x", "1-", "-1", "9" * 40 + "-1", "1-9" * 9, "\x00"])
def test_a_broken_cursor_is_passed_over(
    lead: Client, project: Project, address: str, cursor: str
) -> None:
    finished("fine", project, ticket_id="IT-1")

    assert "<b>IT-1</b>" in text_of(lead, address, tab="all", before=cursor)


def test_queries_do_not_grow_with_rows(lead: Client, project: Project, address: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            lead.get(address, {"tab": "all"})
        return len(captured)

    finished("first", project)
    queries()  # the first page of a session has some of its own
    with_one = queries()
    for number in range(12):
        finished(f"run-{number}", project)

    assert queries() == with_one <= MOST_QUERIES


def test_markup_is_escaped(lead: Client, project: Project, address: str) -> None:
    a_hostile_run(project)

    text = text_of(lead, address, tab="all", agent=hostile_text())

    assert "<script>alert" not in text
    assert "<img src=x" not in text
    # What a form sends back has to be the value itself; all else is shown with its shape.
    assert "\u202e" not in re.sub(r'value="[^"]*"', "", text)
    assert "{{ 7|add:7 }}" in text


def test_an_observer_reads_no_transcript(client: Client, project: Project, address: str) -> None:
    the_vpn_run(project)
    client.force_login(a_member(project, Role.OBSERVER))

    text = text_of(client, address)

    assert "First odd round: 3" in text
    assert "VPN drops" not in text
    assert "<b>IT-20931</b>" in text
    assert "<b>IT-20931</b>" not in text_of(client, address, q="vpn drops")


def test_a_restricted_run_keeps_its_title(client: Client, project: Project, address: str) -> None:
    record = a_run([call()], "Done.", run_id="hr", title="Salary of Anna", ticket_id="HR-1")
    run = a_shown_run(record, project)
    Run.objects.filter(pk=run.pk).update(restricted=True)
    client.force_login(a_member(project, Role.ADMIN))

    text = text_of(client, address, tab="all")

    assert "HR-1" in text
    assert "Salary of Anna" not in text


def test_empty_states_say_what_to_do(lead: Client, project: Project, address: str) -> None:
    assert reverse("transcripts:send_runs", args=[project.slug]) in text_of(lead, address)

    finished("fine", project)

    assert "Nothing is flagged" in text_of(lead, address)
    assert "Clear filters" in text_of(lead, address, agent="nobody")


def test_asks_to_sign_in(client: Client, address: str) -> None:
    answer = client.get(address)

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(reverse("account_login"))


def test_another_project_is_not_found(lead: Client, project: Project) -> None:
    other = a_project("secret")
    the_vpn_run(other)

    answer = lead.get(reverse("analysis:run_list", args=[other.slug]))

    assert answer.status_code == 404
    assert b"IT-20931" not in answer.content
