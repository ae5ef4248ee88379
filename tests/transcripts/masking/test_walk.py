from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.transcripts.masking.builders import GITHUB, PASSWORD, a_masker, masked
from transcripts.masking.finding import CHUNK

NAMES = st.sampled_from(["user", "password", "note", "api_key", "value", "name", 'a"b', "ünï", ""])
TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from([PASSWORD, GITHUB, f"password={PASSWORD}", 'say "hi"\n', "C:\\x", "\ud800"]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(NAMES, inner, max_size=4),
        inner.map(json.dumps),
    ),
    max_leaves=12,
)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(VALUES, st.booleans())
def test_json_stays_json_of_the_same_shape(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)

    out = str(a_masker().json_text(text))

    assert same_shape(value, json.loads(out))


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(VALUES)
def test_masking_json_twice_changes_nothing(value):
    once = str(a_masker().json_text(json.dumps(value)))

    assert str(a_masker().json_text(once)) == once


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(VALUES)
def test_a_token_never_survives(value):
    out = str(a_masker().json_text(json.dumps({"deep": [value, {"x": GITHUB}]})))

    assert GITHUB not in out


def same_shape(before, after) -> bool:
    """Whether only strings, and numbers that became placeholders, differ."""
    if isinstance(before, dict):
        return (
            isinstance(after, dict)
            and len(before) >= len(after)
            and all(map(same_shape, before.values(), after.values()))
        )
    if isinstance(before, list):
        return (
            isinstance(after, list)
            and len(before) == len(after)
            and all(map(same_shape, before, after))
        )
    if isinstance(before, str):
        return isinstance(after, str)
    return before == after or (isinstance(after, str) and "[SECRET:" in after)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_json_inside_strings_is_read(depth):
    value = {"password": "hunter two x9"}
    for _ in range(depth):
        value = {"arguments": json.dumps(value)}

    out = json.loads(masked(json.dumps(value)))

    for _ in range(depth):
        out = json.loads(out["arguments"])
    assert out["password"].startswith("[SECRET:password:")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"newPassword": "kittens now"}, id="camel case, words"),
        pytest.param({"password": {"value": "Orchid.4417"}}, id="value inside"),
        pytest.param({"passwords": ["Orchid.4417", "Tulip.99"]}, id="list"),
        pytest.param({"name": "DB_PASSWORD", "value": "orchids"}, id="name beside value"),
        pytest.param([["X-Api-Key", "q8Zt4kP0sLw2"]], id="pair"),
        pytest.param({"lines": ["export TOKEN=" + GITHUB[:20], GITHUB[20:]]}, id="cut in a list"),
        pytest.param({"tokens": {GITHUB: {"owner": "jdoe"}}}, id="as a name"),
        pytest.param({"pin": 4417}, id="number"),
        pytest.param({"name": "pin", "value": 4417}, id="number beside its name"),
        pytest.param([["otp", 4417]], id="number in a pair"),
    ],
)
def test_what_a_name_gives_away_is_masked(value):
    out = masked(json.dumps(value))

    json.loads(out)
    for piece in ("kittens", "4417", "Tulip", "orchids", "q8Zt4", GITHUB[:20], GITHUB[20:]):
        assert piece not in out
    assert "[SECRET:" in out


@pytest.mark.parametrize(
    "value",
    [
        {"type": "object", "properties": {"password": {"type": "string", "minLength": 12}}},
        {"errors": {"password": "is too short, at least 14 characters"}},
        {"usage": {"prompt_tokens": 1822, "completion_tokens": 311}},
        {"id": "vpn-20931", "round": 40, "key": "INC-48213", "model": "gpt-4o-2024-08-06"},
        {"name": "reset_password", "parameters": {"user_id": "string"}},
    ],
)
def test_json_without_secrets_stays_as_it_is(value):
    text = json.dumps(value)

    assert masked(text) == text


def test_broken_json_is_masked_as_text():
    out = masked('{"password": "Orchid.4417", "user": "jd')

    assert PASSWORD not in out
    assert out.endswith('"user": "jd')


def test_deep_nesting_is_no_error():
    text = '{"a":' * 10_000 + f'"{GITHUB}"' + "}" * 10_000

    assert GITHUB not in masked(text)


def test_long_vectors_of_numbers_are_read_in_time():
    text = json.dumps({"embedding": [0.123456] * 100_000, "card": 4111111111111111})

    out = json.loads(masked(text))

    assert out["embedding"] == [0.123456] * 100_000
    assert out["card"].startswith("[SECRET:card:")


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(st.lists(st.integers(4, len(GITHUB) - 4), min_size=1, max_size=3, unique=True))
def test_a_token_cut_up_over_siblings_is_masked(cuts):
    edges = [0, *sorted(cuts), len(GITHUB)]
    pieces = [GITHUB[a:b] for a, b in pairwise(edges) if b - a >= 2]
    if "".join(pieces) != GITHUB:
        return

    out = str(a_masker().json_text(json.dumps({"out": ["the key is", *pieces, "."]})))

    assert not any(piece in out for piece in pieces if len(piece) > 6)
    assert isinstance(json.loads(out)["out"], list)


@settings(max_examples=25, deadline=None, suppress_health_check=SLOW)
@given(st.integers(-60, 20), st.sampled_from([GITHUB, f"password={PASSWORD}", "ключ " + GITHUB]))
def test_a_secret_across_two_pieces_of_a_long_text_is_masked(offset, secret):
    before = "all is well. " * (CHUNK // 13 + 1)
    out = masked(f"{before[: CHUNK + offset]} {secret} {before[:2000]}")

    assert GITHUB not in out
    assert PASSWORD not in out


@pytest.mark.parametrize("depth", [5, 60, 400])
def test_deep_json_is_masked_at_its_bottom(depth):
    text = '{"a": [' * depth + json.dumps({"password": PASSWORD, "k": GITHUB}) + "]}" * depth

    out = str(a_masker().json_text(text))

    assert PASSWORD not in out
    assert GITHUB not in out
    json.loads(out)


def test_wide_json_is_masked_at_its_end():
    wide = {f"field {n}": f"value {n}" for n in range(5000)}

    out = json.loads(str(a_masker().json_text(json.dumps({**wide, "password": PASSWORD}))))

    assert PASSWORD not in str(out["password"])
    assert out["field 4999"] == "value 4999"


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(st.text(alphabet="\u200b\u202e\u2066\ufeff\u0301é漢👍 \n", max_size=6), st.integers(4, 36))
def test_unseen_characters_in_a_token_do_not_hide_it(odd, at):
    unseen = "".join(sign for sign in odd if sign in "\u200b\u202e\u2066\ufeff")

    out = masked(f"{odd} token: {GITHUB[:at]}{unseen}{GITHUB[at:]} {odd}")

    assert GITHUB[:at] not in out or GITHUB[at:] not in out
