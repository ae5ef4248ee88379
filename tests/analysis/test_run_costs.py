from __future__ import annotations

from decimal import Decimal

import pytest

from analysis.run_costs import cost_note, normal_cost, repeats_fact
from tests.builders import a_round, a_run, call
from tests.factories import a_project
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.models import Project, Run


def a_priced_run(project: Project, run_id: str, cost: int, **fields: str) -> Run:
    record = a_run(
        a_round(call(), cost=Decimal(cost)),
        "Done.",
        run_id=run_id,
        **{"agent": "helpdesk", "currency": "INR", **fields},
    )
    return a_shown_run(record, project)


@pytest.mark.django_db
def test_normal_is_the_median_of_the_agents_other_finished_runs() -> None:
    project = a_project()
    for number, cost in enumerate((4, 5, 6, 7, 90)):
        a_priced_run(project, f"run-{number}", cost)
    a_priced_run(project, "other agent", 500, agent="billing")
    a_priced_run(project, "other money", 500, currency="EUR")
    a_priced_run(a_project(), "other project", 500)

    assert normal_cost(the_vpn_run(project)) == 6


@pytest.mark.django_db
def test_a_few_runs_say_nothing_of_what_is_normal() -> None:
    project = a_project()
    for number in range(4):
        a_priced_run(project, f"run-{number}", 6)

    assert normal_cost(the_vpn_run(project)) is None


@pytest.mark.parametrize(
    ("cost", "normal", "note"),
    [
        (None, Decimal(6), ""),
        (Decimal(420), None, ""),
        (Decimal(420), Decimal(0), ""),
        (Decimal(8), Decimal(6), ""),
        (Decimal(15), Decimal(6), "2.5 times a normal run"),
        (Decimal(420), Decimal(6), "70 times a normal run"),
    ],
)
def test_how_many_times_a_normal_run(
    cost: Decimal | None, normal: Decimal | None, note: str
) -> None:
    assert cost_note(cost, normal) == note


@pytest.mark.django_db
def test_what_repeats_took() -> None:
    run = the_vpn_run()

    fact = repeats_fact(run, run.verdict)

    assert fact is not None
    assert fact.value.startswith("45 rounds, ₹")
    assert fact.value.endswith(" min")
    assert repeats_fact(run, None) is None
