from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from agentdesk.tasks import learn
from analysis.limits.learning import baseline_for, baseline_learn, baselines_refresh
from analysis.limits.sets import baseline_of
from analysis.models import LearnedBaseline
from tests.builders import a_round, a_run, call, stopped
from tests.factories import a_project
from tests.page_runs import a_shown_run
from transcripts.models import Project, Run

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 3, 8, tzinfo=UTC)


def a_past_run(project: Project, number: int, *, rounds: int = 3, **fields: Any) -> Run:
    """A run that finished: `rounds` rounds of a silent and of a telling tool, 2 s each."""
    calls = [
        a_round(
            replace(call("wipe_board", {"n": at}, ""), duration_ms=10.0 + at),
            replace(call("look_up", {"n": at}, f"answer {at}"), duration_ms=900.0),
            cost=Decimal("0.5"),
        )
        for at in range(rounds - 1)
    ]
    record = a_run(
        *calls,
        "Done.",
        run_id=f"run-{number}",
        **{
            "agent": "helpdesk",
            "currency": "EUR",
            "started_at": START,
            "ended_at": START + timedelta(seconds=2 * rounds),
            **fields,
        },
    )
    return a_shown_run(record, project)


def learned_of(project: Project, agent: str = "helpdesk") -> LearnedBaseline:
    learned = baseline_for(project_id=project.pk, agent=agent)
    assert learned is not None
    return learned


def test_learns_from_finished_runs_of_the_agent() -> None:
    project = a_project()
    for number in range(24):
        a_past_run(project, number, rounds=3 if number else 11)
    a_past_run(project, 100, rounds=40, agent="billing")
    unfinished = stopped(a_run(*[[call("x", {"n": n}, "y")] for n in range(90)], run_id="s"))
    a_shown_run(replace(unfinished, agent="helpdesk"), project)
    a_past_run(a_project(), 1, rounds=30)

    baseline_learn(project=project, agent="helpdesk")

    learned = learned_of(project)
    assert learned.runs == 24
    assert learned.rounds_p95 == 3
    assert learned.seconds_p95 == 6
    assert learned.tool_ms_p95["look_up"] == 900
    assert learned.silent_tools == {"wipe_board": [56, 56]}
    baseline = baseline_of(learned, currency="EUR")
    assert baseline.known
    assert baseline.silent_tools == {"wipe_board"}


def test_the_cost_of_normal_runs_is_learned_by_currency() -> None:
    project = a_project()
    for number in range(20):
        a_shown_run(
            a_run(
                a_round(call("look_up", {"n": 1}, "found"), cost=Decimal("0.5")),
                "Done.",
                run_id=f"n{number}",
                currency="EUR" if number else "INR",
            ),
            project,
        )

    baseline_learn(project=project, agent="")

    assert learned_of(project, "").cost_medians == {"EUR": ["0.5", 19], "INR": ["0.5", 1]}
    assert baseline_of(learned_of(project, ""), currency="EUR").cost_median is None


def test_a_few_calls_make_no_tool_silent() -> None:
    project = a_project()
    for number in range(9):
        a_past_run(project, number)

    baseline_learn(project=project, agent="helpdesk")

    assert learned_of(project).silent_tools == {}
    assert learned_of(project).tool_ms_p95 == {}


def test_a_tool_that_answers_now_and_then_is_not_silent() -> None:
    project = a_project()
    for number in range(20):
        said = "3 rows changed" if number < 2 else ""
        record = a_run([call("wipe_board", {"n": 1}, said)], "Done.", run_id=f"r{number}")
        a_shown_run(record, project)

    baseline_learn(project=project, agent="")

    assert learned_of(project, "").silent_tools == {}


def test_what_is_learned_silences_empty_results_from_20_runs_on() -> None:
    project = a_project()
    for number in range(12):
        a_past_run(project, number)
    baseline_learn(project=project, agent="helpdesk")
    early = a_past_run(project, 50)
    for number in range(51, 60):
        a_past_run(project, number)
    baseline_learn(project=project, agent="helpdesk")

    late = a_past_run(project, 90)

    assert early.findings.filter(detector="empty_result").exists()
    assert not late.findings.filter(detector="empty_result").exists()


def test_refreshing_learns_only_where_something_has_finished() -> None:
    project = a_project()
    a_past_run(project, 1)

    first, again = learn(), baselines_refresh()
    a_past_run(project, 2)
    Run.objects.filter(project=project).update(updated_at=timezone.now())

    assert (first, again) == (1, 0)
    assert baselines_refresh() == 1
    assert learned_of(project).runs == 2


def test_an_agent_with_an_endless_name_is_passed_over() -> None:
    a_shown_run(a_run("Done.", run_id="x", agent="a" * 4000), a_project())

    assert baselines_refresh() == 0
