"""Intervals and tests over many runs, against values worked out elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from analysis.cases.harness import compare, fisher, wilson


@pytest.mark.parametrize(("passed", "runs"), [(92, 100), (5, 10), (1, 2), (9, 10), (499, 500)])
def test_wilson_bounds_are_as_far_from_the_rate_as_chance_reaches(passed: int, runs: int) -> None:
    """The definition: the rates p at which the seen one is 1.96 standard errors of p away."""
    for bound in wilson(passed, runs):
        error = math.sqrt(bound * (1 - bound) / runs)
        assert abs(passed / runs - bound) / error == pytest.approx(1.959964, rel=1e-6)


@pytest.mark.parametrize(
    ("passed", "runs", "low", "high"),
    [
        pytest.param(0, 10, 0.0, 0.2775, id="none"),
        pytest.param(10, 10, 0.7225, 1.0, id="all"),
        pytest.param(0, 0, 0.0, 1.0, id="no runs"),
    ],
)
def test_wilson_at_the_ends(passed: int, runs: int, low: float, high: float) -> None:
    assert wilson(passed, runs) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("now", "before", "p"),
    [
        # Fisher's lady tasting tea: 3 of 4 against 1 of 4
        pytest.param((3, 4), (1, 4), 34 / 70, id="tea"),
        pytest.param((4, 4), (0, 4), 2 / 70, id="all against none"),
        pytest.param((1, 10), (11, 14), 0.0027594, id="the textbook's diet table"),
        pytest.param((5, 5), (5, 5), 1.0, id="the same"),
        pytest.param((0, 3), (0, 9), 1.0, id="never"),
    ],
)
def test_fisher_exact(now: tuple[int, int], before: tuple[int, int], p: float) -> None:
    assert fisher(*now, *before) == pytest.approx(p, rel=1e-4)
    assert fisher(*before, *now) == pytest.approx(p, rel=1e-4)


@pytest.mark.parametrize(("now", "before"), [((85, 100), (92, 100)), ((3, 50), (11, 40))])
def test_fisher_agrees_with_exact_fractions(now: tuple[int, int], before: tuple[int, int]) -> None:
    (passed, runs), (was, of) = now, before
    total, good = runs + of, passed + was

    def chance(k: int) -> Fraction:
        ways = math.comb(runs, k) * math.comb(of, good - k)
        return Fraction(ways, math.comb(total, good))

    counts = range(max(0, good - of), min(runs, good) + 1)
    exact = sum(p for p in map(chance, counts) if p <= chance(passed))

    assert fisher(*now, *before) == pytest.approx(float(exact), rel=1e-9)


def result(passed: int, runs: int) -> dict[str, int]:
    return {"passed": passed, "runs": runs}


def test_92_to_85_of_a_hundred_is_no_clear_change() -> None:
    change = compare(result(92, 100), result(85, 100))

    assert change["word"] == "no clear change"
    assert change["p"] == pytest.approx(0.1827, abs=0.0001)
    assert change["sentence"] == (
        "92% of 100 → 85% of 100: no clear change (exact test, p = 0.18);"
        " 81% or less would be called worse"
    )


@pytest.mark.parametrize(
    ("before", "now", "word"),
    [
        pytest.param((92, 100), (70, 100), "worse", id="worse"),
        pytest.param((70, 100), (92, 100), "better", id="better"),
        pytest.param((9, 10), (90, 100), "the same", id="the same rate"),
        pytest.param((1, 1), (0, 1), "no clear change", id="too few"),
        pytest.param((0, 0), (1, 1), "not comparable", id="nothing"),
    ],
)
def test_a_change_is_called_what_it_is(
    before: tuple[int, int], now: tuple[int, int], word: str
) -> None:
    assert compare(result(*before), result(*now))["word"] == word


def test_few_runs_say_that_they_are_few() -> None:
    sentence = compare(result(1, 1), result(0, 1))["sentence"]

    assert "with so few runs no drop could be told from chance" in sentence
