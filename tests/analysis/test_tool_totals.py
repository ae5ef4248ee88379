"""What tools did, as figures of one run and of many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.models import ToolUse
from analysis.selectors.tools import tool_rows
from analysis.selectors.windows import Window
from analysis.suite import analyse
from analysis.tool_totals import LAST_STEP, MOST_TIMES, ToolTotals, ms_step, percentile, step_ms
from tests.builders import a_run, call
from tests.factories import a_project
from tests.page_runs import a_shown_run


def test_each_call_is_counted_once_by_what_came_back() -> None:
    run = a_run(
        [
            call("look", {"a": 1}, "found", duration_ms=100),
            call("look", {"a": 2}, "", duration_ms=200),
            call("look", {"a": 3}, '{"error": "no permission to read this"}'),
            call("look", {"a": 4}, "boom", is_error=True),
            call("look", {"a": 5}, None),
            call("other", {}, "fine"),
        ],
        "Done.",
    )

    look, other = analyse(run).tools

    assert (look.tool, look.calls, look.failed, look.hidden) == ("look", 5, 2, 1)
    assert (look.empty, look.unanswered) == (1, 1)
    assert [step_ms(step) for step in look.steps] == pytest.approx([100, 200], rel=0.1)
    assert look.findings >= 2
    assert (other.calls, other.failed, other.empty, other.findings) == (1, 0, 0, 0)


def test_a_tool_that_is_silent_by_nature_is_not_empty() -> None:
    run = a_run(*([call("mkdir", {"path": str(n)}, "")] for n in range(2)), "Done.")

    assert [each.empty for each in analyse(run).tools] == [0]


@given(st.floats(min_value=0.1, max_value=10**9))
def test_a_step_is_within_a_tenth_of_the_time(milliseconds: float) -> None:
    told = step_ms(ms_step(milliseconds))

    assert milliseconds <= 1.1 or told == pytest.approx(milliseconds, rel=0.1)


def test_odd_times_have_a_step() -> None:
    assert ms_step(0) == ms_step(-5) == 0
    assert ms_step(float("inf")) == ms_step(1e30) == LAST_STEP


def test_a_long_run_keeps_a_bounded_sample_of_times() -> None:
    calls = [[call("look", {"n": n}, str(n), duration_ms=10)] for n in range(1000)]

    (look,) = analyse(a_run(*calls, "Done.")).tools

    assert look.calls == 1000
    assert len(look.steps) <= MOST_TIMES


@pytest.mark.parametrize(
    ("counts", "share", "step"),
    [([(8, 1)], 0.5, 8), ([(4, 50), (8, 50)], 0.5, 4), ([(8, 5), (4, 95)], 0.96, 8)],
    ids=["one", "half of them", "unsorted"],
)
def test_percentiles(counts: list[tuple[int, int]], share: float, step: int) -> None:
    assert percentile(counts, share) == step_ms(step)
    assert percentile([], share) is None


@pytest.mark.django_db
def test_many_runs_sum_up_by_tool() -> None:
    project = a_project()
    for number in range(3):
        a_shown_run(
            a_run([call("look", {}, "", duration_ms=100)], "Done.", run_id=str(number)), project
        )
    a_shown_run(a_run([call("other", {}, "fine")], "Done.", run_id="x", agent="b"), project)
    a_shown_run(a_run([call("look", {}, "")], "Done.", run_id="far"), a_project())

    look, other = tool_rows(project=project, window=Window("30"))

    assert (look.tool, look.runs, look.calls, look.empty) == ("look", 3, 3, 3)
    assert look.p50 == pytest.approx(100, rel=0.1)
    assert (other.calls, other.p95) == (1, None)
    assert [row.tool for row in tool_rows(project=project, window=Window("7"), agent="b")] == [
        "other"
    ]


@pytest.mark.django_db
def test_reading_a_run_again_replaces_its_figures() -> None:
    project = a_project()
    first = a_run([call("look", {}, "")], "Done.", run_id="r")
    a_shown_run(first, project)
    a_shown_run(a_run([call("peek", {}, "")], "Done.", run_id="r"), project)

    assert list(ToolUse.objects.values_list("tool", flat=True)) == ["peek"]


def test_totals_are_plain_values() -> None:
    assert ToolTotals("a", 1, 0, 0, 0, 0, 0, ()) == ToolTotals("a", 1, 0, 0, 0, 0, 0, ())
