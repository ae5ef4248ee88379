from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from analysis.cells import MAX_CELLS, bins_of, cells_of, last_round
from analysis.models import Verdict
from tests.factories import a_member
from tests.page_runs import a_long_run
from transcripts.choices import Role
from transcripts.record import Round, Stop
from transcripts.selectors.pages import WORST_FIRST, RoundBins, bin_size, round_bins

ROUNDS = st.lists(
    st.tuples(st.sampled_from(list(Stop)), st.none() | st.integers(0, 9_000)),
    min_size=1,
    max_size=400,
)


def rounds_of(told: list[tuple[Stop, int | None]]) -> list[Round]:
    return [
        Round(number=number, stop=stop, tokens_in=tokens)
        for number, (stop, tokens) in enumerate(told, 1)
    ]


def bins(rounds: list[Round], last: int) -> RoundBins:
    found = bins_of(cells_of(rounds, last=last), last=last)
    assert found is not None
    return found


@given(ROUNDS)
def test_each_cell_is_as_bad_as_its_worst_round(told: list[tuple[Stop, int | None]]) -> None:
    rounds = rounds_of(told)

    found = bins(rounds, len(rounds))

    assert len(found.bins) == -(-len(rounds) // bin_size(last=len(rounds), bins=MAX_CELLS))
    for cell in found.bins:
        stops = {round_.stop.value for round_ in rounds[cell.first - 1 : cell.last]}
        assert cell.stop == next(stop.value for stop in WORST_FIRST if stop.value in stops)
        assert cell.tokens == rounds[cell.last - 1].tokens_in


def test_rounds_that_never_came_have_no_cell() -> None:
    found = bins([Round(number=1, stop=Stop.WANTS_TOOL)], 5)

    assert [(cell.first, cell.last) for cell in found.bins] == [(1, 1)]


def test_rounds_that_should_have_come_count() -> None:
    assert last_round(last=4, completeness={"rounds_expected": 9}) == 9
    assert last_round(last=4, completeness={"rounds_expected": None}) == 4


def test_what_was_kept_of_another_number_of_rounds_is_not_used() -> None:
    kept = cells_of([Round(number=1, stop=Stop.FINISHED)], last=1)

    assert bins_of(kept, last=2) is None
    assert bins_of({}, last=2) is None


@pytest.mark.django_db
def test_a_map_is_drawn_without_reading_the_rounds(client: Client) -> None:
    run = a_long_run(300)
    client.force_login(a_member(run.project, Role.LEAD))
    address = reverse("analysis:run_detail", args=[run.project.slug, run.pk])

    client.get(address)

    with CaptureQueriesContext(connection) as captured:
        kept = client.get(address).content
    Verdict.objects.filter(run=run).update(cells={})
    with CaptureQueriesContext(connection) as without:
        read = client.get(address).content

    assert len(without) == len(captured) + 1
    assert kept.count(b"c-wants_tool") == read.count(b"c-wants_tool") > 0
    assert b'id="stops"' in kept


@pytest.mark.django_db
def test_the_store_says_the_same() -> None:
    run = a_long_run(300)
    kept = bins_of(run.verdict.cells, last=300)  # type: ignore[attr-defined]

    assert kept is not None
    read = round_bins(run=run, last=300, bins=MAX_CELLS)
    assert kept.top == read.top
    assert [(cell.first, cell.stop) for cell in kept.bins] == [
        (cell.first, cell.stop) for cell in read.bins
    ]
