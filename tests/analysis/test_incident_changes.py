"""What people decide about incidents, and take back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import RequestFactory
from django.utils import timezone

from analysis.models import Incident, IncidentState, Priority
from analysis.services.incident_merging import MergeError, incident_split, incidents_merge
from analysis.services.incident_undo import CHANGED, MERGED, SPLIT
from analysis.services.incidents import (
    incidents_assign,
    incidents_hold,
    incidents_ignore,
    incidents_prioritise,
    incidents_reopen,
    incidents_resolve,
)
from tests.factories import a_member, a_project, a_user
from tests.incident_runs import a_failing_run, the_incident
from transcripts.access import Reader, reader_for
from transcripts.choices import Role
from transcripts.models import Project
from transcripts.undo import UndoError, change_note, change_undo

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project()


@pytest.fixture
def lead(project: Project) -> Reader:
    return reader_for(a_member(project, Role.LEAD), project.slug)


@pytest.fixture
def incident(project: Project) -> Incident:
    a_failing_run(project, "one")
    return the_incident(project)


def columns(incident: Incident) -> dict[str, Any]:
    return Incident.objects.filter(pk=incident.pk).values().get()


def take_back(lead: Reader, kind: str, before: dict[str, Any] | None) -> str:
    assert before is not None
    change = change_note(reader=lead, kind=kind, before=before)
    change.refresh_from_db()
    request = RequestFactory().post("/")
    return change_undo(request=request, reader=lead, pk=change.pk)


Decide = Callable[[Project, Incident, Reader], "dict[str, Any] | None"]
DECISIONS: dict[str, Decide] = {
    "assigned": lambda project, incident, lead: incidents_assign(
        project=project, pks=[incident.pk], owner=lead.user, user=lead.user
    ),
    "priority": lambda project, incident, lead: incidents_prioritise(
        project=project, pks=[incident.pk], priority=Priority.HIGH, user=lead.user
    ),
    "resolved": lambda project, incident, lead: incidents_resolve(
        project=project, pks=[incident.pk], user=lead.user
    ),
    "ignored": lambda project, incident, lead: incidents_ignore(
        project=project, pks=[incident.pk], user=lead.user, until=timezone.now(), runs=3
    ),
    "held": lambda project, incident, lead: incidents_hold(
        project=project, pks=[incident.pk], held=True, user=lead.user
    ),
}


@pytest.mark.parametrize("kind", DECISIONS)
def test_each_decision_is_told_and_can_be_taken_back(
    project: Project, incident: Incident, lead: Reader, kind: str
) -> None:
    before = columns(incident)

    noted = DECISIONS[kind](project, incident, lead)

    assert columns(incident) != before
    event = incident.events.get(kind=kind)
    assert event.user == lead.user
    assert DECISIONS[kind](project, incident, lead) is None or kind == "ignored"
    if kind != "ignored":
        assert take_back(lead, CHANGED, noted).startswith("INC-1 is as before")
        assert columns(incident) == before
        assert incident.events.filter(kind="undone").count() == 1


def test_what_was_changed_again_since_stays(
    project: Project, incident: Incident, lead: Reader
) -> None:
    noted = DECISIONS["resolved"](project, incident, lead)
    a_failing_run(project, "two")
    assert the_incident(project).state == IncidentState.REGRESSED

    with pytest.raises(UndoError, match="changed again"):
        take_back(lead, CHANGED, noted)


def test_several_at_once(project: Project, lead: Reader) -> None:
    a_failing_run(project, "one")
    a_failing_run(project, "two", tool="other")
    pks = list(Incident.objects.values_list("pk", flat=True))

    noted = incidents_resolve(project=project, pks=pks, user=lead.user)

    assert set(Incident.objects.values_list("state", flat=True)) == {"resolved"}
    assert take_back(lead, CHANGED, noted) == "2 incidents are as before."
    assert set(Incident.objects.values_list("state", flat=True)) == {"new"}


def test_incidents_of_another_project_are_left_alone(incident: Incident, lead: Reader) -> None:
    other = a_project()

    assert incidents_resolve(project=other, pks=[incident.pk], user=lead.user) is None
    assert columns(incident)["state"] == "new"


def test_an_owner_is_a_member(project: Project, incident: Incident, lead: Reader) -> None:
    with pytest.raises(ValueError, match="member"):
        incidents_assign(project=project, pks=[incident.pk], owner=a_user(), user=lead.user)


def test_only_what_is_closed_is_reopened(
    project: Project, incident: Incident, lead: Reader
) -> None:
    assert incidents_reopen(project=project, pks=[incident.pk], user=lead.user) is None
    DECISIONS["resolved"](project, incident, lead)

    assert incidents_reopen(project=project, pks=[incident.pk], user=lead.user) is not None
    assert columns(incident)["state"] == "ongoing"


@pytest.fixture
def two(project: Project) -> tuple[Incident, Incident]:
    """Two incidents that one run has both, and each has a run of its own."""
    a_failing_run(project, "one")
    a_failing_run(project, "two", error="time-out")
    first, second = Incident.objects.order_by("number")
    return first, second


def test_merging_moves_what_comes_later_too(
    project: Project, two: tuple[Incident, Incident], lead: Reader
) -> None:
    first, second = two
    DECISIONS["held"](project, second, lead)
    before = columns(first), columns(second)

    noted = incidents_merge(project=project, into=first, pks=[second.pk], user=lead.user)
    a_failing_run(project, "three", error="time-out")

    assert columns(first)["run_count"] == 3
    assert columns(first)["held"]
    assert (columns(second)["run_count"], columns(second)["merged_into_id"]) == (0, first.pk)
    assert first.events.get(kind="merged").detail == {"incident": second.number}
    assert "by itself" in take_back(lead, MERGED, noted)
    assert columns(first)["run_count"] == before[0]["run_count"]
    assert columns(second)["run_count"] == 2
    assert columns(second)["merged_into_id"] is None


def test_a_run_of_both_counts_once(project: Project, lead: Reader) -> None:
    from tests.builders import a_run, call
    from tests.incident_runs import grouped

    failing = [call(name, {}, "denied", is_error=True) for name in ("get_left", "get_right")]
    grouped(project, a_run([failing[0]], [failing[1]], "Done.", run_id="both"))
    first, second = Incident.objects.order_by("number")
    assert first.runs.get().main
    assert not second.runs.get().main

    incidents_merge(project=project, into=first, pks=[second.pk], user=lead.user)

    assert columns(first)["run_count"] == 1


@pytest.mark.parametrize("who", ["itself", "nobody", "merged"])
def test_merges_that_make_no_sense(
    project: Project, two: tuple[Incident, Incident], lead: Reader, who: str
) -> None:
    first, second = two
    pks = {"itself": [first.pk], "nobody": [999_999], "merged": [second.pk]}[who]
    if who == "merged":
        incidents_merge(project=project, into=second, pks=[first.pk], user=lead.user)

    with pytest.raises(MergeError):
        incidents_merge(project=project, into=first, pks=pks, user=lead.user)


def test_splitting_and_back(project: Project, two: tuple[Incident, Incident], lead: Reader) -> None:
    first, second = two
    incidents_merge(project=project, into=first, pks=[second.pk], user=lead.user)
    moved = first.fingerprints.get(error="time-out").pk

    new, noted = incident_split(project=project, source=first, fingerprints=[moved], user=lead.user)

    assert (new.number, columns(new)["run_count"]) == (3, 1)
    assert new.title == "get_right: failed result: “time-out”"
    assert columns(first)["run_count"] == 1
    a_failing_run(project, "three", error="time-out")
    assert columns(new)["run_count"] == 2
    assert take_back(lead, SPLIT, noted) == "INC-1 is one again."
    assert columns(first)["run_count"] == 3
    assert columns(new)["merged_into_id"] == first.pk


def test_all_fingerprints_or_none_are_no_split(
    project: Project, incident: Incident, lead: Reader
) -> None:
    own = incident.fingerprints.get().pk

    for chosen in ([], [own], [999_999]):
        with pytest.raises(MergeError, match="Choose some"):
            incident_split(project=project, source=incident, fingerprints=chosen, user=lead.user)
