"""The page that makes a case of a run."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import IncidentRun, TestCase
from analysis.selectors.cases import case_document
from tests.analysis.case_pages.forms import form_values
from tests.analysis.case_pages.made import a_test_case, the_vpn_story_run
from tests.analysis.cases import vpn
from tests.builders import a_round, a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_hostile_run, a_shown_run
from transcripts.choices import Role
from transcripts.models import AccessEntry, Run, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return the_vpn_story_run(a_project("helpdesk"))


@pytest.fixture
def engineer(run: Run, client: Client) -> User:
    person = a_member(run.project, Role.ENGINEER)
    client.force_login(person)
    return person


def address(run: Run) -> str:
    return reverse("analysis:case_make", args=[run.project.slug, run.pk])


def shown(client: Client, run: Run) -> dict[str, Any]:
    answer = client.get(address(run))
    assert answer.status_code == 200
    return form_values(answer.content.decode())


def named(values: dict[str, list[str]], kind: str) -> str:
    """The prefix of the first row of a kind."""
    return next(n for n, v in values.items() if n.endswith("-kind") and v == [kind]).removesuffix(
        "-kind"
    )


def test_the_run_page_leads_here(run: Run, engineer: User, client: Client) -> None:
    page = client.get(reverse("analysis:run_detail", args=["helpdesk", run.pk]))

    assert f'href="{address(run)}"' in page.content.decode()


def test_saved_as_it_comes_it_expects_what_the_findings_ask_for(
    run: Run, engineer: User, client: Client
) -> None:
    values = shown(client, run)

    answer = client.post(address(run), {**values, "do": "save"}, follow=True)

    case = TestCase.objects.get()
    assert answer.redirect_chain == [(reverse("analysis:case_detail", args=["helpdesk", 1]), 302)]
    assert "CASE-1 is made" in answer.content.decode()
    assert (case.run, case.author, case.title) == (run, engineer, run.title)
    document = case_document(case)
    assert [entry["kind"] for entry in document["expect"]] == [
        "ending", "max_rounds", "no_identical_call", "no_empty_result", "ticket_in_every_input",
        "detectors_silent",
    ]  # fmt: skip
    assert document["expect"][0]["because"] == "the recorded run did not end by itself: stopped"
    assert "mocks" not in document


def test_rows_are_switched_on_and_off_and_changed(run: Run, engineer: User, client: Client) -> None:
    values = shown(client, run)
    silent, rounds = named(values, "detectors_silent"), named(values, "max_rounds")
    del values[f"{silent}-on"]
    values[f"{rounds}-rounds"] = ["7"]
    values["head-title"] = ["VPN <b>drops</b>"]

    client.post(address(run), {**values, "do": "save"})

    document = case_document(TestCase.objects.get())
    kinds = {entry["kind"]: entry for entry in document["expect"]}
    assert "detectors_silent" not in kinds
    assert kinds["max_rounds"]["rounds"] == 7
    assert document["title"] == "VPN <b>drops</b>"


def test_the_tool_of_an_empty_result_is_offered_a_mock(
    run: Run, engineer: User, client: Client
) -> None:
    values = shown(client, run)
    assert values["m0-tool"] == ["reset_vpn_profile"]
    assert "Round 3" in values["m0-note"][0]
    assert "m0-on" not in values
    changes = {"m0-on": "on", "m0-text": vpn.NO_PERMISSION, "m0-raises": "PermissionError"}

    client.post(address(run), {**values, **changes, "do": "save"})

    (mock,) = case_document(TestCase.objects.get())["mocks"]
    assert {name: mock[name] for name in ("tool", "answer", "text", "raises")} == {
        "tool": "reset_vpn_profile",
        "answer": "error",
        "text": vpn.NO_PERMISSION,
        "raises": "PermissionError",
    }


def test_a_branch_is_written_on_the_page(run: Run, engineer: User, client: Client) -> None:
    """Without JavaScript: each button sends the form, and the page comes back with a row more."""
    values = shown(client, run)
    for do in ("add-mock", "add-branch", "add-reply-0"):
        answer = client.post(address(run), {**values, "do": do})
        assert answer.status_code == 200
        values = form_values(answer.content.decode())
    assert (values["mocks"], values["branches"], values["b0-replies"]) == (["2"], ["1"], ["2"])
    values |= {
        "m1-tool": ["escalate_to_it_team"],
        "m1-answer": ["result"],
        "m1-text": ["handed to the IT team as IT-88"],
        "b0-result_of": ["reset_vpn_profile"],
        "b0-contains": ["no permission"],
        "b0r0-text": ["I hand it over."],
        "b0r0-calls": ['escalate_to_it_team {"ticket": "HD-5127"}\n\nnotify_user'],
        "b0r1-text": ["The IT team has your ticket."],
        "b0r1-stop": ["finished"],
    }

    client.post(address(run), {**values, "do": "save"})

    document = case_document(TestCase.objects.get())
    assert document["branches"] == [
        {
            "when": {"result_of": "reset_vpn_profile", "contains": "no permission"},
            "replies": [
                {
                    "text": "I hand it over.",
                    "calls": [
                        {"name": "escalate_to_it_team", "args": {"ticket": "HD-5127"}},
                        {"name": "notify_user"},
                    ],
                },
                {"text": "The IT team has your ticket.", "stop": "finished"},
            ],
        }
    ]
    assert [mock["tool"] for mock in document["mocks"]] == ["escalate_to_it_team"]


@pytest.mark.parametrize(
    ("changes", "where", "what"),
    [
        pytest.param({"e1-rounds": "x"}, "What must hold 2, Rounds", "whole number", id="number"),
        pytest.param({"m0-on": "on"}, "Tool mock 1, Text", "Say what the tool answers", id="mock"),
        pytest.param({"b0-on": "on", "branches": "1", "b0-replies": "1"}, "Branch 1",
                     "at least one condition", id="no condition"),
        pytest.param(
            {"b0-on": "on", "branches": "1", "b0-replies": "1", "b0-contains": "x"},
            "Branch 1", "Say what the model replies", id="no reply",
        ),
        pytest.param(
            {"b0-on": "on", "branches": "1", "b0-replies": "1", "b0-contains": "x",
             "b0r0-calls": "look {id: 7}"},
            "Branch 1, reply 1, and calls, one a line", "Line 1: the arguments are not JSON",
            id="arguments",
        ),
        pytest.param({"head-incident": "INC-9"}, "Incident", "no such incident", id="incident"),
        pytest.param({"head-percent": "0"}, "Runs that must pass", "greater than", id="percent"),
        pytest.param({"expectations": "0"}, "What must hold", "cannot fail", id="nothing"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_with_its_place(
    run: Run, engineer: User, client: Client, changes: dict[str, str], where: str, what: str
) -> None:
    values = shown(client, run)

    answer = client.post(address(run), {**values, **changes, "do": "save"})

    text = answer.content.decode()
    assert answer.status_code == 422
    assert f">{where}" in text
    assert what in text
    assert not TestCase.objects.exists()


def test_a_preview_saves_nothing_and_shows_the_file(
    run: Run, engineer: User, client: Client
) -> None:
    values = shown(client, run)

    answer = client.post(address(run), {**values, "do": "preview"}, headers={"HX-Request": "true"})

    text = answer.content.decode()
    assert text.lstrip().startswith('<form method="post" id="case-form"')
    assert "&quot;kind&quot;: &quot;max_rounds&quot;" in text
    assert not TestCase.objects.exists()


def test_a_run_with_holes_is_told_with_its_rounds(engineer: User, run: Run, client: Client) -> None:
    record = a_run(a_round(call("look", {}, None)), [call()], "Done.", run_id="holes")
    holes = a_shown_run(record, run.project)

    page = client.get(address(holes)).content.decode()
    saved = client.post(address(holes), {"do": "save"})

    assert "too incomplete" in page
    assert "round 1, call 1 (look) has no result" in page
    assert '<form method="post" id="case-form"' not in page
    assert saved.status_code == 200
    assert not TestCase.objects.exists()


def test_the_incident_that_the_run_is_about_is_named(
    run: Run, engineer: User, client: Client
) -> None:
    main = IncidentRun.objects.filter(run=run, main=True).select_related("incident").first()
    assert main is not None
    values = shown(client, run)
    assert values["head-incident"] == [main.incident.name]

    client.post(address(run), {**values, "do": "save"})

    case = TestCase.objects.get()
    assert case.incident == main.incident
    assert case_document(case)["incident"] == main.incident.name


def test_making_leaves_lines_and_can_be_undone(run: Run, engineer: User, client: Client) -> None:
    values = shown(client, run)
    client.post(address(run), {**values, "do": "save"})
    lines = AccessEntry.objects.filter(action="case")
    assert [(line.who, line.run_pk, line.detail) for line in lines] == [
        (engineer.email, run.pk, {"case": "CASE-1", "did": "made"})
    ]
    from transcripts.models import Change

    undo = reverse("transcripts:change_back", args=["helpdesk", Change.objects.get().pk])
    answer = client.post(undo, follow=True)

    assert "not made after all" in answer.content.decode()
    assert TestCase.objects.get().deleted_at is not None


def test_hostile_text_stays_text(engineer: User, run: Run, client: Client) -> None:
    hostile = a_hostile_run(run.project)

    page = client.get(address(hostile)).content.decode()

    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_a_second_case_of_a_run_is_no_surprise(run: Run, engineer: User, client: Client) -> None:
    a_test_case(run)

    page = client.get(address(run)).content.decode()

    assert "already" in page
    assert reverse("analysis:case_detail", args=["helpdesk", 1]) in page
