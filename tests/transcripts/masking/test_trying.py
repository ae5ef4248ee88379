from __future__ import annotations

import pytest

from tests.transcripts.masking.builders import a_masker
from transcripts.masking import Options, own_rule
from transcripts.masking.finding import chosen_hits
from transcripts.masking.trying import pattern_text, tried_rule

TOKEN = "ghp_IqRfN7nCg1sZ4vK9yWbX0aTu8oEhLd2JmPxS"


def tried(pattern: str, *, must: str = "badge 12345", must_not: str = "page 12345", **more: str):
    return tried_rule("badge", pattern, **{"family": "badge", **more}, must=must, must_not=must_not)


def test_a_rule_that_keeps_its_examples_is_taken():
    assert tried(r"badge (\d{5})").family == "badge"


@pytest.mark.parametrize(
    ("pattern", "fields", "reason"),
    [
        (r"card (\d{5})", {}, "does not match the example that it must"),
        (r"(\d{5})", {}, "matches the example that it must not"),
        (r"[a-z0-9 ]{2,}", {"must_not": "-"}, "% of ordinary text"),
        (r"badge|\w+", {"must_not": "-"}, "% of ordinary text"),
        (r"badge (\d{5})|(?:[\w.-]\s?[acegik]){1,900}", {}, "too big"),
        (r"badge (\d{5})", {"family": "Big Family"}, "the family"),
        (r"badge (\d{5})", {"must": "badge 12345" + "." * 2000}, "2000 characters"),
        (r"\d*", {}, "empty text"),
    ],
)
def test_what_would_do_harm_is_refused_with_its_reason(pattern, fields, reason):
    with pytest.raises(ValueError, match=reason):
        tried(pattern, **fields)


def test_a_slow_pattern_is_refused(monkeypatch):
    monkeypatch.setattr("transcripts.masking.trying.PACE_SECONDS_PER_MB", 0)

    with pytest.raises(ValueError, match="for a text of 1 MB"):
        tried(r"badge (\d{5})")


@pytest.mark.parametrize("pattern", [r"token=(\w{20})", r"password: (\S+)", r"pin: ([0-9]{4})\b"])
def test_a_pattern_may_name_what_it_looks_for(pattern):
    assert pattern_text(pattern) == pattern


@pytest.mark.parametrize("pattern", [TOKEN, f"({TOKEN}|other)", "4539148803436467"])
def test_a_pattern_that_holds_a_secret_is_refused(pattern):
    with pytest.raises(ValueError, match="describe its form"):
        pattern_text(pattern)


def test_choices_are_found_in_masked_text_and_nothing_else():
    options = Options(email=True, names=frozenset({"desk"}), rules=(own_rule("b", r"badge (\d+)"),))
    text = a_masker().text(
        '{"desk": "B-12", "note": "badge 44 of ann@acme.example, password=Orchid_4417"}'
    )

    found = sorted(text[hit.start : hit.end] for hit in chosen_hits(text, options))

    assert found == ["44", "B-12", "ann@acme.example"]
    assert chosen_hits(text, Options()) == []


def test_an_own_rule_is_tried_on_the_shortest_texts_and_on_numbers():
    options = Options(
        rules=(own_rule("site", "site ([a-z]+)"), own_rule("badge", r"badge=(\d{5})"))
    )

    assert a_masker(options=options).text("site berlin").startswith("site [SECRET:own:")
    assert "44182" not in a_masker(options=options).text('{"badge": 44182}')
