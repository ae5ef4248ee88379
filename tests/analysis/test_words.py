from __future__ import annotations

import pytest

from analysis.detectors.reading.words import (
    count,
    duration,
    excerpt,
    listing,
    ordinal,
    quoted,
    rounds,
    span,
    times,
)
from analysis.words import without_quotes


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (count(1, "round"), "1 round"),
        (count(2, "round"), "2 rounds"),
        (count(1_200, "reply"), "1,200 replies"),
        (count(0, "call"), "0 calls"),
        (times(1), "once"),
        (times(2), "twice"),
        (times(12), "12 times"),
        (ordinal(3), "third"),
        (ordinal(11), "11th"),
        (ordinal(22), "22nd"),
        (ordinal(112), "112th"),
        (listing(["a"]), "a"),
        (listing(["a", "b"]), "a and b"),
        (listing(["a", "b", "c"]), "a, b and c"),
        (rounds([3]), "round 3"),
        (rounds([3, 5]), "rounds 3 and 5"),
        (rounds([1, 2, 3, 4, 5, 6]), "rounds 1, 2, 3, 4 and 2 more"),
        (span(3, 3), "round 3"),
        (span(3, 9), "rounds 3 to 9"),
        (duration(0.42), "0.4 s"),
        (duration(38), "38 s"),
        (duration(260), "4 min 20 s"),
        (duration(7_500), "2 h 5 min"),
    ],
)
def test_numbers_in_words(said: str, wanted: str) -> None:
    assert said == wanted


def test_an_excerpt_is_one_line_and_says_that_it_was_cut() -> None:
    assert excerpt("a\n  b") == "a b"
    assert excerpt("abcdef", 4) == "abc…"
    assert excerpt("x" + " " * 10_000).endswith("…")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        pytest.param(
            "Stopped from outside after 52 rounds: “cancelled: by Anna”. First odd round: 3, x.",
            "Stopped from outside after 52 rounds. First odd round: 3, x.",
            id="after a colon",
        ),
        pytest.param(
            "The same reply comes again (round 3): “Hm.”; 1 other reply comes too.",
            "The same reply comes again (round 3); 1 other reply comes too.",
            id="before a semicolon",
        ),
        pytest.param("It stops with: “no right", "It stops with", id="unclosed"),
        pytest.param("look answered “no” and goes on.", "look answered “…” and goes on.", id="in"),
        pytest.param("It is: “a” or “b”.", "It is: “…” or “…”.", id="needed by its sentence"),
    ],
)
def test_what_may_not_be_read_is_left_out(said: str, told: str) -> None:
    assert without_quotes(said) == told


def test_what_is_quoted_cannot_close_its_quotation() -> None:
    text = quoted("he said “secret” and “more")

    assert text.count("“") == text.count("”") == 1
    assert text.startswith("“")
    assert text.endswith("”")
