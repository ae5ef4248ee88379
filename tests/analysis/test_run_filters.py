"""The run list's filters find the same by page and by API."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import a_run, call
from tests.factories import a_key, a_member, a_project
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.choices import KeyScope, Role
from transcripts.models import Project, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = a_project("helpdesk")
    the_vpn_run(project)
    a_shown_run(
        a_run(
            [call()],
            "Done.",
            run_id="run-b",
            ticket_id="IT-2",
            agent="billing",
            model="small-1",
            prompt_version="v2",
            labels={"team": "finance"},
        ),
        project,
    )
    return project


def by_page(project: Project, query: dict[str, str]) -> set[str]:
    client = Client()
    client.force_login(a_member(project, Role.LEAD))
    page = client.get(reverse("analysis:run_list", args=[project.slug]), {"tab": "all"} | query)
    return {run.run_id for run in page.context["page"].runs}


def by_key(project: Project, query: dict[str, str]) -> set[str]:
    _, key = a_key(project, KeyScope.READ)
    answer = Client().get("/api/v1/runs", query, headers={"Authorization": f"Bearer {key}"})
    return {run["run_id"] for run in answer.json()["runs"]}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"agent": "billing"}, "run-b"),
        ({"ending": "stopped"}, "vpn-20931"),
        ({"finding": "ticket_lost"}, "vpn-20931"),
        ({"tool": "reset_vpn_profile"}, "vpn-20931"),
        ({"model": "small-1"}, "run-b"),
        ({"prompt": "v2"}, "run-b"),
        ({"ticket": "IT-2"}, "run-b"),
        ({"label": "team=finance"}, "run-b"),
        ({"q": "run-b"}, "run-b"),
        ({"q": "vpn drops"}, "vpn-20931"),
    ],
)
def test_page_and_api_find_the_same(project: Project, query: dict[str, str], found: str) -> None:
    named = {"prompt_version" if name == "prompt" else name: v for name, v in query.items()}

    assert by_page(project, query) == by_key(project, named) == {found}


@pytest.mark.parametrize(("flagged", "found"), [("true", "vpn-20931"), ("false", "run-b")])
def test_the_api_lists_flagged_or_the_others(project: Project, flagged: str, found: str) -> None:
    assert by_key(project, {"flagged": flagged}) == {found}


def test_no_key_finds_a_restricted_run_by_its_title(project: Project) -> None:
    Run.objects.update(restricted=True)

    assert by_key(project, {"q": "vpn drops"}) == set()
    assert by_key(project, {"q": "vpn-2093"}) == {"vpn-20931"}


def test_a_label_without_a_value_matches_nothing_on_the_page(project: Project) -> None:
    assert by_page(project, {"label": "team"}) == set()
