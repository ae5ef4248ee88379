from __future__ import annotations

from analysis.pages.strip_drawing import TONES, strip_paths
from analysis.strip import WORST_FIRST


def test_nothing_to_draw() -> None:
    assert strip_paths("") is None


def test_every_character_of_the_strip_has_a_tone() -> None:
    assert set(TONES) == set(WORST_FIRST)


def test_cells_of_one_tone_are_one_path() -> None:
    drawn = strip_paths("..orr")

    assert drawn is not None
    assert drawn.cells == 5
    assert [tone for tone, _ in drawn.paths] == ["odd", "repeat", "wants"]
    assert dict(drawn.paths)["odd"].count("M") == 1
    assert dict(drawn.paths)["repeat"].count("M") == 2


def test_long_strips_keep_their_width() -> None:
    short, long = strip_paths("." * 4), strip_paths("." * 64)

    assert short is not None
    assert long is not None
    assert (short.width, long.width) == (44, 210)
