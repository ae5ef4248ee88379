"""What spares a text the search of a layer, or all of it, spares nothing that it would find."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transcripts.masking import Masker, Options, context, encoded, masker, numbers, own_rule, prose
from transcripts.masking.budget import Budget
from transcripts.masking.finding import Search, find
from transcripts.masking.fold import compiled, fold, gate, pattern
from transcripts.masking.rulefiles import text_rules

ALWAYS = compiled(b"")
NEVER = re.compile(r"(?!)")
PERSONAL = Options(email=True, phone=True)
# Pieces of which rules make something, beside signs that do not.
TELLING = [
    *(rule.must for rule in text_rules("context")),
    *(rule.must_not for rule in text_rules("context")),
    *("password", "Kennwort: ", "the pin is ", " 4417", "token=", "api_key: ", '"secret": "'),
    *("Orchid.4417", "login with ", "changed it to ", "use Xy7!kkkk as the password"),
    *("user: jdoe / hunter2!", "4111 1111 1111 1111", "DE89370400440532013000", "Cookie: sid="),
    *("--password ", "https://u:p4ss@x.example", "cGFzc3dvcmQ9T3JjaGlkLjQ0MTc="),
    *("is", " ", "\n", "|", ": ", "=", "-", "\u2212", "é", "“", "x", "7", "A", "==", "\0"),
]
texts = st.lists(
    st.one_of(st.sampled_from(TELLING), st.text(max_size=12)), min_size=1, max_size=8
).map("".join)
HEX = "0123456789abcdef"


def hexadecimal(size: int) -> st.SearchStrategy[str]:
    return st.text(HEX, min_size=size, max_size=size)


def with_dashes(text: str) -> str:
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


ids = st.one_of(
    hexadecimal(16),
    hexadecimal(32),
    hexadecimal(32).map(with_dashes),
    st.from_regex(masker.ID, fullmatch=True),
    # As bank accounts and cards begin, and as base64 of letters looks.
    st.builds("{}{:02}{}".format, st.sampled_from(["de", "ba", "ae"]), st.integers(0, 99),
              hexadecimal(28)),
    st.text("0123456789", min_size=16, max_size=16),
    st.text("adef56789", min_size=16, max_size=16),
)  # fmt: skip


def found_by(name: str, text: str) -> list[Any]:
    """What one layer finds in a text."""
    folded, budget = fold(text), Budget(10**9)
    if name == "context":
        return list(context.context_hits(text, folded, budget))
    if name == "prose":
        return list(prose.prose_hits(folded, budget))
    if name == "blobs":
        return list(encoded.blob_hits(text, lambda plain: "o" in plain))
    return list(numbers.number_hits(folded, PERSONAL))


def without_gates() -> Any:
    return (
        patch.object(numbers, "CARD_OR_IBAN", ALWAYS),
        patch.object(encoded, "LONG_WORD", ALWAYS),
        patch.object(context, "_any_context", lambda: ALWAYS),
        patch.object(prose._Words, "any", ALWAYS),
    )


@settings(max_examples=400, deadline=None)
@given(texts)
def test_a_layer_finds_the_same_behind_its_gate(text: str) -> None:
    with without_gates()[0], without_gates()[1], without_gates()[2], without_gates()[3]:
        wanted = {name: found_by(name, text) for name in ("context", "prose", "blobs", "numbers")}

    assert {name: found_by(name, text) for name in wanted} == wanted


@pytest.mark.parametrize("rule", text_rules("context"), ids=lambda rule: rule.id)
def test_the_gate_lets_through_what_a_rule_must_find(rule: Any) -> None:
    assert context._any_context().search(fold(rule.must))


def test_a_gate_matches_where_one_of_its_patterns_does() -> None:
    either = gate(pattern(r"(a+)b|x"), pattern(r"\bend\b"))

    assert [bool(either.search(text)) for text in (b"AAB", b"the end.", b"bends", b"a")] == [
        True, True, False, False,
    ]  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(ids)
def test_an_id_that_is_not_searched_holds_nothing(text: str) -> None:
    options = Options(email=True, phone=True)
    spared = Masker(key=b"k" * 32, project="p", run="r", options=options)._is_harmless(text)

    found = find(text, Search(Budget(len(text)), options)).hits

    assert not (spared and found)


def test_ids_are_spared_the_search() -> None:
    spared = ["5f3a9c01b2d4e6f7", "0af7651916cd43dd8448eb211c80319c", "call_7"]
    spared += ["123e4567-e89b-12d3-a456-426614174000"]
    searched = [
        "4111111111111111",
        "de89370400440532013000de89370400",
        "call_x7",
        "5f3a9c01b2d4e6f",
    ]

    plain = Masker(key=b"k" * 32, project="p", run="r")

    assert all(map(plain._is_harmless, spared))
    assert not any(map(plain._is_harmless, searched))


@pytest.mark.parametrize("value", ["correct-horse-battery", "5f3a9c01b2d4e6f7"])
def test_a_known_secret_is_masked_where_it_looks_harmless(value: str) -> None:
    first = Masker(key=b"k" * 32, project="p", run="r")
    first.look_through([(f'{{"password": "{value}"}}', True), (value, False)])
    later = Masker(key=b"k" * 32, project="p", run="r", known=first.known)

    assert value not in first.text(value)
    assert value not in later.text(value)


def test_a_projects_own_rule_reads_ids() -> None:
    options = Options(rules=(own_rule("spans", "5f3a[0-9a-f]{12}"),))

    text = Masker(key=b"k" * 32, project="p", run="r", options=options).text("5f3a9c01b2d4e6f7")

    assert text.startswith("[SECRET:own:")
