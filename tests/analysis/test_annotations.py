"""What people say about runs: kept masked, at a round that does not move, and taken back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from analysis.detectors import all_detectors
from analysis.models import Annotation, AnnotationKind, Incident
from analysis.root_causes import ROOT_CAUSE, SUGGESTED
from analysis.selectors.annotations import incident_annotations, run_annotations
from analysis.templatetags.annotations import as_note
from tests.builders import a_run, call
from tests.factories import a_member, a_project, a_user
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.choices import AccessAction, Role
from transcripts.importers import read_runs
from transcripts.models import AccessEntry, Change, Project, Round, Run
from transcripts.services import run_store

pytestmark = pytest.mark.django_db
TOKEN = "ghp_" + "a8Zk3Qw9Lm2Xc7Vb5Nf1Rt6Yp4Hs0Jd2Ge8K"


def annotate(client: Client, run: Run, **form: Any) -> Any:
    address = reverse("analysis:run_annotate", args=[run.project.slug, run.pk])
    return client.post(address, form, follow=True)


@pytest.fixture
def run() -> Run:
    return the_vpn_run(a_project("helpdesk"))


@pytest.fixture
def engineer(client: Client, run: Run) -> Client:
    client.force_login(a_member(run.project, Role.ENGINEER, user=a_user(name="Erin Eng")))
    return client


def test_every_suggestion_names_a_detector_and_a_root_cause() -> None:
    assert SUGGESTED.keys() <= {each.name for each in all_detectors()}
    assert set(SUGGESTED.values()) <= ROOT_CAUSE.keys()


def test_a_root_cause_stands_on_the_page_of_its_run(engineer: Client, run: Run) -> None:
    page = annotate(
        engineer,
        run,
        kind="root_cause",
        cause="hidden_tool_error",
        text="The wrapper drops the **permission note**.",
        fix_link="https://git.example/fix/7",
    ).content.decode()

    assert "Hidden tool error" in page
    assert "The wrapper drops the <strong>permission note</strong>." in page
    assert 'href="https://git.example/fix/7"' in page
    assert "Undo" in page
    kept = run_annotations(run=run).root_cause
    assert kept is not None
    assert kept.name == "hidden_tool_error"
    line = AccessEntry.objects.get(action=AccessAction.ANNOTATE)
    assert line.detail["cause"] == "hidden_tool_error"
    assert "wrapper" not in json.dumps(line.detail)


def test_the_form_offers_what_the_detector_is_most_often_a_sign_of(
    engineer: Client, run: Run
) -> None:
    address = reverse("analysis:run_annotate", args=["helpdesk", run.pk])

    page = engineer.get(address, {"at": "9"}).content.decode()

    assert page.index("Hidden tool error") < page.index("Tool permission or outage")
    assert "likely" in page
    assert "round 9" in page


def test_secrets_are_masked_before_they_are_saved(engineer: Client, run: Run) -> None:
    page = annotate(
        engineer, run, kind="note", text=f"It used {TOKEN}, see there."
    ).content.decode()

    assert TOKEN not in page
    assert 'class="secret ' in page
    assert TOKEN not in str(Annotation.objects.get().text)


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"kind": "note", "text": "  "}, "Write something."),
        ({"kind": "root_cause", "cause": "bad luck"}, "Choose a root cause."),
        ({"kind": "root_cause", "cause": ""}, "Choose a root cause."),
        (
            {"kind": "root_cause", "cause": "bad_input", "fix_link": "javascript:alert(1)"},
            "A link starts with https://",
        ),
        ({"kind": "note", "text": "x", "about": "999"}, "Round 999 is not in this run."),
    ],
    ids=["nothing", "another cause", "no cause", "a link that runs", "a round that is not there"],
)
def test_what_cannot_be_kept_is_said(
    engineer: Client, run: Run, form: dict[str, str], error: str
) -> None:
    answer = annotate(engineer, run, **form)

    assert answer.status_code == 422
    assert error in answer.content.decode()
    assert not Annotation.objects.exists()


def test_a_lead_comments_and_names_no_root_cause(client: Client, run: Run) -> None:
    client.force_login(a_member(run.project, Role.LEAD))

    said = annotate(client, run, kind="note", text="Whose is it?", about="3")
    refused = annotate(client, run, kind="root_cause", cause="bad_input")

    assert said.redirect_chain[0][0].endswith("?at=3#r3")
    assert refused.status_code == 403
    form = client.get(reverse("analysis:run_annotate", args=["helpdesk", run.pk]))
    assert "Root cause" not in form.content.decode().split("<form id")[1]


def test_what_is_said_of_a_round_follows_it_when_late_rounds_shift_the_numbers(
    client: Client,
) -> None:
    project = a_project()
    run = renumbered(project, ["b", "c"])
    client.force_login(a_member(project, Role.LEAD))
    annotate(client, run, kind="note", text="This one.", about="2")

    renumbered(project, ["a", "b", "c"])

    said = run_annotations(run=run)
    assert [row.text for row in said.by_round[3]] == ["This one."]
    assert list(said.by_round) == [3]
    assert Round.objects.get(run=run, number=3).key == "c"


def test_what_is_said_of_a_round_that_is_gone_is_kept_and_says_so(client: Client) -> None:
    project = a_project()
    run = renumbered(project, ["b", "c"])
    client.force_login(a_member(project, Role.LEAD))
    annotate(client, run, kind="note", text="This one.", about="2")

    renumbered(project, ["b", "d"])

    said = run_annotations(run=run)
    assert [row.text for row in said.lost] == ["This one."]
    page = client.get(reverse("analysis:annotation_list", args=[project.slug, run.pk]))
    assert "a round that is no longer there" in page.content.decode()


def renumbered(project: Project, keys: list[str]) -> Run:
    rounds = [
        {"round": number, "key": key, "stop": "finished", "reply": f"I am {key}."}
        for number, key in enumerate(keys, 1)
    ]
    (record,) = read_runs(json.dumps({"run_id": "shifting", "rounds": rounds}).encode())
    with transaction.atomic():
        return run_store(project=project, fragment=record, live=False, assembled=True).run  # type: ignore[arg-type]


def test_the_word_on_the_first_odd_round_replaces_the_one_before(
    engineer: Client, run: Run
) -> None:
    annotate(engineer, run, kind="odd_round", about="2")
    annotate(engineer, run, kind="odd_round", about="3")

    (kept,) = Annotation.objects.filter(removed_at=None)
    assert (kept.kind, kept.round, kept.said_round) == (AnnotationKind.ODD_ROUND, 3, 3)
    assert kept.said_suite == run.verdict.suite
    page = annotate(engineer, run, kind="odd_round", about="").content.decode()
    assert "Nothing was odd" in page


def test_editing_keeps_what_was_said_before_and_is_for_its_author(
    client: Client, engineer: Client, run: Run
) -> None:
    annotate(engineer, run, kind="root_cause", cause="bad_input", text="First thought.")
    annotation = Annotation.objects.get()
    address = reverse("analysis:annotation_change", args=["helpdesk", annotation.pk])

    page = engineer.post(
        address, {"cause": "tool_outage", "text": "Second thought."}, follow=True
    ).content.decode()
    other = Client()
    other.force_login(a_member(run.project, Role.ADMIN))

    assert "Second thought." in page
    assert "First thought." in page
    assert other.post(address, {"cause": "bad_input", "text": "x"}).status_code == 403
    undo(engineer)
    annotation.refresh_from_db()
    assert (annotation.text, annotation.cause) == ("First thought.", "bad_input")


def test_removing_and_bringing_back(engineer: Client, run: Run) -> None:
    annotate(engineer, run, kind="note", text="A word.")
    gone = reverse("analysis:annotation_gone", args=["helpdesk", Annotation.objects.get().pk])

    assert "A word." not in engineer.post(gone, follow=True).content.decode()
    undo(engineer)

    assert run_annotations(run=run).rows[0].text == "A word."
    assert AccessEntry.objects.filter(action=AccessAction.UNDO).count() == 1


def undo(client: Client) -> None:
    change = Change.objects.latest("pk")
    client.post(reverse("transcripts:change_back", args=["helpdesk", change.pk]))


def test_who_is_mentioned_finds_it(client: Client, engineer: Client, run: Run) -> None:
    anna = a_member(run.project, Role.LEAD, user=a_user("anna@desk.example", name="Anna B"))
    a_member(run.project, Role.LEAD, user=a_user("max@desk.example", name="Max"))
    a_member(run.project, Role.LEAD, user=a_user("max@other.example", name="Other Max"))

    annotate(engineer, run, kind="note", text="@anna and @max, look. mail@anna.example is no one.")

    assert list(Annotation.objects.get().mentions.all()) == [anna]
    other = Client()
    other.force_login(anna)
    page = other.get(reverse("analysis:mention_list", args=["helpdesk"])).content.decode()
    assert "look." in page


def test_an_observer_sees_none_of_it(engineer: Client, run: Run) -> None:
    annotate(engineer, run, kind="note", text="Zanzibar is the cause.", about="3")
    observer = Client()
    observer.force_login(a_member(run.project, Role.OBSERVER))

    page = observer.get(reverse("analysis:run_detail", args=["helpdesk", run.pk]))

    assert page.status_code == 200
    assert "Zanzibar" not in page.content.decode()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("![x](https://evil.example/pixel.png)", "<a href="),
        ("a\u202eb", "U+202E"),
        ("# Big", "<h5>Big</h5>"),
        ("|a|\n|-:|\n|1|", "<td>1</td>"),
    ],
    ids=["html", "a link that runs", "an image", "a hidden character", "a heading", "a table"],
)
def test_markdown_is_harmless(text: str, html: str) -> None:
    made = as_note(text)

    assert html in made
    assert "<script" not in made
    assert "<img" not in made
    assert "style=" not in made
    assert 'href="javascript' not in made


def test_what_a_tool_really_answers_is_kept_at_the_round(engineer: Client, run: Run) -> None:
    address = reverse("analysis:call_test", args=["helpdesk", run.pk, 3])

    page = engineer.get(address).content.decode()
    kept = engineer.post(address, {"answer": f"denied for ```{TOKEN}"}, follow=True)

    assert "from your_tools import reset_vpn_profile" in page
    assert "answer = reset_vpn_profile(employee_id=4417)" in page
    assert "Nothing came back" in page
    said = Annotation.objects.get()
    assert (said.kind, said.round) == (AnnotationKind.TRIED, 3)
    assert TOKEN not in str(said.text)
    assert "denied for ```[SECRET:" in str(said.text)
    assert "tried the call by hand" in kept.content.decode()


def test_any_call_of_a_crowded_round_is_tested(engineer: Client, run: Run) -> None:
    calls = [call(f"tool_{number}", {"n": number}, "x") for number in range(120)]
    crowded = a_shown_run(a_run(calls, "Done.", run_id="crowded"), run.project)
    address = reverse("analysis:call_test", args=["helpdesk", crowded.pk, 1])

    page = engineer.get(address, {"call": 119}).content.decode()

    assert "answer = tool_119(n=119)" in page
    assert "99 more calls of the round" in page
    assert engineer.get(address, {"call": 120}).status_code == 404
    every = engineer.get(reverse("transcripts:round_calls", args=["helpdesk", crowded.pk, 1]))
    assert f"{address}?call=49" in every.content.decode()


def test_a_round_without_a_call_says_so(engineer: Client, run: Run) -> None:
    last = the_vpn_run(run.project)
    Round.objects.filter(run=last, number=1).update(call_count=0)
    last.calls.filter(round_number=1).delete()

    page = engineer.get(reverse("analysis:call_test", args=["helpdesk", last.pk, 1]))

    assert "asked for no tool" in page.content.decode()


def test_the_root_cause_of_an_incident_stands_on_its_page_and_in_its_timeline(
    engineer: Client, run: Run
) -> None:
    incident = Incident.objects.filter(project=run.project).earliest("number")
    address = reverse("analysis:incident_annotate", args=["helpdesk", incident.number])

    form = engineer.get(address).content.decode()
    page = engineer.post(
        address,
        {"kind": "root_cause", "cause": "hidden_tool_error", "text": "No note."},
        follow=True,
    ).content.decode()
    refused = engineer.post(address, {"kind": "odd_round", "about": "3"})

    assert form.index("Hidden tool error") < form.index("Tool permission or outage")
    assert "round 3" not in form
    assert "Hidden tool error" in page
    assert "named the root cause." in page
    assert refused.status_code == 403


def test_what_was_said_of_an_incident_goes_along_when_it_is_merged(
    engineer: Client, run: Run
) -> None:
    first = Incident.objects.filter(project=run.project).earliest("number")
    other = Incident.objects.create(
        project=run.project,
        number=99,
        title=first.title,
        first_seen_at=first.first_seen_at,
        last_seen_at=first.last_seen_at,
        merged_into=first,
    )
    Annotation.objects.create(
        project=run.project, incident=other, kind=AnnotationKind.NOTE, text=first.title
    )

    assert len(incident_annotations(incident=first)) == 1
