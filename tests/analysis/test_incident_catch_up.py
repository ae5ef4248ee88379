"""Runs that were stored before there were incidents join them by themselves."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from analysis import grouping
from analysis.alerts.channels import channel_add, rule_add
from analysis.alerts.outbox import rules_forget
from analysis.models import (
    AlertKind,
    AlertMessage,
    ChannelKind,
    Finding,
    Fingerprint,
    Incident,
    IncidentRun,
    IncidentState,
    SeenVersion,
    Verdict,
)
from analysis.services import incident_catch_up, incident_memberships
from analysis.services.incident_aging import incidents_age
from analysis.services.incident_catch_up import runs_group_catch_up
from analysis.services.incidents import incidents_ignore, incidents_resolve
from analysis.services.verdicts import run_analyse
from tests.builders import a_run, call
from tests.factories import a_project, a_user
from tests.incident_runs import a_failing_run, grouped, the_incident
from transcripts.models import Project, Run

pytestmark = pytest.mark.django_db
NOW = timezone.now()
NEXT = grouping.GROUPING + 1


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def before_incidents(project: Project, *runs: tuple[str, float], **fields: object) -> list[Run]:
    """Runs by id and the days since they came in, as the release before incidents left them."""
    made = [a_failing_run(project, name, at=days_ago(days), **fields) for name, days in runs]
    Incident.objects.all().delete()
    Fingerprint.objects.all().delete()
    SeenVersion.objects.all().delete()
    Verdict.objects.update(grouping=0)
    return made


def test_they_join_as_of_when_they_came_in(project: Project) -> None:
    before_incidents(project, ("late", 3), ("early", 40), ("later", 2), prompt_version="v1")

    assert runs_group_catch_up(seconds=30) == 3

    incident = the_incident(project)
    assert incident.run_count == 3
    assert (incident.first_seen_at, incident.last_seen_at) == (days_ago(40), days_ago(2))
    assert incident.state_at <= days_ago(2)
    assert all(event.at <= days_ago(2) for event in incident.events.all())
    assert incident.fingerprints.get().first_seen_at <= days_ago(3)
    assert SeenVersion.objects.get().first_seen_at == days_ago(40)
    assert incidents_age() == 0 or incident.state != IncidentState.ESCALATING


def test_it_is_done_once_and_healthy_runs_are_passed_over(project: Project) -> None:
    before_incidents(project, ("one", 3))
    grouped(project, a_run([call()], "Done.", run_id="healthy"))
    Verdict.objects.update(grouping=0)
    runs_group_catch_up(seconds=30)
    rows = list(IncidentRun.objects.values())

    assert runs_group_catch_up(seconds=30) == 0
    assert list(IncidentRun.objects.values()) == rows
    assert not Verdict.objects.filter(flagged=True, grouping=0).exists()


def test_what_is_left_is_done_at_the_next_turn(project: Project) -> None:
    before_incidents(project, ("one", 3), ("two", 2), ("three", 1))

    assert runs_group_catch_up(seconds=0) == 0
    assert not Incident.objects.exists()
    assert runs_group_catch_up(seconds=30) == 3


def test_no_alert_tells_of_old_runs(project: Project) -> None:
    before_incidents(project, ("one", 3), ("two", 2))
    to, _ = channel_add(
        project=project, kind=ChannelKind.EMAIL, name="Ops", address="a@b.example", user=a_user()
    )
    for kind in (AlertKind.INCIDENT_NEW, AlertKind.RUN_FLAGGED):
        rule_add(project=project, channel=to, kind=kind)
    rules_forget()

    runs_group_catch_up(seconds=30)
    old = AlertMessage.objects.count()
    a_failing_run(project, "new", tool="set_right")

    assert old == 0
    assert AlertMessage.objects.count() == 2


def test_verdicts_and_findings_stay_and_nothing_else_is_claimed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the detectors of now the run has another fault; its page does not show it yet."""
    (run,) = before_incidents(project, ("one", 3))
    Finding.objects.filter(run=run).update(detector="of_before")
    verdict = Verdict.objects.filter(run=run).values().get()

    runs_group_catch_up(seconds=30)

    assert not Incident.objects.exists()
    assert set(Finding.objects.values_list("detector", flat=True)) == {"of_before"}
    now = Verdict.objects.filter(run=run).values().get()
    assert now == {**verdict, "grouping": grouping.GROUPING}
    with transaction.atomic():
        run_analyse(run=run)
    assert the_incident(project).run_count == 1


def test_what_was_resolved_since_is_no_regression(project: Project) -> None:
    before_incidents(project, ("old", 30))
    Verdict.objects.update(flagged=False)
    a_failing_run(project, "new", at=days_ago(5))
    Verdict.objects.filter(grouping=0).update(flagged=True)
    pks = [the_incident(project).pk]
    incidents_resolve(project=project, pks=pks, user=None)

    runs_group_catch_up(seconds=30)

    incident = the_incident(project)
    assert (incident.state, incident.run_count) == (IncidentState.RESOLVED, 2)
    assert incident.first_seen_at == days_ago(30)


def test_old_runs_do_not_count_until_an_ignored_one_is_looked_at_again(project: Project) -> None:
    before_incidents(project, ("a", 30), ("b", 29), ("c", 28))
    Verdict.objects.update(flagged=False)
    a_failing_run(project, "new", at=days_ago(1))
    Verdict.objects.filter(grouping=0).update(flagged=True)
    incidents_ignore(project=project, pks=[the_incident(project).pk], user=None, runs=2)

    runs_group_catch_up(seconds=30)

    incident = the_incident(project)
    assert incident.state == IncidentState.IGNORED
    assert incident.ignored_after == incident.run_count + 2


def test_a_run_that_cannot_be_read_holds_up_no_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = before_incidents(project, ("bad", 3), ("good", 2))
    read = incident_catch_up.run_record

    def record(*, run: Run) -> object:
        if run.pk == first.pk:
            raise ValueError("broken")
        return read(run=run)

    monkeypatch.setattr(incident_catch_up, "run_record", record)

    assert runs_group_catch_up(seconds=30) == 2
    assert the_incident(project).run_count == 1


def test_a_removed_transcript_is_passed_over(project: Project) -> None:
    (run,) = before_incidents(project, ("one", 3))
    Run.objects.filter(pk=run.pk).update(text_removed_at=NOW, text_removed_by="an erasure")

    assert runs_group_catch_up(seconds=30) == 1
    assert runs_group_catch_up(seconds=30) == 0
    assert not Incident.objects.exists()


def test_another_way_of_grouping_keeps_incidents(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With their owners, priorities and history; runs that come later join them too."""
    a_failing_run(project, "one", at=days_ago(3))
    a_failing_run(project, "two", at=days_ago(2))
    incident = the_incident(project)
    Incident.objects.filter(pk=incident.pk).update(priority=1)
    told = incident.events.count()
    for module in (grouping, incident_memberships, incident_catch_up):
        monkeypatch.setattr(module, "GROUPING", NEXT)

    runs_group_catch_up(seconds=30)
    a_failing_run(project, "three", at=days_ago(1))

    again = the_incident(project)
    assert (again.pk, again.run_count, again.priority) == (incident.pk, 3, 1)
    assert again.events.count() == told
    assert sorted(again.fingerprints.values_list("grouping", flat=True)) == [NEXT - 1, NEXT]
    assert set(IncidentRun.objects.values_list("fingerprint__grouping", flat=True)) == {NEXT}
