from __future__ import annotations

import re

import pytest

from analysis.cells import MAX_CELLS
from analysis.choices import Severity
from analysis.pages.run_map import Mark, RunMap, run_map
from analysis.words import finding_tone
from transcripts.selectors.pages import Bin, bin_size


def bins_of(last: int, *, tokens: int | None = None) -> list[Bin]:
    size = bin_size(last=last, bins=MAX_CELLS)
    return [
        Bin(first, min(first + size - 1, last), "wants_tool", tokens)
        for first in range(1, last + 1, size)
    ]


def a_map(last: int, *marks: Mark, **fields: object) -> RunMap:
    given = {"repeats": (), "context_window": None, **fields}
    size = bin_size(last=last, bins=MAX_CELLS)
    tokens = given.pop("tokens", None)
    return run_map(
        bins=bins_of(last, tokens=tokens),
        top=tokens,
        last=last,
        per_cell=size,
        marks=marks,
        **given,
    )  # type: ignore[arg-type]


def cells_in(path: str) -> list[int]:
    return [int(float(start)) for start in re.findall(r"M([\d.]+) ", path)]


def test_a_short_run_has_a_cell_a_round() -> None:
    drawn = a_map(52, Mark(3, "odd", "empty result"))

    assert drawn.across == 52
    assert drawn.worst[2] == 3
    assert cells_in(dict(drawn.mark_paths)["odd"]) == [2]
    assert cells_in(dict(drawn.stop_paths)["wants_tool"]) == list(range(52))


def test_rounds_of_a_short_run_do_not_look_like_stretches() -> None:
    drawn = a_map(2, Mark(2, "odd", "empty result"))

    assert drawn.across == 30
    assert drawn.worst == (1, 2)
    assert drawn.marks[0].x == 5


def test_a_cell_whose_rounds_never_arrived_is_drawn_as_such() -> None:
    came = [Bin(1, 1, "wants_tool", None), Bin(4, 4, "finished", None)]

    drawn = run_map(
        bins=came, top=None, last=5, per_cell=1, marks=(), repeats=(), context_window=None
    )

    assert cells_in(dict(drawn.stop_paths)["missing"]) == [1, 2, 4]
    assert drawn.tones == {"missing"}
    assert a_map(52).tones == frozenset()


def test_a_long_run_takes_no_more_elements() -> None:
    short, long = a_map(52), a_map(32_843)

    assert long.across <= MAX_CELLS
    assert long.per_cell == 274
    assert len(long.stop_paths) == len(short.stop_paths) == 1


def test_a_cell_shows_and_opens_the_worst_of_its_rounds() -> None:
    drawn = a_map(
        1200,
        Mark(11, "lead", ""),
        Mark(13, "fault", ""),
        Mark(15, "odd", "empty result"),
        Mark(17, "breach", ""),
    )

    assert [tone for tone, _ in drawn.mark_paths] == ["odd"]
    assert drawn.worst[1] == 15
    assert drawn.worst[2] == 21


def test_labels_that_would_collide_are_left_out_but_the_odd_one_stays() -> None:
    drawn = a_map(
        1200,
        Mark(100, "fault", "first"),
        Mark(110, "fault", "second"),
        Mark(120, "odd", "third"),
        Mark(900, "lead", "far"),
    )

    assert [placed.mark.round for placed in drawn.marks] == [100, 120, 900]
    assert drawn.marks[-1].label == "far"


def test_repeats_that_touch_are_one_stretch() -> None:
    drawn = a_map(100, repeats=[(3, 51), (8, 60), (80, 90)])

    assert drawn.hatched == ((2.0, 58.0), (79.0, 11.0))


def test_input_size_is_drawn_against_the_window() -> None:
    drawn = a_map(10, tokens=8000, context_window=16_000)

    assert drawn.window_y is not None
    assert "0.5 5.50" in drawn.tokens_path
    assert a_map(10).tokens_path == ""


@pytest.mark.parametrize(
    ("detector", "severity", "tone"),
    [
        pytest.param("round_limit_passed", Severity.LEAD, "warn", id="past what is usual"),
        pytest.param("round_limit_passed", Severity.BREACH, "breach", id="past a limit"),
        pytest.param("context_trimmed", Severity.LEAD, "breach", id="lost"),
        pytest.param("repeated_call", Severity.FAULT, "warn", id="repeats"),
        pytest.param("empty_result", Severity.FAULT, "bad", id="a fault"),
    ],
)
def test_a_finding_has_one_colour_by_what_it_says(
    detector: str, severity: Severity, tone: str
) -> None:
    assert finding_tone(detector, severity) == tone
