"""The injector itself: every fault is really in the run, and nothing else is."""

import itertools
import json
from dataclasses import replace

import pytest

from bench.detect.breaking import related
from bench.detect.clean import clean_runs, clean_sketch, clean_sketches
from bench.detect.inject import Case, cases, load_faults
from bench.detect.looks import LOOKS
from bench.detect.sketch import record
from bench.detect.world import load_pool, part_of
from transcripts.record import ENDED_BY_ITSELF, RunRecord, completeness

TUNING, OTHER_TUNING, REPORTING = 2, 4, 1
PARTS = ("tuning_a", "tuning_b", "reporting")
PER_KIND = 6
SOMETIMES = {"summary_keeps_the_ticket", "too_few_to_learn_from"}
"""These need logged inputs, or change what is known of earlier runs and not the run."""
BREAKS_COMPLETENESS = {
    "orphan_result",
    "stop_mismatch_not_run",
    "unanswered_call",
    "unanswered_one_of_many",
}


@pytest.fixture(scope="module")
def broken() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in cases(REPORTING, PER_KIND):
        found.setdefault(case.kind, []).append(case)
    return found


@pytest.mark.parametrize("seed", [TUNING, OTHER_TUNING, REPORTING])
def test_clean_runs_are_whole(seed: int):
    for run in clean_runs(seed, 200):
        state = completeness(run)

        assert state.complete
        assert state.missing_stops in (0, len(run.rounds))
        assert [r.number for r in run.rounds] == list(range(1, len(run.rounds) + 1))
        assert run.ending in ENDED_BY_ITSELF
        assert all(call.result is not None for r in run.rounds for call in r.calls)


def test_clean_runs_read_what_was_said_before():
    run = next(
        r for r in clean_runs(TUNING, 50) if r.messages[0].role == "system" and r.rounds[0].input
    )

    last = [list(keys or []) for _, keys in run.inputs()][-1]

    assert last[:2] == ["system", "ticket"]
    assert {"reply-1", "result-1-0"} <= set(last)
    assert set(last) <= set(run.message_by_key)


def test_a_seed_gives_the_same_runs_again():
    assert list(clean_runs(REPORTING, 20)) == list(clean_runs(REPORTING, 20))
    assert list(cases(REPORTING, 1)) == list(cases(REPORTING, 1))


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(PARTS, 2)])
def test_the_parts_share_no_words(one: str, other: str):
    left, right = load_pool(one), load_pool(other)

    for key in ("people", "places", "things", "topics", "services", "modules", "functions"):
        assert not set(left[key]) & set(right[key])
    for group in ("says", "documents", "tickets"):
        for key in left[group]:
            assert not set(left[group][key]) & set(right[group][key])
    for key in set(left["errors"]) - {"empty"}:
        assert not set(left["errors"][key]) & set(right["errors"][key]), key


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(PARTS, 2)])
def test_the_parts_share_no_tool(one: str, other: str):
    def names(part: str) -> set[str]:
        groups = load_pool(part)["tools"].values()
        return {tool[0] for group in groups for naming in group for tool in naming.values()}

    assert not names(one) & names(other)


def test_even_seeds_never_see_the_reporting_part():
    assert [part_of(seed) for seed in (1, 2, 3, 4)] == [
        "reporting",
        "tuning_a",
        "reporting",
        "tuning_b",
    ]


@pytest.mark.parametrize("name", sorted(LOOKS))
def test_every_look_alike_gets_into_a_run(name: str):
    _, agents = LOOKS[name]
    without = clean_sketch(REPORTING, 0, agents[0], [])
    with_it = clean_sketch(REPORTING, 0, agents[0], [name])

    assert record(with_it).rounds != record(without).rounds or name in SOMETIMES
    assert completeness(record(with_it)).complete


def test_troubles_of_clean_runs_are_where_they_are_said_to_be():
    for sketch in clean_sketches(REPORTING, 200):
        for trouble in sketch.allowed:
            step = sketch.steps[trouble.round - 1]
            assert step.calls or step.drops


@pytest.mark.parametrize("kind", sorted(load_faults()))
def test_every_fault_changes_the_run_and_says_where(kind: str, broken: dict[str, list[Case]]):
    assert len(broken[kind]) == PER_KIND
    for case in broken[kind]:
        rounds = case.run.round_by_number
        for number, index in case.expected.places:
            assert number in rounds
            assert index is None or index < len(rounds[number].calls)
        assert case.expected.odd_round is None or case.expected.odd_round in rounds
        assert completeness(case.run).complete is (kind not in BREAKS_COMPLETENESS)


def _call(case: Case):
    number, index = case.expected.places[0]
    return case.run.round_by_number[number].calls[index or 0]


def test_empty_results_hold_no_word(broken: dict[str, list[Case]]):
    for case in broken["empty_result"]:
        result = _call(case).result
        assert result is not None
        assert len(result.replace("status", "").replace("success", "")) < 40


def test_hidden_errors_carry_no_flag(broken: dict[str, list[Case]]):
    for case in broken["hidden_error"]:
        assert _call(case).result
        assert _call(case).is_error is not True


def test_failed_results_carry_the_flag(broken: dict[str, list[Case]]):
    assert all(_call(case).is_error for case in broken["failed_result"])


def test_frozen_states_read_the_same_before_and_after(broken: dict[str, list[Case]]):
    for case in broken["no_effect"]:
        number = case.expected.places[0][0]
        before = _results(case.run, range(1, number))
        after = _results(case.run, range(number + 1, len(case.run.rounds) + 1))
        if case.expected.variant != "other time":
            assert before & after


def _results(run: RunRecord, numbers: range) -> set[tuple[str, str, str | None]]:
    return {
        (c.name, c.args, c.result)
        for n in numbers
        if n in run.round_by_number
        for c in run.round_by_number[n].calls
    }


def test_a_broken_tool_works_again_only_where_the_case_says_so(broken: dict[str, list[Case]]):
    for kind in ("empty_result", "failed_result", "hidden_error"):
        for case in broken[kind]:
            number, _ = case.expected.places[0]
            later = [
                (round_.number, call)
                for round_ in case.run.rounds
                if round_.number > number
                for index, call in enumerate(round_.calls)
                if related(call.name, _call(case).name) and (round_.number, index) not in case.bad
            ]
            assert bool(later) <= (case.expected.recovered_at is not None)


def test_spoiled_arguments_are_spoiled(broken: dict[str, list[Case]]):
    for case in broken["invalid_arguments"]:
        text = _call(case).args
        if case.expected.variant in ("cut JSON", "not JSON"):
            with pytest.raises(json.JSONDecodeError):
                json.loads(text)
        elif case.expected.variant == "missing":
            schema = next(t.schema for t in case.run.tools if t.name == _call(case).name)
            assert set(json.loads(schema)["required"]) - set(json.loads(text))


def test_lost_tickets_are_not_read_any_more(broken: dict[str, list[Case]]):
    for case in broken["ticket_lost"]:
        number = case.expected.places[0][0]
        for round_, keys in case.run.inputs():
            whole = {"system", "ticket"} <= set(keys or [])
            assert whole is (round_.number < number)


def test_limits_pass_in_the_round_that_is_named(broken: dict[str, list[Case]]):
    for case in broken["cost_anomaly"]:
        number, cap = case.expected.places[0][0], case.run.limits.cost
        assert cap is not None
        spent = [sum(r.cost or 0 for r in case.run.rounds[:n]) for n in (number - 1, number)]
        assert spent[0] <= cap < spent[1]
    for case in broken["round_limit_passed"]:
        assert case.expected.places[0][0] == (case.run.limits.rounds or 12) + 1


def test_repeats_are_the_third_of_their_kind(broken: dict[str, list[Case]]):
    for case in broken["repeated_call"]:
        number, index = case.expected.places[0]
        third = _call(case)
        key = json.dumps(json.loads(third.args), sort_keys=True)
        same = [
            round_.number
            for round_ in case.run.rounds
            for call in round_.calls
            if call.name == third.name and json.dumps(json.loads(call.args), sort_keys=True) == key
        ]
        assert same[2] == number
        assert index == 0


def test_other_rounds_stay_as_they_were():
    """Before the break a broken run is the clean one, but for its limits."""
    case = next(c for c in cases(TUNING, 1) if c.kind == "empty_result")
    number = case.expected.places[0][0]
    index = int(case.run.run_id.rsplit("-", 1)[1])
    agent = case.run.agent.removesuffix("-agent")

    clean = record(clean_sketch(TUNING, index, agent))

    assert clean.rounds[: number - 1] == case.run.rounds[: number - 1]
    assert replace(clean.rounds[number - 1], calls=()).reply == case.run.rounds[number - 1].reply
