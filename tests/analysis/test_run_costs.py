from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from analysis.limits.learning import baseline_learn
from analysis.models import LimitSet
from analysis.pages.run_costs import cost_fact, cost_note, finding_took, repeats_fact, window_fact
from tests.builders import a_round, a_run, call
from tests.factories import a_project
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.models import Project, Run

IN_2026 = datetime(2026, 6, 1, tzinfo=UTC)


def a_priced_run(project: Project, run_id: str, cost: int, **fields: str) -> Run:
    record = a_run(
        a_round(call(), cost=Decimal(cost)),
        "Done.",
        run_id=run_id,
        **{"agent": "helpdesk", "currency": "INR", **fields},
    )
    return a_shown_run(record, project)


@pytest.mark.django_db
def test_a_run_costs_so_many_times_a_normal_one() -> None:
    project = a_project()
    for number in range(21):
        a_priced_run(project, f"run-{number}", (4, 6, 90)[number % 3])
    a_priced_run(project, "other agent", 500, agent="billing")
    a_priced_run(project, "other money", 500, currency="EUR")
    a_priced_run(a_project(), "other project", 500)
    run = the_vpn_run(project)

    before = cost_fact(run, run.verdict)
    baseline_learn(project=project, agent="helpdesk")
    after = cost_fact(run, run.verdict)

    assert (before.value, before.note) == ("₹439", "")
    assert (after.value, after.note) == ("₹439", "73 times a normal run")
    assert after.title == "a normal run costs ₹6: the median of 21"


@pytest.mark.django_db
def test_fewer_than_20_runs_say_nothing_of_what_is_normal() -> None:
    project = a_project()
    for number in range(19):
        a_priced_run(project, f"run-{number}", 6)
    run = the_vpn_run(project)
    baseline_learn(project=project, agent="helpdesk")

    assert cost_fact(run, run.verdict).note == ""


@pytest.mark.django_db
def test_a_computed_cost_is_said_to_be_one() -> None:
    priced = a_round(call(), model="gpt-4o", tokens_in=10_000, tokens_cached=4_000, tokens_out=100)
    record = a_run(priced, "Done.", run_id="x", provider="openai", started_at=IN_2026)
    run = a_shown_run(record)

    fact = cost_fact(run, run.verdict)

    # (6,000 x 2.50 + 4,000 x 1.25 + 100 x 10.00) dollars a million
    assert run.verdict.cost == Decimal("0.021")
    assert (fact.value, fact.note) == ("$0.021", "computed from tokens, known of 1 of 2 rounds")


@pytest.mark.django_db
def test_a_cost_that_the_run_says_is_kept_as_it_is() -> None:
    priced = a_round(call(), model="gpt-4o", tokens_in=10_000, cost=Decimal("3.5"))
    run = a_shown_run(a_run(priced, run_id="x", provider="openai", currency="INR"))

    fact = cost_fact(run, run.verdict)

    assert (fact.value, fact.note, run.verdict.cost_computed) == ("₹3.50", "", False)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("said", "values", "model", "value", "note"),
    [
        (50_000, {"context_window": 9_000}, "gpt-4o", "50 k", "as the run says"),
        (None, {"context_window": 9_000}, "gpt-4o", "9.0 k", "as set for the agent"),
        (None, {}, "gpt-4o", "128 k", "as the price list says"),
        (None, {}, "a model of our own", "unknown", ""),
        (None, {}, "", "unknown", ""),
    ],
)
def test_where_the_window_is_known_from(
    said: int | None, values: dict[str, int], model: str, value: str, note: str
) -> None:
    project = a_project()
    LimitSet.objects.create(project=project, values=values)
    record = a_run("Done.", run_id="x", model=model, provider="openai", context_window=said)
    run = a_shown_run(record, project)

    fact = window_fact(run.verdict)

    assert fact is not None
    assert fact.value == value
    assert fact.note.startswith(note)


@pytest.mark.django_db
def test_each_repetition_says_what_it_took() -> None:
    run = the_vpn_run()
    told = {each.detector: finding_took(each, run, run.verdict) for each in run.findings.all()}

    assert told["empty_result"] == ""
    assert told["alternating_calls"].startswith("45 rounds, ")
    assert all(unit in told["alternating_calls"] for unit in (" tokens", "₹", " min"))


@pytest.mark.django_db
def test_what_a_repetition_took_is_computed_where_no_round_says_a_cost() -> None:
    same = [
        a_round(call("look_up", {"n": 1}, "found"), tokens_in=1_000_000, duration_ms=500.0)
        for _ in range(5)
    ]
    run = a_shown_run(
        a_run(*same, run_id="x", model="gpt-4o", provider="openai", started_at=IN_2026)
    )
    repeated = run.findings.get(detector="repeated_call")

    assert repeated.wasted == {"rounds": 2, "tokens": 2_000_000, "cost": "5.00", "seconds": 1.0}
    assert finding_took(repeated, run, run.verdict) == "2 rounds, 2.0 M tokens, $5, 1.0 s"


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
    assert fact.value.startswith("45 rounds, 497 k tokens, ₹")
    assert fact.value.endswith(" min")
    assert repeats_fact(run, None) is None
