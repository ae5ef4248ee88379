from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcripts.templatetags.transcript import in_plain, json_shown, marked, shown

UNSEEN = ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\u00ad", "\u200b", "\u200f", "\u202e", "\u2066",
          "\u2028", "\ufeff", "\u3164", "\U000e0041", "\ud800"]  # fmt: skip


def test_markup_is_escaped() -> None:
    assert shown("<b>&amp;\"'") == "&lt;b&gt;&amp;amp;&quot;&#x27;"


@pytest.mark.parametrize("character", UNSEEN)
def test_what_has_no_shape_gets_one(character: str) -> None:
    html = shown(f"a{character}b")

    assert character not in html
    assert f"U+{ord(character):04X}</span>" in html
    assert in_plain(character) == f"⟦U+{ord(character):04X}⟧"


@pytest.mark.parametrize("text", ["tab\tand\nline", "Grüße 東京 عربى", "👍", "a\u2013b", "e\u0301"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert shown(text) == text
    assert in_plain(text) == text


def test_a_masked_secret_is_a_chip() -> None:
    html = shown("key [SECRET:aws_key:0123abcd]!")

    assert '<span class="secret hue5" data-secret="0123abcd"' in html
    assert in_text(html) == "key [SECRET:aws_key:0123abcd]!"


def in_text(html: str) -> str:
    """What a browser copies of it."""
    return re.sub("<[^>]*>", "", html)


def test_the_same_secret_is_the_same_chip() -> None:
    first, again, other = (
        shown(f"[SECRET:key:{ident}]") for ident in ("0123abcd", "0123abcd", "0123abce")
    )

    assert first == again != other


@pytest.mark.parametrize("text", ["key [SECRET:aws_k", "key [SECRET:", "key [SECRET:aws_key:0123"])
def test_a_placeholder_that_was_cut_off_is_a_chip_too(text: str) -> None:
    assert 'class="secret' in shown(text)
    assert shown(f"{text} and more") == f"{text} and more"


@pytest.mark.parametrize("words", ["secret", "key:0123", "0123abcd", "aws_key"])
def test_a_chip_is_marked_as_a_whole(words: str) -> None:
    html = marked("a [SECRET:aws_key:0123abcd] b", words)

    assert html.count("<mark>") == 1
    assert '<mark><span class="secret' in html
    assert in_text(html) == "a [SECRET:aws_key:0123abcd] b"


def test_what_only_looks_like_a_placeholder_is_text() -> None:
    assert shown("[SECRET:<b>:0123abcd]") == "[SECRET:&lt;b&gt;:0123abcd]"


def test_a_text_of_control_characters_does_not_grow_the_page_without_bound() -> None:
    assert shown("\u200b" * 5000).count("<span") == 60


@given(st.text())
def test_no_tag_comes_through(text: str) -> None:
    html = shown(text)

    rest = html.replace('<span class="ctl" title="', "")
    rest = re.sub('<span class="secret|</?[ib]>', "", rest)
    assert "<script" not in html.lower()
    assert rest.count("<") == rest.count("</span>")


def test_json_is_folded_by_depth() -> None:
    html = json_shown('{"a": {"b": [' + ", ".join(f'"{"x" * 30}{i}"' for i in range(9)) + "]}}")

    assert html.startswith("<details open><summary>1 field</summary>")
    assert html.count("<details>") == 2
    assert "9 items" in html


def test_json_in_text_is_escaped() -> None:
    html = json_shown('{"<b>key</b>": "<img src=x onerror=alert(1)>' + "x" * 80 + '"}')

    assert "<img" not in html
    assert "<b>" not in html


def test_short_json_and_no_json_stay_on_their_line() -> None:
    assert json_shown('{"a": 1}') == "{&quot;a&quot;: 1}"
    assert json_shown("[broken") == "[broken"
    assert json_shown("[" * 5000) == "[" * 5000


def test_places_are_marked_upper_and_lower_case_alike() -> None:
    assert marked("A <b> a", "a") == "<mark>A</mark> &lt;b&gt; <mark>a</mark>"
    assert marked("(a)", "(") == "<mark>(</mark>a)"
