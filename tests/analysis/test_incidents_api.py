from __future__ import annotations

import pytest
from django.test import Client

from analysis.models import Incident
from analysis.services.incident_merging import incidents_merge
from tests.factories import a_key, a_project
from tests.incident_runs import a_failing_run
from transcripts.choices import KeyScope
from transcripts.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project()


@pytest.fixture
def reading(project: Project) -> Client:
    return Client(headers={"Authorization": f"Bearer {a_key(project, KeyScope.READ)[1]}"})


def names(client: Client, **query: object) -> list[str]:
    answer = client.get("/api/v1/incidents", query)
    assert answer.status_code == 200, answer.content
    return [each["name"] for each in answer.json()["incidents"]]


def test_the_list_and_its_filters(project: Project, reading: Client) -> None:
    a_failing_run(project, "one")
    a_failing_run(project, "two", tool="other", agent="billing")
    a_failing_run(a_project(), "elsewhere")
    Incident.objects.filter(project=project, number=1).update(state="resolved")

    assert names(reading) == ["INC-2", "INC-1"]
    assert names(reading, open="true") == ["INC-2"]
    assert names(reading, state="resolved") == ["INC-1"]
    assert names(reading, agent="billing") == ["INC-2"]
    assert names(reading, tool="get_right") == ["INC-1"]
    assert names(reading, q="INC-1") == ["INC-1"]


def test_pages(project: Project, reading: Client) -> None:
    for name in ("one", "two", "three"):
        a_failing_run(project, name, tool=name)
    seen: list[str] = []
    cursor = ""

    while cursor is not None:
        page = reading.get("/api/v1/incidents", {"limit": 2, "cursor": cursor}).json()
        seen += [each["name"] for each in page["incidents"]]
        cursor = page["next"]

    assert seen == ["INC-3", "INC-2", "INC-1"]


@pytest.mark.parametrize(
    ("query", "at"),
    [({"cursor": "x"}, "cursor"), ({"q": "\0"}, "q"), ({"state": "fine"}, "state"),
     ({"limit": 0}, "limit")],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(
    reading: Client, query: dict[str, str], at: str
) -> None:
    answer = reading.get("/api/v1/incidents", query)

    assert answer.status_code == 422
    assert answer.json()["at"] == at


def test_one_incident(project: Project, reading: Client) -> None:
    a_failing_run(project, "one", ticket_id="IT-1", prompt_version="v1")

    told = reading.get("/api/v1/incidents/INC-1").json()

    assert told["title"] == "get_right failed: “permission denied for user …”"
    assert (told["state"], told["priority"], told["owner"]) == ("new", "medium", None)
    assert (told["runs"], told["tickets"]) == (["one"], ["IT-1"])
    assert told["fingerprints"] == [
        {
            "detector": "failed_result",
            "tool": "get_right",
            "error": "permission denied for user …",
            "agent": "helpdesk",
        }
    ]
    assert [each["version"] for each in told["versions"]["prompt_version"]] == ["v1"]


def test_a_merged_one_is_the_one_that_took_it_over(project: Project, reading: Client) -> None:
    a_failing_run(project, "one")
    a_failing_run(project, "two", tool="other")
    first, second = Incident.objects.order_by("number")
    incidents_merge(project=project, into=first, pks=[second.pk], user=None)

    assert reading.get("/api/v1/incidents/2").json()["number"] == 1


@pytest.mark.parametrize("number", ["1", "x", "-1", "99999999999999999999", "INC-", "1%00"])
def test_no_such_incident(project: Project, reading: Client, number: str) -> None:
    a_failing_run(a_project(), "elsewhere")

    assert reading.get(f"/api/v1/incidents/{number}").status_code == 404
