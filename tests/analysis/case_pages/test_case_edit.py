"""The page that changes a case, and its history."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import TestCase
from analysis.selectors.cases import case_document, definition_of
from analysis.services.cases import case_take_in
from tests.analysis.case_pages.forms import form_values
from tests.analysis.case_pages.made import VPN, a_test_case, the_vpn_story_run
from tests.analysis.cases import vpn
from tests.factories import a_member, a_project
from transcripts.choices import Role
from transcripts.models import Change

pytestmark = pytest.mark.django_db

EVERYTHING = {
    "title": "All kinds",
    "notes": "Two\nlines",
    "expect": [
        {"id": "a", "kind": "ending", "in": ["finished", "cut_off"], "because": "it did"},
        {"id": "b", "kind": "max_rounds", "rounds": 9},
        {"id": "c", "kind": "max_cost", "cost": 1.5},
        {"id": "d", "kind": "max_seconds", "seconds": 30},
        {"id": "e", "kind": "no_identical_call", "times": 4, "except": ["poll", "wait"]},
        {"id": "f", "kind": "no_empty_result"},
        {"id": "g", "kind": "must_call", "tool": "look", "args": {"id": 7, "deep": [None, "ä"]}},
        {"id": "h", "kind": "must_not_call", "tool": "drop"},
        {"id": "i", "kind": "no_retry_after_failure", "tool": "look", "any_args": True},
        {"id": "j", "kind": "final_reply", "contains": "done", "matches": "^D"},
        {"id": "k", "kind": "ticket_in_every_input", "text": "HD-5127"},
        {"id": "l", "kind": "detectors_silent", "detectors": ["repeated_call"]},
    ],
    "branches": [
        {
            "when": {"round": 3, "result_of": "look", "matches": "no", "empty": False},
            "replies": [
                {"text": "x", "calls": [{"name": "look", "args": {"a": 1}}], "cost": 0.2},
                {"calls": [{"name": "raw", "args": "not json"}], "stop": "unknown"},
            ],
            "then": "resume",
            "note": "why",
        }
    ],
    "mocks": [
        {"tool": "look", "answer": "timeout", "seconds": 2, "calls": [1, 3]},
        {"tool": "look", "answer": "error", "text": "no", "as": "result", "args": {"a": 1}},
        {"tool": "slow", "answer": "slow", "seconds": 0.5},
        {"tool": "odd", "answer": "schema_error"},
        {"tool": "none", "answer": "empty", "note": "nothing"},
    ],
    "script": {"replies": "by_match", "otherwise": "stop", "unrecorded": "stop"},
    "limits": {"rounds": 99, "seconds": 12.5, "pass_rate": 0.9},
}


@pytest.fixture
def engineer(client: Client) -> Client:
    client.force_login(a_member(a_project("helpdesk"), Role.ENGINEER))
    return client


def a_case(**definition: object) -> TestCase:
    from transcripts.models import Project

    run = the_vpn_story_run(Project.objects.get(slug="helpdesk"))
    return a_test_case(run, **definition)


def to(name: str, *args: object) -> str:
    return reverse(f"analysis:{name}", args=["helpdesk", 1, *args])


def case_again(case: TestCase) -> TestCase:
    return TestCase.objects.get(pk=case.pk)


def form(client: Client) -> dict[str, list[str]]:
    answer = client.get(to("case_edit"))
    assert answer.status_code == 200
    return form_values(answer.content.decode())


@pytest.mark.parametrize("definition", [VPN, EVERYTHING], ids=["the story", "everything"])
def test_saved_untouched_it_says_the_same(engineer: Client, definition: dict[str, object]) -> None:
    """Every kind of entry comes back from the page as it went in."""
    case = a_case(**definition)

    answer = engineer.post(to("case_edit"), {**form(engineer), "do": "save"}, follow=True)

    assert "says the same as before" in answer.content.decode()
    case.refresh_from_db()
    assert case.revision == 1


def test_what_else_may_be_expected_is_offered_and_off(engineer: Client) -> None:
    a_case(expect=[{"id": "ending", "kind": "ending", "in": ["finished"]}])

    values = form(engineer)

    on = [name for name in values if name.startswith("e") and name.endswith("-on")]
    assert on == ["e0-on"]
    kinds = [values[name][0] for name in values if name.endswith("-kind")]
    assert {"max_rounds", "no_empty_result", "detectors_silent"} < set(kinds)


def test_a_change_is_previewed_as_a_difference(engineer: Client) -> None:
    case = a_case()
    values = {**form(engineer), "head-title": ["Other"], "do": ["preview"]}

    page = engineer.post(to("case_edit"), values).content.decode()

    assert "<del>-   &quot;title&quot;: &quot;VPN drops&quot;,</del>" in page
    assert "<ins>+   &quot;title&quot;: &quot;Other&quot;,</ins>" in page
    case.refresh_from_db()
    assert case.revision == 1


def test_a_change_can_be_undone_once(engineer: Client) -> None:
    case = a_case()
    engineer.post(to("case_edit"), {**form(engineer), "head-title": ["Other"], "do": ["save"]})
    undo = reverse("transcripts:change_back", args=["helpdesk", Change.objects.get().pk])

    answer = engineer.post(undo, follow=True)

    assert "CASE-1 is as it was before." in answer.content.decode()
    case.refresh_from_db()
    assert (case.revision, case.title) == (3, "VPN drops")


def test_an_undo_gives_way_to_a_later_change(engineer: Client) -> None:
    case = a_case()
    for title in ("Other", "Third"):
        values = {**form(engineer), "head-title": [title], "do": ["save"]}
        engineer.post(to("case_edit"), values)
    first = Change.objects.order_by("pk").first()
    assert first is not None

    answer = engineer.post(
        reverse("transcripts:change_back", args=["helpdesk", first.pk]), follow=True
    )

    assert "changed again since" in answer.content.decode()
    case.refresh_from_db()
    assert case.title == "Third"


def test_the_history_has_every_state_and_goes_back(engineer: Client) -> None:
    case = a_case()
    engineer.post(to("case_edit"), {**form(engineer), "head-title": ["Other"], "do": ["save"]})

    page = engineer.get(to("case_history")).content.decode()
    engineer.post(to("case_return", 1))

    assert "Revision 2" in page
    assert "&quot;title&quot;: &quot;Other&quot;" in page
    case.refresh_from_db()
    assert (case.revision, definition_of(case)) == (3, definition_of(case, 1))
    change = Change.objects.latest("pk")
    engineer.post(reverse("transcripts:change_back", args=["helpdesk", change.pk]))
    assert (case_again(case).revision, case_again(case).title) == (4, "Other")
    missing = engineer.post(to("case_return", 77), follow=True)
    assert "no revision 77" in missing.content.decode()


def test_a_recording_that_no_importer_reads_can_be_edited(engineer: Client) -> None:
    """A file from elsewhere keeps to the case's schema, which asks less of a run."""
    from transcripts.models import Project

    document = {**vpn.vpn_case(), "run": {"rounds": [{"round": 1, "calls": [{"name": "x"}]}]}}
    document["run"]["messages"] = [{"key": 7}]
    import json

    case, _ = case_take_in(
        project=Project.objects.get(slug="helpdesk"), content=json.dumps(document).encode()
    )

    values = form(engineer)
    engineer.post(to("case_edit"), {**values, "head-title": ["Mine"], "do": ["save"]})

    case.refresh_from_db()
    assert case_document(case)["title"] == "Mine"
