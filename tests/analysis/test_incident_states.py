"""When an incident comes back, escalates, calms down, and is looked at again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.models import Incident, IncidentRun, IncidentState, VersionKind
from analysis.services.incident_aging import incidents_age, incidents_recount
from analysis.services.incidents import incident_reopen, incident_resolve, incidents_ignore
from tests.builders import a_run, call
from tests.factories import a_project
from tests.incident_runs import a_failing_run, grouped, the_incident
from transcripts.maskers import typed_masker
from transcripts.models import Project, Run

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def project() -> Project:
    return a_project()


def state(project: Project) -> str:
    return the_incident(project).state


def resolve(project: Project, version: str = "", kind: VersionKind = VersionKind.PROMPT) -> None:
    masked = typed_masker(project).text(version) if version else None
    incident_resolve(incident=the_incident(project), version=masked, kind=kind)


def seen(project: Project, version: str) -> None:
    """A healthy run of that version."""
    grouped(project, a_run([call()], "Done.", run_id=f"h{version}", agent="helpdesk",
                           prompt_version=version, code_version=f"c{version}"))  # fmt: skip


def test_resolved_now_comes_back_with_the_next_run(project: Project) -> None:
    a_failing_run(project, "one")
    resolve(project)

    a_failing_run(project, "two", prompt_version="any")

    incident = the_incident(project)
    assert incident.state == IncidentState.REGRESSED
    event = incident.events.first()
    assert event is not None
    assert (event.kind, event.detail["run_id"], event.detail["version"]) == (
        "regressed", "two", "any",
    )  # fmt: skip


def test_a_run_that_came_before_it_was_resolved_is_no_regression(project: Project) -> None:
    a_failing_run(project, "one")
    resolve(project)

    a_failing_run(project, "two", at=timezone.now() - DAY)

    assert (state(project), the_incident(project).run_count) == ("resolved", 2)


@pytest.mark.parametrize(
    ("version", "after"),
    [
        pytest.param("v1", "resolved", id="an earlier version goes on failing"),
        pytest.param("v2", "regressed", id="the version in which it was mended"),
        pytest.param("v3", "regressed", id="a later one"),
        pytest.param("", "regressed", id="no version"),
    ],
)
def test_resolved_in_a_version(project: Project, version: str, after: str) -> None:
    for each in ("v1", "v2", "v3"):
        seen(project, each)
    a_failing_run(project, "one", prompt_version="v1")
    resolve(project, "v2")

    a_failing_run(project, "two", prompt_version=version)

    assert state(project) == after


def test_the_order_is_that_of_first_sight_and_not_of_letters(project: Project) -> None:
    for each in ("zz", "b", "aa"):
        seen(project, each)
    a_failing_run(project, "one", prompt_version="zz")
    resolve(project, "b")

    a_failing_run(project, "two", prompt_version="zz")
    assert state(project) == "resolved"
    a_failing_run(project, "three", prompt_version="aa")
    assert state(project) == "regressed"


def test_a_version_that_was_not_seen_yet_is_later_than_all(project: Project) -> None:
    a_failing_run(project, "one", prompt_version="v1")
    resolve(project, "v9")

    a_failing_run(project, "two", prompt_version="v1")
    a_failing_run(project, "three", prompt_version="v2")
    assert state(project) == "resolved"
    a_failing_run(project, "four", prompt_version="v9")
    assert state(project) == "regressed"


def test_code_versions_are_compared_with_code_versions(project: Project) -> None:
    seen(project, "1")
    seen(project, "2")
    a_failing_run(project, "one", code_version="c1", prompt_version="2")
    resolve(project, "c2", VersionKind.CODE)

    a_failing_run(project, "two", code_version="c1", prompt_version="3")

    assert state(project) == "resolved"


def test_a_case_that_fails_again_brings_it_back(project: Project) -> None:
    a_failing_run(project, "one")
    resolve(project)

    incident_reopen(incident=the_incident(project), case=typed_masker(project).text("vpn"))

    assert state(project) == "regressed"
    event = the_incident(project).events.first()
    assert event is not None
    assert event.detail == {"case": "vpn"}


def test_ignored_until_so_many_runs(project: Project) -> None:
    a_failing_run(project, "one")
    incidents_ignore(project=project, pks=[the_incident(project).pk], user=None, runs=2)

    a_failing_run(project, "two")
    assert state(project) == "ignored"
    a_failing_run(project, "three")

    assert state(project) == "new"
    assert the_incident(project).ignored_after is None


def test_ignored_until_a_time(project: Project) -> None:
    a_failing_run(project, "one")
    until = timezone.now() + DAY
    incidents_ignore(project=project, pks=[the_incident(project).pk], user=None, until=until)

    assert incidents_age(now=until - HOUR) == 0
    assert state(project) == "ignored"
    assert incidents_age(now=until + HOUR) == 1
    assert state(project) == "new"


def test_ignored_for_good_stays_so(project: Project) -> None:
    a_failing_run(project, "one")
    incidents_ignore(project=project, pks=[the_incident(project).pk], user=None)

    a_failing_run(project, "two")
    incidents_age(now=timezone.now() + 1000 * DAY)

    assert state(project) == "ignored"


def test_new_is_ongoing_after_a_week(project: Project) -> None:
    a_failing_run(project, "one")

    assert incidents_age(now=timezone.now() + 6 * DAY) == 0
    assert incidents_age(now=timezone.now() + 8 * DAY) == 1
    assert state(project) == "ongoing"
    assert incidents_age(now=timezone.now() + 9 * DAY) == 0


def with_runs(project: Project, *ages: timedelta) -> Incident:
    """An incident whose runs came in so long ago."""
    now = timezone.now()
    for number, age in enumerate(ages):
        a_failing_run(project, f"run {number}", at=now - age)
    return the_incident(project)


@pytest.mark.parametrize(
    ("ages", "after"),
    [
        pytest.param([3 * DAY] + [HOUR] * 10, "escalating", id="ten today, one in three days"),
        pytest.param([3 * DAY] + [HOUR] * 9, "new", id="too few"),
        pytest.param([HOUR] * 12, "new", id="no past to compare with"),
        pytest.param([25 * HOUR] * 4 + [HOUR] * 11, "new", id="not three times as many"),
        pytest.param([25 * HOUR] * 4 + [HOUR] * 12, "escalating", id="three times as many"),
    ],
)
def test_escalating(project: Project, ages: list[timedelta], after: str) -> None:
    with_runs(project, *ages)

    incidents_age()
    incidents_age()

    assert state(project) == after
    assert the_incident(project).events.filter(kind="escalated").count() == (after != "new")


def test_it_calms_down(project: Project) -> None:
    with_runs(project, 3 * DAY, *[HOUR] * 10)
    incidents_age()

    incidents_age(now=timezone.now() + 12 * HOUR)
    assert state(project) == "escalating"
    incidents_age(now=timezone.now() + 2 * DAY)

    assert state(project) == "ongoing"
    event = the_incident(project).events.first()
    assert event is not None
    assert event.kind == "calmed"


def test_resolved_ones_do_not_age(project: Project) -> None:
    with_runs(project, 3 * DAY, *[HOUR] * 10)
    resolve(project)

    assert incidents_age() == 0


def test_deleted_runs_are_counted_no_more(project: Project) -> None:
    runs = [a_failing_run(project, f"run {n}", at=timezone.now() - n * DAY) for n in range(3)]
    Run.objects.filter(pk__in=[runs[0].pk, runs[2].pk]).delete()

    assert incidents_recount() == 1

    incident = the_incident(project)
    assert incident.run_count == IncidentRun.objects.count() == 1
    assert incident.first_seen_at == incident.last_seen_at == runs[1].received_at
    assert incident.state == "new"
    assert incidents_recount() == 0
