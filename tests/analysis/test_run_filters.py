"""The run list's filters find the same by page and by API."""

from __future__ import annotations

import pytest
from django.core.cache import caches
from django.test import Client
from django.urls import reverse

from analysis.lists import options
from analysis.lists.options import options_offered
from analysis.models import Verdict
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


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"cost_from": "0"}, {"cheap", "dear"}),
        ({"cost_from": "0.5"}, {"dear"}),
        ({"cost_to": "0.5"}, {"cheap"}),
        ({"cost_to": "-0.5"}, set()),
        ({"cost_from": "0.01", "cost_to": "2,5"}, {"cheap", "dear"}),
    ],
)
def test_a_run_of_unknown_cost_is_neither_cheap_nor_dear(
    query: dict[str, str], found: set[str]
) -> None:
    project = a_project("costs")
    for name, cost in {"unknown": None, "cheap": "0.02", "dear": "2.5"}.items():
        run = a_shown_run(a_run("Done.", run_id=name), project)
        Verdict.objects.filter(run=run).update(cost=cost)
    assert by_page(project, query) == found


def test_what_filters_offer_is_kept_where_runs_are_many(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a project with few runs an agent is offered with its first run."""
    caches["memory"].clear()
    assert set(options_offered(project=project).counts["agent"]) == {"helpdesk", "billing"}
    a_shown_run(a_run("Done.", run_id="run-c", agent="network"), project)
    assert set(options_offered(project=project).counts["agent"]) == {
        "helpdesk", "billing", "network",
    }  # fmt: skip
    monkeypatch.setattr(options, "OPTIONS_FROM_LATEST", 3)
    first = options_offered(project=project)
    a_shown_run(a_run("Done.", run_id="run-d", agent="printers"), project)
    assert options_offered(project=project) == first
    caches["memory"].clear()
    assert "printers" in options_offered(project=project).counts["agent"]
