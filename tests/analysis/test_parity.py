"""The rules that the field publishes, as small reference functions, against the suite.

Where both must agree, a test says so for every sequence; where they differ, one says why.
"""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from analysis.detectors.limits import Limits, RepeatMode
from analysis.suite import analyse
from tests.builders import a_run, call
from transcripts.record import Call, RunRecord

Sequence = list[Call]


def same_args(one: Call, other: Call) -> bool:
    return one.name == other.name and json.loads(one.args) == json.loads(other.args)


def third_in_a_row(calls: Sequence) -> int | None:
    """A loop guard: the round of the third identical call in a row."""
    for at in range(2, len(calls)):
        if same_args(calls[at], calls[at - 1]) and same_args(calls[at], calls[at - 2]):
            return at + 1
    return None


def third_in_all(calls: Sequence) -> int | None:
    """A check script: the round of the third identical call anywhere."""
    seen: Counter[tuple[str, str]] = Counter()
    for at, each in enumerate(calls):
        key = (each.name, json.dumps(json.loads(each.args), sort_keys=True))
        seen[key] += 1
        if seen[key] == 3:
            return at + 1
    return None


def more_than_in_window(calls: Sequence, window: int, allowed: int) -> int | None:
    """A stuck monitor: more than `allowed` identical calls among the last `window`."""
    for at, each in enumerate(calls):
        recent = calls[max(0, at - window + 1) : at + 1]
        if sum(same_args(each, other) for other in recent) > allowed:
            return at + 1
    return None


def stale_outputs(calls: Sequence, patience: int) -> int | None:
    """A patience counter: so many outputs in a row that are the same as the one before."""
    stale = 0
    for at in range(1, len(calls)):
        stale = stale + 1 if calls[at].result == calls[at - 1].result else 0
        if stale == patience:
            return at + 1
    return None


def repeats_a_pattern(calls: Sequence, longest: int, times: int) -> bool:
    """A pattern of several tools that fills the end of the run so many times over."""
    keys = [(each.name, each.args) for each in calls]
    for period in range(2, longest + 1):
        for start in range(len(keys) - period * times + 1):
            pattern = keys[start : start + period]
            if len(set(pattern)) > 1 and keys[start : start + period * times] == pattern * times:
                return True
    return False


def error_rate(calls: Sequence) -> float:
    return sum(each.is_error is True for each in calls) / len(calls) if calls else 0.0


def run_of(calls: Sequence) -> RunRecord:
    return a_run(*([each] for each in calls))


def first(name: str, calls: Sequence, limits: Limits | None = None) -> int | None:
    findings = analyse(run_of(calls), limits or Limits()).findings
    return min((each.round for each in findings if each.detector == name), default=None)


def reset(n: int = 1, result: str = "queued: 7") -> Call:
    return call("reset", {"id": n}, result)


def random_calls(seed: int, *, length: int = 14) -> Sequence:
    """Calls of three tools and two ids, each with the one answer that it always gets."""
    chance = random.Random(seed)
    made = []
    for _ in range(length):
        name, number = chance.choice(["get_a", "get_b", "get_c"]), chance.choice([1, 2])
        args = chance.choice([f'{{"id": {number}, "x": 0}}', f'{{"x": 0, "id": {number}}}'])
        made.append(call(name, args, f"{name} of {number} is {number * 7}"))
    return made


@pytest.mark.parametrize("seed", range(60))
def test_the_third_identical_call_anywhere(seed: int) -> None:
    calls = random_calls(seed)

    assert first("repeated_call", calls) == third_in_all(calls)


@pytest.mark.parametrize("seed", range(60))
def test_three_identical_calls_in_a_row(seed: int) -> None:
    calls = random_calls(seed)

    found = first("repeated_call", calls, Limits(repeat_mode=RepeatMode.CONSECUTIVE))

    assert found == third_in_a_row(calls)


@pytest.mark.parametrize(("window", "allowed"), [(5, 2), (6, 3), (6, 2)])
@pytest.mark.parametrize("seed", range(20))
def test_a_window(seed: int, window: int, allowed: int) -> None:
    calls = random_calls(seed)
    limits = Limits(repeat_mode=RepeatMode.WINDOW, repeat_window=window, repeat_limit=allowed)

    assert first("repeated_call", calls, limits) == more_than_in_window(calls, window, allowed)


def test_reordered_keys_are_a_repeat_nested_ones_too() -> None:
    calls = [
        call("find", '{"a": 1, "b": {"c": 2, "d": 3}}', "x = 1"),
        call("find", '{"b": {"d": 3, "c": 2}, "a": 1}', "x = 1"),
        call("find", '{"b": {"c": 2, "d": 3}, "a": 1}', "x = 1"),
    ]

    assert first("repeated_call", calls) == third_in_a_row(calls) == 3


def test_pages_are_no_repeat() -> None:
    calls = [call("list", {"page": n}, "a row") for n in range(1, 6)]

    assert third_in_all(calls) is None
    assert first("repeated_call", calls) is None


def test_polls_with_a_changing_status_are_none_where_the_guard_says_three() -> None:
    """The guard compares calls alone. The suite compares answers too: waiting is no loop."""
    calls = [call("status", {"job": 7}, state) for state in ("1/3", "2/3", "3/3")]

    assert third_in_a_row(calls) == 3
    assert first("repeated_call", calls) is None


def test_three_tries_of_an_open_failure_are_none_where_the_guard_says_three() -> None:
    """To try again after an error is what the field advises; the fourth time is a finding."""
    calls = [call("save", {"id": 7}, "busy", is_error=True) for _ in range(4)]

    assert third_in_a_row(calls) == 3
    assert first("repeated_call", calls) == 4


def test_a_fourth_identical_output_in_a_row_is_no_progress() -> None:
    """Patience 3 counts three outputs that are as the one before, so it speaks at the fourth; the
    suite says that the last three are the same, at the third.
    """
    calls = [call(f"get_{n}", {"id": n}, "you are not signed in now") for n in range(4)]

    assert stale_outputs(calls, 3) == 4
    assert first("no_progress", calls) == 3
    assert first("no_progress", calls[:2]) is None


def test_acknowledgements_are_progress_where_a_patience_counter_says_none() -> None:
    calls = [call("set_user", {"id": n}, "ok") for n in range(4)]

    assert stale_outputs(calls, 3) == 4
    assert first("no_progress", calls) is None


def test_a_budget_of_12_is_passed_at_round_13() -> None:
    calls = [call("step", {"n": n}, f"result {n}") for n in range(20)]

    assert first("round_limit_passed", calls, Limits(rounds=12)) == 13
    assert first("round_limit_passed", calls[:12], Limits(rounds=12)) is None


@pytest.mark.parametrize("period", [2, 3, 4, 5])
def test_patterns_of_several_tools(period: int) -> None:
    pattern = [call(f"tool_{n}", {"n": n}, f"r{n}") for n in range(period)]

    for times in (2, 3, 4):
        calls = pattern * times
        assert (first("alternating_calls", calls) is not None) is repeats_a_pattern(calls, 5, 3)


@pytest.mark.parametrize("seed", range(40))
def test_random_patterns(seed: int) -> None:
    calls = random_calls(seed, length=24)
    chance = random.Random(seed)
    if chance.random() < 0.7:
        at, period = chance.randrange(10), chance.randrange(2, 6)
        calls[at : at + period * 3] = calls[at : at + period] * 3

    assert (first("alternating_calls", calls) is not None) is repeats_a_pattern(
        [call(each.name, json.dumps(json.loads(each.args), sort_keys=True)) for each in calls], 5, 3
    )


@pytest.mark.parametrize("failures", range(5))
def test_an_error_rate_of_a_half(failures: int) -> None:
    calls = [
        call(f"t{n}", {}, "no" if n < failures else "yes it is", is_error=n < failures)
        for n in range(4)
    ]

    assert (first("high_error_rate", calls) is not None) is (error_rate(calls) >= 0.5)


def test_under_four_calls_a_rate_says_nothing() -> None:
    calls = [call(f"t{n}", {}, "no", is_error=True) for n in range(3)]

    assert error_rate(calls) == 1
    assert first("high_error_rate", calls) is None


@pytest.mark.parametrize("result", ["", "  ", "null", "{}", "[]", '""'])
def test_empty_responses(result: str) -> None:
    assert first("empty_result", [reset(result=result)]) == 1
