from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transcripts.masking import MaskedText, Masker, MaskingError, RunKey, engine, masked_text
from transcripts.masking.rulefiles import rule_set
from transcripts.record import (
    Call,
    InputChange,
    Message,
    Opaque,
    Orphan,
    Placed,
    Round,
    RunRecord,
    Stop,
    Tool,
)

KEY = b"a masking key for tests, 32 byte"
GITHUB = "ghp_IqRfN7nCg1sZ4vK9yWbX0aTu8oEhLd2JmPxS"
PASSWORD = "Orchid.4417"


def masker(**change) -> Masker:
    return Masker(**{"key": KEY, "project": "helpdesk", "run": "vpn-20931", **change})


def a_run(secret: str = PASSWORD) -> RunRecord:
    """A run that holds `secret` in every place that can hold text."""
    pair = f"password={secret}"
    return RunRecord(
        run_id="vpn-20931",
        title=pair,
        labels={"team": pair, pair: "x"},
        notes=(pair,),
        ending_reason=pair,
        messages=(Message("m1", "user", pair, name=pair, opaque=(Opaque("part", f'"{pair}"'),)),),
        tools=(Tool("reset", pair, json.dumps({"description": pair})),),
        rounds=(
            Round(
                1,
                Stop.WANTS_TOOL,
                reply=pair,
                reasoning=pair,
                error=pair,
                calls=(
                    Call("reset", json.dumps({"password": secret}), json.dumps({"pwd": secret})),
                    Call("broken", f'{{"password": "{secret}", "user": "jd', pair, id=pair),
                ),
                input=InputChange((Placed("m1"),)),
                orphans=(Orphan("c9", pair),),
                opaque=(Opaque("thinking", json.dumps({"text": pair})),),
            ),
        ),
    )


def strings(value):
    """Every string in a record, enum members apart."""
    if isinstance(value, Enum):
        return
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from strings(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for pair in value.items():
            for item in pair:
                yield from strings(item)


def test_every_string_of_a_run_is_masked_text():
    masked = masker().run(a_run())

    found = list(strings(masked.record))
    assert len(found) > 30
    assert [text for text in found if not isinstance(text, MaskedText)] == []


def test_no_field_of_a_run_keeps_the_secret():
    masked = masker().run(a_run())

    assert [text for text in strings(masked.record) if PASSWORD in text] == []


def test_a_run_keeps_its_shape_and_what_is_no_secret():
    masked = masker().run(a_run()).record

    assert masked.run_id == "vpn-20931"
    assert masked.rounds[0].stop is Stop.WANTS_TOOL
    assert masked.rounds[0].calls[0].name == "reset"
    assert set(json.loads(masked.rounds[0].calls[0].args)) == {"password"}


def test_the_receipt_counts_hits_by_rule():
    masked = masker().run(RunRecord("r", notes=(f"token {GITHUB}", "nothing here")))

    assert masked.receipt.hits == {"betterleaks.github-pat": 1}
    assert masked.receipt.rule_set == rule_set()


def test_one_secret_is_one_placeholder_in_a_run():
    one = masker()

    first = one.text(f"use {GITHUB} today")
    second = masker().text(f"GITHUB_TOKEN={GITHUB}")

    assert first[4:-6] in second


@pytest.mark.parametrize("change", [{"run": "other"}, {"project": "other"}, {"key": b"k" * 32}])
def test_placeholders_of_two_runs_cannot_be_joined(change):
    assert masker().text(GITHUB) != masker(**change).text(GITHUB)


def test_a_short_key_is_refused():
    with pytest.raises(ValueError, match="at least 16"):
        masker(key=b"short")


def test_json_stays_json_and_keeps_its_form():
    text = '{"user" : "jdoe", "a": 1.50, "a": 1e3, "password": "hun\\"ter\\u00e42", "ok": true}'

    masked = masker().json_text(text)

    assert masked.startswith('{"user" : "jdoe", "a": 1.50, "a": 1e3, "password": "[SECRET:')
    assert masked.endswith('", "ok": true}')
    json.loads(masked)


def test_a_number_under_a_sensitive_name_becomes_a_string():
    masked = masker().json_text('{"args": "{\\"pin\\": 4417}", "otp": 123456}')

    outer = json.loads(masked)
    assert outer["otp"].startswith("[SECRET:code:")
    assert json.loads(outer["args"])["pin"].startswith("[SECRET:code:")


def test_a_failing_engine_fails_closed(monkeypatch):
    def broken(*_args):
        raise RuntimeError(GITHUB)

    monkeypatch.setattr(engine, "scan", broken)

    with pytest.raises(MaskingError) as caught:
        masker().text(f"use {GITHUB}")
    assert GITHUB not in str(caught.value)


def test_an_allowed_value_stays():
    key = masker()._key

    allowed = {key.allowed_digest(GITHUB)}

    assert masker(allowed=allowed).text(f"use {GITHUB}") == f"use {GITHUB}"
    assert masker(allowed=allowed, project="other").text(GITHUB) != GITHUB


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                f"password: {PASSWORD}",
                GITHUB,
                "[SECRET:token:0011aabb]",
                " ",
                "\n",
                '"',
                "}",
                '{"pwd": "x9!kk"}',
                "postgres://a:S3cr3t!x@h/d",
                "&amp;",
                "%20",
                "\u200b",
                "the key is",
                "Authorization: Bearer q8Zt4kP0sLw2VbYx71nRcDf5",
            ]
        ),
        max_size=8,
    ).map("".join)
)
def test_masking_twice_changes_nothing(text):
    once = masker().text(text)

    assert str(masker().text(str(once) + "")) == once


def test_a_ticket_of_a_known_secret_tells_what_the_allow_list_keeps():
    key = RunKey.derive(master=KEY, project="p", run="r")
    one = Masker(key=KEY, project="p", run="r")
    one.text("password=Orchid_4417")

    ((digest, told),) = one.known.items()
    family, _, ticket = told.partition(":")

    assert (digest, family) == (key.digest("Orchid_4417"), "password")
    assert key.allowed_of(ticket) == key.allowed_digest("Orchid_4417")
    other = RunKey.derive(master=KEY, project="p", run="other")
    assert other.allowed_of(ticket) is None
    assert other.ticket("Orchid_4417") != ticket


def test_only_what_was_not_known_is_news():
    first = Masker(key=KEY, project="p", run="r")
    first.text("password=Orchid_4417")
    again = Masker(key=KEY, project="p", run="r", known=first.known)

    again.text("password=Orchid_4417")
    old = masked_text("the Orchid_4417 and the Kestrel.8812 of before")

    assert (first.news, again.news) == (1, 0)
    assert again.caught_up(old) is old
    again.text("password=Kestrel.8812")
    assert "Kestrel" not in again.caught_up(old)
