from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analysis.models import Incident
from analysis.selectors.incidents import incidents_of_runs
from tests.builders import a_run, call
from tests.factories import a_member, a_project
from tests.incident_runs import a_failing_record, a_failing_run, grouped, the_incident
from tests.page_runs import a_hostile_run
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Membership, Project, Run, User

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
MOST_QUERIES = 40


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


def page(client: Client, project: Project, number: int = 1) -> str:
    address = reverse("analysis:incident_detail", args=[project.slug, number])
    answer = client.get(address)
    assert answer.status_code == 200, answer
    return answer.content.decode()


def change(client: Client, project: Project, number: int = 1, **form: object) -> str:
    to = reverse("analysis:incident_change", args=[project.slug, number])
    return client.post(to, form, follow=True).content.decode()


def test_a_lead_reads_what_happened_to_whom_and_what_to_do(project: Project, lead: Client) -> None:
    now = timezone.now()
    a_failing_run(project, "one", ticket_id="IT-1", prompt_version="v1", at=now - timedelta(3))
    run = a_failing_run(project, "two", ticket_id="IT-2", prompt_version="v2", model="gpt")

    text = page(lead, project)

    assert "<h1>get_right failed: “permission denied for user …”</h1>" in text
    assert "Seen in <b>2 runs</b> of helpdesk, on 2 tickets." in text
    assert f'href="/p/helpdesk/runs/{run.pk}/?list=tab%3Dall%26incident%3D1#r2"' in text
    assert "get_right failed with “permission denied for user 1003”" in text
    assert "Let the error name its cause" in text
    assert "IT-1" in text
    assert re.search(r"Prompt</td><td[^>]*>v2</td>", text)
    assert re.search(r"Model</td><td[^>]*>gpt</td>", text)
    assert "2 runs in 30 days, 1 at most on one" in text
    assert text.count("<rect") == 2
    assert "First seen in prompt v1, in run" in text


def test_it_says_what_follows_in_the_same_runs(project: Project, lead: Client) -> None:
    record = a_failing_record("one")
    grouped(project, a_run(*[list(round_.calls) for round_ in record.rounds[:2]],
                           *[[call()]] * 6, run_id="one", agent="helpdesk"))  # fmt: skip

    text = page(lead, project)

    assert re.search(r"In the same run: .*repeated call</a>", text)
    assert "In the run list" in text
    assert "All 1 run" not in text


def test_reading_the_finding_leaves_a_line(project: Project, lead: Client, person: User) -> None:
    run = a_failing_run(project, "one")

    page(lead, project)

    line = AccessEntry.objects.get(action=AccessAction.READ)
    assert (line.who, line.run_pk) == (person.email, run.pk)
    assert line.detail == {"at": 2, "incident": 1}


def test_an_observer_sees_no_words_of_tools(project: Project, client: Client) -> None:
    a_failing_run(project, "one")
    client.force_login(a_member(project, Role.OBSERVER))

    text = page(client, project)

    assert "get_right failed" in text
    assert "permission" not in text
    assert 'name="action"' not in text
    assert not AccessEntry.objects.filter(action=AccessAction.READ).exists()


def test_a_restricted_run_stands_for_none_but_named_readers(
    project: Project, lead: Client, person: User
) -> None:
    open_run = a_failing_run(project, "one", at=timezone.now() - timedelta(1))
    closed = a_failing_run(project, "two", labels={"restricted": "hr"})

    assert f"/runs/{open_run.pk}/?list=tab%3Dall%26incident%3D1#r2" in _first_action(
        page(lead, project)
    )
    Membership.objects.filter(user=person).update(restricted=True)
    assert f"/runs/{closed.pk}/" in _first_action(page(lead, project))


def _first_action(text: str) -> str:
    found = re.search(r'<a class="button primary" href="([^"]*)"', text)
    assert found
    return found[1]


def test_markup_is_escaped(project: Project, lead: Client) -> None:
    a_hostile_run(project)

    text = page(lead, project)

    assert "<script>alert" not in text
    assert "<img src=x" not in text


def test_queries_do_not_grow_with_runs(project: Project, lead: Client) -> None:
    a_failing_run(project, "one", prompt_version="v")
    # The first view of a session keeps what it learns of the person.
    page(lead, project)
    with CaptureQueriesContext(connection) as few:
        page(lead, project)
    for name in "abcdef":
        a_failing_run(project, name, prompt_version=f"v{name}")
    with CaptureQueriesContext(connection) as many:
        page(lead, project)

    assert len(many) == len(few) <= MOST_QUERIES


def test_runs_that_are_gone_leave_a_page(project: Project, lead: Client) -> None:
    a_failing_run(project, "one")
    Run.objects.all().delete()

    assert "No run that has it is there any more." in page(lead, project)


@pytest.mark.parametrize(
    ("form", "told", "timeline"),
    [
        ({"action": "take"}, "INC-1 is yours now.", "gave it to"),
        ({"action": "resolve"}, "INC-1 is resolved.", "resolved it from now on."),
        ({"action": "resolve", "version": "v2", "kind": "code"},
         "INC-1 is resolved in code v2.", "resolved it in code v2."),
        ({"action": "ignore", "runs": "5"}, "INC-1 is ignored until 5 more runs have it.",
         "ignored it until 5 more runs have it."),
        ({"action": "ignore", "aside": "day"}, "INC-1 is ignored until", "ignored it until"),
        ({"action": "ignore", "until": "2999-12-31"}, "INC-1 is ignored until 1 Jan",
         "ignored it until 1 Jan 3000"),
        ({"action": "ignore", "until": "2001-01-01"}, "still to come", ""),
        ({"action": "ignore", "runs": "0"}, "Runs: Ensure", ""),
        ({"action": "priority", "priority": "1"}, "INC-1 is of high priority now.",
         "from medium to high."),
        ({"action": "priority", "priority": "7"}, "Priority: Select a valid choice.", ""),
        ({"action": "merge", "into": "INC-77"}, "Say which incident", ""),
        ({"action": "split"}, "Choose some of the fingerprints", ""),
        ({"action": "assign", "owner": "999999"}, "An owner is a member", ""),
        ({"action": "reopen"}, "Nothing has changed.", ""),
    ],
)  # fmt: skip
def test_each_change_is_said_and_told(
    project: Project, lead: Client, form: dict[str, str], told: str, timeline: str
) -> None:
    a_failing_run(project, "one")

    text = change(lead, project, **form)

    assert told in text
    assert timeline in text
    assert ("/undo/" in text) == bool(timeline)


def test_a_secret_in_a_typed_version_is_masked(project: Project, lead: Client) -> None:
    a_failing_run(project, "one")
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"

    text = change(lead, project, action="resolve", version=f"v {secret}")

    assert secret not in the_incident(project).resolved_in
    assert "[SECRET:" in the_incident(project).resolved_in
    assert secret not in page(lead, project)
    assert secret not in text


def test_merging_leads_on_to_the_other_page(project: Project, lead: Client) -> None:
    a_failing_run(project, "one")
    a_failing_run(project, "two", tool="other")

    text = change(lead, project, 2, action="merge", into="inc 1")

    assert "1 incident is part of INC-1 now." in text
    assert "<h1>get_right failed" in text
    address = reverse("analysis:incident_detail", args=[project.slug, 2])
    assert lead.get(address).headers["Location"].endswith("/incidents/1/")
    split = Incident.objects.get(number=1).fingerprints.get(tool="other").pk
    assert "INC-3 was split off from INC-1." in change(
        lead, project, action="split", fingerprint=split
    )


def test_a_legal_hold_is_for_administrators(project: Project, client: Client) -> None:
    a_failing_run(project, "one")
    client.force_login(a_member(project, Role.ENGINEER))
    to = reverse("analysis:incident_change", args=[project.slug, 1])
    assert client.post(to, {"action": "hold"}).status_code == 403
    client.force_login(a_member(project, Role.ADMIN))

    assert "on legal hold" in change(client, project, action="hold")

    assert the_incident(project).held
    assert AccessEntry.objects.filter(action=AccessAction.HOLD).count() == 1


def test_an_htmx_change_swaps_the_incident(project: Project, lead: Client) -> None:
    a_failing_run(project, "one")

    to = reverse("analysis:incident_change", args=[project.slug, 1])
    text = lead.post(to, {"action": "resolve"}, headers=HTMX).content.decode()

    assert text.lstrip().startswith('<div id="incident"')
    assert 'id="messages"' in text


def test_the_timeline_goes_on(project: Project, lead: Client) -> None:
    a_failing_run(project, "one")
    for _ in range(20):
        change(lead, project, action="resolve")
        change(lead, project, action="reopen")

    text = page(lead, project)
    more = re.search(r'href="([^"]*/events/\?before=\d+)"', text)
    assert more
    rest = lead.get(more[1]).content.decode()

    assert "First seen, in run" not in text
    assert "First seen, in run" in rest
    assert lead.get(more[1], headers=HTMX).content.lstrip().startswith(b"<ol")


def test_runs_know_their_incidents(project: Project) -> None:
    both = grouped(project, a_run(
        [call("a", {}, "denied", is_error=True)], [call("b", {}, "denied", is_error=True)], "Done.",
        run_id="both",
    ))  # fmt: skip
    healthy = grouped(project, a_run([call()], "Done.", run_id="healthy"))

    found = incidents_of_runs(run_pks=[both.pk, healthy.pk])

    assert [each.number for each in found[both.pk]] == [1, 2]
    assert healthy.pk not in found


def test_no_such_incident_is_404(project: Project, lead: Client) -> None:
    a_failing_run(a_project(), "elsewhere")

    for number in (1, 99, 2**40):
        address = f"/p/{project.slug}/incidents/{number}/"
        assert lead.get(address).status_code == 404
