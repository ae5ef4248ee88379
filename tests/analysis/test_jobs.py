"""Jobs over past runs: previews of other limits, and reading again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.utils import timezone

from agentdesk.tasks import job_run, sweep
from analysis import jobs, reading_again
from analysis.jobs import job_advance, job_cancel, job_start, jobs_left
from analysis.limits.previews import preview_wanted
from analysis.limits.sets import Scope, limit_book
from analysis.models import Finding, Job, JobKind, JobState, LimitSet, Verdict
from analysis.reading_again import outdated_count, runs_to_read
from tests.builders import a_run, call
from tests.factories import a_project, a_user
from tests.page_runs import a_shown_run
from transcripts.masking import masked_text
from transcripts.models import Project, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project()


def a_past_run(project: Project, rounds: int, *, agent: str = "helpdesk", **fields: Any) -> Run:
    """A run of that many rounds that finished, each with a call of its own."""
    calls = [[call("look_up", {"n": number}, f"answer {number}")] for number in range(rounds - 1)]
    name = f"{agent}-{rounds}-{Run.objects.count()}"
    return a_shown_run(a_run(*calls, "Done.", run_id=name, agent=agent), project, **fields)


def previewed(project: Project, scope: Scope, **values: Any) -> Job:
    wanted, total = preview_wanted(project=project, scope=scope, values=values)
    job = job_start(
        project=project, kind=JobKind.PREVIEW, wanted=wanted, total=total, user=a_user()
    )
    assert not job_advance(job_pk=job.pk, seconds=30)
    job.refresh_from_db()
    return job


def reading(project: Project, *, everything: bool = False) -> Job:
    wanted, total = runs_to_read(project=project, everything=everything)
    return job_start(
        project=project, kind=JobKind.READ_AGAIN, wanted=wanted, total=total, user=None
    )


def test_a_preview_says_what_would_be_flagged(project: Project) -> None:
    runs = {rounds: a_past_run(project, rounds) for rounds in (2, 4, 6, 8)}
    a_past_run(project, 9, agent="billing")
    a_past_run(a_project(), 9)
    calls = [[call("look_up", {"n": n}, "found")] for n in range(9)]
    a_shown_run(a_run(*calls, run_id="live", agent="helpdesk", live=True), project, live=True)

    job = previewed(project, Scope("helpdesk"), rounds=5)

    assert job.state == JobState.DONE
    assert (job.read, job.total, job.changed) == (4, 4, 2)
    assert (job.result["now"], job.result["then"]) == (0, 2)
    assert [each["run"] for each in job.result["changes"]] == [runs[8].pk, runs[6].pk]
    assert job.result["changes"][0]["gained"] == ["round_limit_passed"]
    assert job.result["changes"][0]["kinds"] == ["finished", "limit_passed"]


def test_a_finding_in_another_round_is_no_new_one(project: Project) -> None:
    a_past_run(project, 20)
    LimitSet.objects.create(project=project, values={"rounds": 15})

    job = previewed(project, Scope(), rounds=5)

    (change,) = job.result["changes"]
    assert (change["gained"], change["lost"]) == ([], [])
    assert change["moved"] == ["round_limit_passed"]


def test_a_preview_changes_nothing(project: Project) -> None:
    a_past_run(project, 8)
    before = list(Verdict.objects.values()), list(Finding.objects.values())

    previewed(project, Scope(), rounds=5)

    assert (list(Verdict.objects.values()), list(Finding.objects.values())) == before
    assert not LimitSet.objects.exists()


def test_a_preview_of_many_runs_reads_the_latest(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.limits.previews.MOST_RUNS", 3)
    monkeypatch.setattr("analysis.limits.previews.RUNS_PER_STEP", 2)
    monkeypatch.setattr("analysis.limits.previews.NAMED", 1)
    runs = [a_past_run(project, 8) for _ in range(5)]

    job = previewed(project, Scope(), rounds=5)

    assert (job.read, job.wanted["runs"], job.changed) == (3, 5, 3)
    assert [each["run"] for each in job.result["changes"]] == [runs[4].pk]


def test_runs_that_flip_are_named_before_those_that_stay(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.limits.previews.NAMED", 1)
    flips = a_past_run(project, 8)
    stays = a_shown_run(
        a_run(*[[call("a", {"n": n}, "")] for n in range(8)], "Done.", run_id="stays"), project
    )
    assert stays.verdict.flagged

    job = previewed(project, Scope(), rounds=5)

    assert job.changed == 2
    assert [each["run"] for each in job.result["changes"]] == [flips.pk]


def test_reading_again_brings_past_runs_under_the_limits_of_now(project: Project) -> None:
    short, long = a_past_run(project, 3), a_past_run(project, 8)
    other = a_past_run(a_project(), 8)
    LimitSet.objects.create(project=project, values={"rounds": 5})
    book = limit_book(project_id=project.pk)
    assert outdated_count(project=project, book=book) == 2

    job = reading(project)
    job_run(job.pk)

    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert (job.read, job.total, job.changed) == (2, 2, 1)
    assert job.result == {"flagged_before": 0, "flagged_after": 1}
    flagged = {run.pk: Verdict.objects.get(run=run).flagged for run in (short, long, other)}
    assert flagged == {short.pk: False, long.pk: True, other.pk: False}
    assert outdated_count(project=project, book=book) == 0


def test_an_agents_own_limits_make_its_runs_alone_outdated(project: Project) -> None:
    a_past_run(project, 3)
    a_past_run(project, 3, agent="billing")

    LimitSet.objects.create(project=project, agent=masked_text("billing"), values={"rounds": 5})

    assert outdated_count(project=project, book=limit_book(project_id=project.pk)) == 1


def test_other_versions_of_detectors_make_runs_outdated(project: Project) -> None:
    a_past_run(project, 3)

    Verdict.objects.update(suite="an older one")

    assert outdated_count(project=project, book=limit_book(project_id=project.pk)) == 1
    assert runs_to_read(project=project, everything=False)[1] == 1


def test_a_job_goes_on_where_a_killed_worker_left_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_again, "RUNS_PER_STEP", 2)
    for _ in range(5):
        a_past_run(project, 3)
    job = reading(project, everything=True)
    read: list[int] = []
    analyse = reading_again.run_analyse

    def dies_at_the_fourth(*, run: Run) -> Verdict:
        if len(read) == 3:
            read.append(run.pk)
            raise OperationalError("the server closed the connection")
        read.append(run.pk)
        return analyse(run=run)

    monkeypatch.setattr(reading_again, "run_analyse", dies_at_the_fourth)
    with pytest.raises(OperationalError):
        job_advance(job_pk=job.pk, seconds=30)
    job.refresh_from_db()
    # The step of the third and the fourth is undone as one.
    assert (job.state, job.read) == (JobState.WAITING, 2)
    job_run(job.pk)

    job.refresh_from_db()
    pks = list(Run.objects.order_by("pk").values_list("pk", flat=True))
    assert (job.state, job.read) == (JobState.DONE, 5)
    assert read == [*pks[:4], *pks[2:]]


def test_one_run_that_cannot_be_read_does_not_stop_the_others(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = a_past_run(project, 3), a_past_run(project, 3)
    Verdict.objects.update(suite="old")
    analyse = reading_again.run_analyse

    def fails_at_the_first(*, run: Run) -> Verdict:
        if run.pk == bad.pk:
            raise ValueError("a text of the run")
        return analyse(run=run)

    monkeypatch.setattr(reading_again, "run_analyse", fails_at_the_first)
    job = reading(project)

    job_run(job.pk)

    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert job.result["failed"] == 1
    assert Verdict.objects.get(run=good).suite != "old"
    assert Verdict.objects.get(run=bad).suite == "old"


def test_a_cancelled_job_reads_no_further(project: Project) -> None:
    a_past_run(project, 3)
    job = reading(project, everything=True)

    assert job_cancel(job=job)

    job_run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.read) == (JobState.CANCELLED, 0)
    assert not job_cancel(job=job)


def test_running_a_job_twice_does_it_once(project: Project) -> None:
    a_past_run(project, 3)
    job = reading(project, everything=True)

    job_run(job.pk)
    job_run(job.pk)

    job.refresh_from_db()
    assert job.read == 1


def test_a_new_job_takes_the_place_of_one_that_waits(project: Project) -> None:
    a_past_run(project, 3)
    first = reading(project, everything=True)

    second = reading(project, everything=True)

    states = {job.pk: job.state for job in Job.objects.all()}
    assert states == {first.pk: JobState.CANCELLED, second.pk: JobState.WAITING}


def test_old_jobs_go(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "KEPT", 2)
    a_past_run(project, 3)

    made = [reading(project, everything=True).pk for _ in range(5)]

    assert list(Job.objects.order_by("pk").values_list("pk", flat=True)) == made[2:]


def test_the_sweep_queues_a_job_that_no_worker_is_at(project: Project) -> None:
    a_past_run(project, 3)
    job, fresh = reading(project, everything=True), reading(a_project(), everything=True)
    Job.objects.filter(pk=job.pk).update(stepped_at=timezone.now() - timedelta(minutes=1))

    with patch("agentdesk.tasks.enqueue") as enqueue:
        sweep()

    enqueue.assert_called_once_with("agentdesk.tasks.job_run", job.pk)
    assert jobs_left(older_than=timedelta(0)) == [job.pk, fresh.pk]
