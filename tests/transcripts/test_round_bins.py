from __future__ import annotations

from dataclasses import replace

import pytest

from tests.builders import a_round, a_run, call
from tests.page_runs import a_shown_run
from transcripts.record import Stop
from transcripts.selectors.pages import Bin, bin_size, round_bins

pytestmark = pytest.mark.django_db


def test_a_bin_a_round_where_they_fit() -> None:
    run = a_shown_run(a_run(a_round(call(), tokens_in=10), a_round(call(), tokens_in=30), "Done."))

    found = round_bins(run=run, last=3, bins=120)

    assert found.bins == [
        Bin(1, 1, "wants_tool", 10),
        Bin(2, 2, "wants_tool", 30),
        Bin(3, 3, "finished", None),
    ]
    assert found.top == 30


def test_a_bin_shows_the_worst_of_its_rounds_and_the_largest_input_is_exact() -> None:
    rounds = [a_round(call("step", {"n": n}), tokens_in=n) for n in range(1, 10)]
    rounds[1] = a_round(reply="and th", stop=Stop.CUT_OFF, tokens_in=900)
    run = a_shown_run(a_run(*rounds, "Done."))

    found = round_bins(run=run, last=10, bins=3)

    assert [(bin_.first, bin_.last, bin_.stop) for bin_ in found.bins] == [
        (1, 4, "cut_off"),
        (5, 8, "wants_tool"),
        (9, 10, "finished"),
    ]
    assert [bin_.tokens for bin_ in found.bins] == [4, 8, None]
    assert found.top == 900


def test_rounds_that_never_came_have_no_bin() -> None:
    run = a_shown_run(a_run([call()], replace(a_round(reply="Done."), number=4)))

    assert [bin_.first for bin_ in round_bins(run=run, last=4, bins=120).bins] == [1, 4]


@pytest.mark.parametrize(("last", "size"), [(1, 1), (120, 1), (121, 2), (32_843, 274)])
def test_rounds_per_bin(last: int, size: int) -> None:
    assert bin_size(last=last, bins=120) == size
