"""Runs join and leave incidents as they are analysed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.grouping import GROUPING
from analysis.models import (
    Fingerprint,
    Incident,
    IncidentEvent,
    IncidentRun,
    IncidentState,
    SeenVersion,
    VersionKind,
)
from analysis.services.incident_arrivals import grouped_together
from analysis.services.incidents import incidents_resolve
from analysis.services.verdicts import run_analyse
from tests.builders import a_run, call
from tests.factories import a_project
from tests.incident_runs import a_failing_record, a_failing_run, grouped, the_incident
from transcripts.masking.types import MaskedText
from transcripts.models import Project
from transcripts.record import RunRecord

pytestmark = pytest.mark.django_db
WORKERS = 4


@pytest.fixture
def project() -> Project:
    return a_project()


def kinds(incident: Incident) -> list[str]:
    return list(incident.events.order_by("pk").values_list("kind", flat=True))


def test_a_healthy_run_opens_nothing(project: Project) -> None:
    grouped(project, a_run([call()], "Done."))

    assert not Incident.objects.exists()


def test_the_first_run_opens_an_incident(project: Project) -> None:
    run = a_failing_run(project, "one", prompt_version="v1")

    incident = the_incident(project)
    assert (incident.name, incident.state, incident.run_count) == ("INC-1", "new", 1)
    assert incident.title == "get_right failed: “permission denied for user …”"
    assert incident.first_seen_at == incident.last_seen_at == run.received_at
    (row,) = IncidentRun.objects.all()
    assert (row.run_id, row.round, row.call, row.main) == (run.pk, 2, 0, True)
    (event,) = incident.events.all()
    assert event.kind == "opened"
    assert event.detail == {
        "run": run.pk, "run_id": "one", "version": "v1", "version_kind": "prompt",
    }  # fmt: skip
    assert isinstance(incident.title, MaskedText)


def test_runs_with_the_same_fault_join_it(project: Project) -> None:
    for name in ("one", "another", "a third one"):
        a_failing_run(project, name)

    incident = the_incident(project)
    assert incident.run_count == 3
    assert Fingerprint.objects.count() == 1
    assert kinds(incident) == ["opened"]


def test_projects_and_agents_have_incidents_of_their_own(project: Project) -> None:
    a_failing_run(project, "one")
    a_failing_run(project, "two", agent="billing")
    a_failing_run(a_project(), "three")

    numbers = list(Incident.objects.order_by("pk").values_list("project_id", "number"))
    assert [number for _, number in numbers] == [1, 2, 1]


def test_reading_again_changes_nothing(project: Project) -> None:
    run = a_failing_run(project, "one")
    before = list(IncidentRun.objects.values())

    with transaction.atomic():
        run_analyse(run=run)

    assert list(IncidentRun.objects.values()) == before
    assert kinds(the_incident(project)) == ["opened"]
    assert the_incident(project).run_count == 1


def test_a_finding_that_is_gone_leaves_and_the_timeline_says_so(project: Project) -> None:
    a_failing_run(project, "one", at=timezone.now() - timedelta(days=3))
    run = a_failing_run(project, "two")
    better = a_run(
        [call()], [call("get_right", {"id": "two"}, "right: yes", is_error=False)], "Done.",
        run_id="two", agent="helpdesk",
    )  # fmt: skip

    grouped(project, better)

    incident = the_incident(project)
    assert incident.run_count == 1
    assert incident.last_seen_at < timezone.now() - timedelta(days=2)
    assert kinds(incident) == ["opened", "run_left"]
    left = incident.events.get(kind="run_left")
    assert left.detail["run_id"] == run.run_id


def test_an_incident_that_no_run_has_any_more_is_over_and_new_when_it_comes(
    project: Project,
) -> None:
    a_failing_run(project, "one")
    grouped(
        project,
        a_run([call()], [call("get_right", {}, "ok")], "Done.", run_id="one", agent="helpdesk"),
    )
    assert (the_incident(project).state, the_incident(project).run_count) == ("resolved", 0)

    a_failing_run(project, "two")

    assert (the_incident(project).state, the_incident(project).run_count) == ("new", 1)
    assert kinds(the_incident(project)) == ["opened", "run_left", "emptied", "seen_again"]


def test_another_fault_moves_the_run(project: Project) -> None:
    a_failing_run(project, "one")
    a_failing_run(project, "one", error="time-out")

    assert list(Incident.objects.order_by("number").values_list("run_count", flat=True)) == [0, 1]


def test_of_a_restricted_run_nothing_is_cited(project: Project) -> None:
    a_failing_run(project, "one", labels={"restricted": "hr"})
    incident = the_incident(project)
    assert (incident.title, incident.fingerprints.get().error) == ("get_right failed", "")

    a_failing_run(project, "two")

    incident = the_incident(project)
    assert incident.title == "get_right failed: “permission denied for user …”"
    assert incident.fingerprints.get().error == "permission denied for user …"


def test_what_is_restricted_later_is_cited_no_more(project: Project) -> None:
    """The label may come with a later delivery, when the incident has its title."""
    a_failing_run(project, "one")
    assert "permission" in the_incident(project).title

    grouped(project, a_failing_record("one", labels={"restricted": "hr"}))

    incident = the_incident(project)
    assert (incident.title, incident.fingerprints.get().error) == ("get_right failed", "")


def test_a_restricted_run_beside_an_open_one_changes_no_title(project: Project) -> None:
    for name in ("one", "two"):
        a_failing_run(project, name)

    grouped(project, a_failing_record("one", labels={"restricted": "hr"}))

    assert the_incident(project).title == "get_right failed: “permission denied for user …”"


def test_versions_are_noted_when_first_seen(project: Project) -> None:
    early = timezone.now() - timedelta(days=2)
    grouped(project, a_run([call()], "Done.", run_id="b", prompt_version="v2", code_version="c1"))
    grouped(project, a_run([call()], "Done.", run_id="a", prompt_version="v1"), at=early)

    noted = SeenVersion.objects.order_by("first_seen_at").values_list("kind", "version")
    assert noted[0] == (VersionKind.PROMPT, "v1")
    assert set(noted) == {("prompt", "v1"), ("prompt", "v2"), ("code", "c1")}


def test_runs_of_one_transaction_are_grouped_at_its_end(project: Project) -> None:
    with transaction.atomic(), grouped_together():
        grouped(project, a_failing_record("one"))
        grouped(project, a_failing_record("two"))
        assert not Incident.objects.exists()

    assert the_incident(project).run_count == 2


def test_a_part_that_is_rolled_back_is_not_grouped(project: Project) -> None:
    def fails() -> None:
        with transaction.atomic(), grouped_together():
            grouped(project, a_failing_record("two"))
            raise ValueError

    with transaction.atomic(), grouped_together():
        grouped(project, a_failing_record("one"))
        with pytest.raises(ValueError):  # noqa: PT011
            fails()

    assert the_incident(project).run_count == 1


def test_a_run_that_is_deleted_takes_its_rows_along(project: Project) -> None:
    a_failing_run(project, "one").delete()

    assert not IncidentRun.objects.exists()
    assert IncidentEvent.objects.exists()


def queries_of_grouping(project: Project, record: RunRecord) -> int:
    with CaptureQueriesContext(connection) as asked:
        grouped(project, record)
    said = [query["sql"] for query in asked.captured_queries]
    return sum("incident" in sql or "fingerprint" in sql or "seenversion" in sql for sql in said)


def test_it_costs_no_query_for_a_healthy_run_and_a_handful_for_a_known_fault(
    project: Project,
) -> None:
    a_failing_run(project, "one")

    assert queries_of_grouping(project, a_run([call()], "Done.", run_id="h")) == 0
    assert queries_of_grouping(project, a_failing_record("two")) <= 6


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_open_one_incident_and_wait_for_no_one(project: Project) -> None:
    """Each stores runs of two faults, in opposite orders, in one transaction."""
    together = Barrier(WORKERS)

    def work(worker: int) -> None:
        try:
            together.wait()
            for turn in range(5):
                tools = ["get_right", "get_left"][:: 1 if worker % 2 else -1]
                with transaction.atomic(), grouped_together():
                    for tool in tools:
                        grouped(project, a_failing_record(f"{worker}-{turn}-{tool}", tool=tool))
        finally:
            connection.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, range(WORKERS)))

    counts = Incident.objects.values_list("run_count", flat=True)
    assert list(counts) == [5 * WORKERS, 5 * WORKERS]
    assert Fingerprint.objects.count() == 2
    assert IncidentRun.objects.count() == 10 * WORKERS


def test_what_was_compared_in_another_way_stays_one_incident(project: Project) -> None:
    grouped(project, a_failing_record("run-1"))
    incident = the_incident(project)
    # As it was written before faults were compared as they are.
    incident.fingerprints.update(digest=b"of another day", grouping=GROUPING - 1)
    incidents_resolve(project=project, pks=[incident.pk], user=None)

    grouped(project, a_failing_record("run-2"))
    grouped(project, a_failing_record("run-1"))

    again = the_incident(project)
    assert (again.pk, again.state, again.run_count) == (incident.pk, IncidentState.REGRESSED, 2)
    assert sorted(again.fingerprints.values_list("grouping", flat=True)) == [GROUPING - 1, GROUPING]
