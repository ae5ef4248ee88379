"""The pages of retention, legal hold and erasure."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.agentdesk.test_keeping import a_told_run, an_incident
from tests.factories import a_member, a_project
from transcripts.choices import AccessAction, Removal, Role
from transcripts.maskers import typed_masker
from transcripts.models import AccessEntry, ErasedRun, Project, RetentionRule, Run, RunHold

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def admin(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.ADMIN))
    return client


RETENTION = "/p/helpdesk/settings/retention/"
ERASE = "/p/helpdesk/settings/retention/erase/"


def rows(*said: tuple[str, str, str], action: str = "preview") -> dict[str, str]:
    """The form's fields: label, days of the transcript, days of all of it."""
    form = {"rule-TOTAL_FORMS": str(len(said)), "rule-INITIAL_FORMS": "0", "action": action}
    for number, (label, text, whole) in enumerate(said):
        form[f"rule-{number}-label"] = label
        form[f"rule-{number}-text_days"] = text
        form[f"rule-{number}-metadata_days"] = whole
    return form


def test_it_shows_what_days_would_remove_and_saves_nothing(admin: Client, project: Project) -> None:
    for days in (40, 400):
        a_told_run(project, f"run-{days}", days_old=days)
    held = a_told_run(project, "run-41", days_old=41)
    an_incident(held, held=True)

    page = admin.post(RETENTION, rows(("", "30", "365")))

    assert "All of 1 run</b>" in page.text
    assert "The transcripts of 2 runs</b>" in page.text
    assert "1 more is kept by a legal hold" in page.text
    assert "all runs: transcript 30 days, all of it 365 days" in page.text
    assert 'value="save"' in page.text
    assert not RetentionRule.objects.exists()
    assert not AccessEntry.objects.exists()


def test_it_saves_days_with_a_line_of_before_and_after(admin: Client, project: Project) -> None:
    admin.post(RETENTION, rows(("", "30", ""), action="save"))
    form = rows(("", "60", ""), ("team=hr", "7", "14"), ("", "", ""), action="save")

    answer = admin.post(RETENTION, form)

    assert answer.status_code == 302
    saved = RetentionRule.objects.order_by("label_name")
    assert [(r.label_name, r.label_value, r.text_days, r.metadata_days) for r in saved] == [
        ("", "", 60, None),
        ("team", "hr", 7, 14),
    ]
    line = AccessEntry.objects.order_by("-pk").first()
    assert line is not None
    assert line.action == AccessAction.SETTINGS
    assert line.detail == {
        "setting": "retention",
        "before": ["all runs: transcript 30 days, all of it for ever"],
        "after": [
            "all runs: transcript 60 days, all of it for ever",
            "label team=hr: transcript 7 days, all of it 14 days",
        ],
    }
    shown = admin.get(RETENTION).text
    assert 'value="team=hr"' in shown
    assert 'value="60"' in shown


def test_saving_the_same_again_leaves_no_line(admin: Client) -> None:
    for _ in range(2):
        admin.post(RETENTION, rows(("", "30", ""), action="save"))

    assert AccessEntry.objects.count() == 1


@pytest.mark.parametrize(
    "row",
    [
        ("", "0", ""),
        ("", "-1", ""),
        ("", "99999999999", ""),
        ("", "many", ""),
        ("team", "5", ""),
        ("=x", "5", ""),
        ("", "20", "10"),
    ],
)
@pytest.mark.parametrize("action", ["preview", "save"])
def test_days_that_cannot_be_are_refused(
    admin: Client, row: tuple[str, str, str], action: str
) -> None:
    answer = admin.post(RETENTION, rows(row, action=action))

    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert not RetentionRule.objects.exists()


def test_a_form_without_its_counts_is_refused(admin: Client) -> None:
    assert admin.post(RETENTION, {"action": "save"}).status_code == 422


def test_a_ticket_s_runs_are_counted_before_they_are_erased(
    admin: Client, project: Project
) -> None:
    runs = [a_told_run(project, f"run-{n}") for n in (1, 2, 3)]
    Run.objects.exclude(pk=runs[2].pk).update(ticket_id=typed_masker(project).text("TCK-9"))
    an_incident(runs[0])

    page = admin.get(ERASE, {"ticket": "TCK-9"})

    assert "12 rounds" in page.text
    assert "10 tool calls" in page.text
    assert "its 2 runs" in page.text
    assert "run-3" not in page.text
    assert Run.objects.count() == 3


def test_a_ticket_is_erased_when_its_id_is_typed(admin: Client, project: Project) -> None:
    runs = [a_told_run(project, f"run-{n}") for n in (1, 2, 3)]
    Run.objects.exclude(pk=runs[2].pk).update(ticket_id=typed_masker(project).text("TCK-9"))

    answer = admin.post(ERASE, {"ticket": "TCK-9", "confirm": " TCK-9 "})

    assert answer.status_code == 302
    assert set(Run.objects.filter(removal=Removal.RUN)) == set(runs[:2])
    assert ErasedRun.objects.count() == 2
    lines = AccessEntry.objects.filter(action=AccessAction.DELETE)
    assert sorted(line.what for line in lines) == ["run-1", "run-2"]
    assert all(line.detail == {"rounds": 6, "calls": 5} for line in lines)


@pytest.mark.parametrize(
    "form",
    [{"ticket": "TCK-run-1", "confirm": "TCK-run"}, {"ticket": "TCK-run-1"}, {}, {"confirm": ""}],
)
def test_nothing_is_erased_without_the_id(
    admin: Client, project: Project, form: dict[str, str]
) -> None:
    a_told_run(project)

    assert admin.post(ERASE, form).status_code == 422
    assert not Run.objects.exclude(removal="").exists()


def test_a_held_run_keeps_its_whole_ticket(admin: Client, project: Project) -> None:
    runs = [a_told_run(project, f"run-{n}") for n in (1, 2)]
    Run.objects.update(ticket_id=typed_masker(project).text("TCK-9"))
    an_incident(runs[0], held=True)

    answer = admin.post(ERASE, {"ticket": "TCK-9", "confirm": "TCK-9"})

    assert answer.status_code == 422
    assert "legal hold" in answer.text
    assert not Run.objects.exclude(removal="").exists()
    assert not ErasedRun.objects.exists()


def test_another_project_s_ticket_is_not_found(admin: Client) -> None:
    a_told_run(a_project())

    assert "No run of this project" in admin.get(ERASE, {"ticket": "TCK-run-1"}).text
    admin.post(ERASE, {"ticket": "TCK-run-1", "confirm": "TCK-run-1"})
    assert not ErasedRun.objects.exists()


def test_a_run_is_held_and_let_go_with_lines_of_before_and_after(
    admin: Client, project: Project
) -> None:
    run = a_told_run(project)
    page = f"/p/helpdesk/runs/{run.pk}/keeping/"

    admin.post(page, {"action": "hold", "why": "court case 12/26"})
    assert RunHold.objects.get().why == "court case 12/26"
    shown = admin.get(page).text
    assert "court case 12/26" in shown
    assert "Lift the hold first" in shown
    refused = admin.post(page, {"action": "erase", "confirm": "TCK-run-1"})
    assert refused.status_code == 422
    admin.post(page, {"action": "release"})

    assert not RunHold.objects.exists()
    assert [line.detail for line in AccessEntry.objects.order_by("pk")] == [
        {"before": "not on hold", "after": "on hold: court case 12/26"},
        {"before": "on hold: court case 12/26", "after": "not on hold"},
    ]


def test_a_secret_in_the_reason_of_a_hold_is_masked(admin: Client, project: Project) -> None:
    run = a_told_run(project)
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

    admin.post(f"/p/helpdesk/runs/{run.pk}/keeping/", {"action": "hold", "why": f"token {secret}"})

    assert secret not in RunHold.objects.get().why
    assert secret not in str(AccessEntry.objects.get().detail)


def test_one_run_is_erased_when_its_ticket_is_typed(admin: Client, project: Project) -> None:
    run = a_told_run(project)
    page = f"/p/helpdesk/runs/{run.pk}/keeping/"

    assert admin.post(page, {"action": "erase", "confirm": "run-1"}).status_code == 422
    answer = admin.post(page, {"action": "erase", "confirm": "TCK-run-1"})

    assert answer["Location"] == "/p/helpdesk/runs/"
    assert Run.objects.get().removal == Removal.RUN
    assert admin.get(page).status_code == 404


@pytest.mark.parametrize("form", [{}, {"action": "burn"}, {"action": "hold", "why": " "}])
def test_an_action_that_is_none_changes_nothing(
    admin: Client, project: Project, form: dict[str, str]
) -> None:
    run = a_told_run(project)

    assert admin.post(f"/p/helpdesk/runs/{run.pk}/keeping/", form).status_code == 422
    assert not RunHold.objects.exists()
