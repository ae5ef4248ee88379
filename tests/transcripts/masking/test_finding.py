from __future__ import annotations

import base64
import time

import pytest

from tests.transcripts.masking.builders import GITHUB, PASSWORD, STRIPE, a_masker, found, masked
from transcripts.masking import PLACEHOLDER, budget
from transcripts.masking.finding import CHUNK
from transcripts.masking.options import Options
from transcripts.record import RunRecord

PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(["MIIEpAIBAAKCAQEA1c7T9xQ2Vb6wLr0Zs8fYk3NdHgJm5uPqXo4tRi7CvWlBaEyK"] * 6)
    + "\n-----END RSA PRIVATE KEY-----"
)

ENCODED = {
    "zero width": GITHUB[:9] + "\u200b" + GITHUB[9:],
    "soft hyphen": GITHUB[:9] + "\u00ad" + GITHUB[9:],
    "html entities": "".join(f"&#{ord(c)};" if i % 3 == 0 else c for i, c in enumerate(GITHUB)),
    "percent": GITHUB.replace("_", "%5F"),
    "percent twice": GITHUB.replace("_", "%255F"),
    "unicode escapes": GITHUB.replace("_", "\\u005f"),
    "line break": GITHUB[:30] + "\n" + GITHUB[30:],
    "quoted line break": GITHUB[:30] + "\r\n> " + GITHUB[30:],
    "base64": base64.b64encode(f"GITHUB_TOKEN={GITHUB}\n".encode()).decode(),
    "base64 twice": base64.b64encode(base64.b64encode(f"token: {GITHUB}".encode())).decode(),
    "base64 of utf-16": base64.b64encode(f"$t = '{GITHUB}'".encode("utf-16-le")).decode(),
}


@pytest.mark.parametrize("written", ENCODED.values(), ids=ENCODED.keys())
def test_an_encoded_token_is_masked_whole(written):
    assert found(f"see {written} there") == [written]


@pytest.mark.parametrize(
    "written", [ENCODED[name] for name in ("zero width", "html entities", "percent twice")]
)
def test_one_secret_has_one_id_however_it_is_written(written):
    assert masked(f"x {written} y") == masked(f"x {GITHUB} y")


def test_a_private_key_is_masked_whole():
    assert found(f"key:\n{PEM}\nthanks") == [PEM]


def test_a_private_key_that_is_cut_off_is_masked_to_its_end():
    cut = PEM[:300]

    assert "MII" not in masked(f"key:\n{cut}")


def test_source_code_that_names_the_lines_of_a_key_stays():
    text = (
        'START = b"-----BEGIN OPENSSH PRIVATE KEY-----"\nEND = b"-----END OPENSSH PRIVATE KEY-----"'
    )

    assert found(text) == []


@pytest.mark.parametrize("shift", range(-45, 6, 5))
def test_a_secret_on_the_cut_of_two_pieces_is_masked(shift):
    text = "word " * (CHUNK // 5 + 100)
    at = CHUNK + shift
    text = text[:at] + f" {GITHUB} " + text[at:]

    assert GITHUB not in masked(text)


def test_a_value_that_one_text_gives_away_is_masked_before_and_after():
    one = a_masker()
    texts = [f"it says {PASSWORD} here", f"password={PASSWORD}", f"and again ({PASSWORD})"]

    out = one.run(RunRecord("r", notes=tuple(texts))).record.notes

    assert not any(PASSWORD in text for text in out)
    assert len({PLACEHOLDER.search(text).group() for text in out}) == 1


def test_known_values_of_an_earlier_delivery_are_masked_and_hold_no_plain_text():
    first = a_masker()
    first.text(f"password={PASSWORD}")

    assert PASSWORD not in repr(first.known)
    again = masked(f"I typed {PASSWORD}, it failed", known=first.known)
    assert again == f"I typed {masked('password=' + PASSWORD)[9:]}, it failed"
    assert masked(f"I typed {PASSWORD}, it failed", known=first.known, run="other").count("[") == 0


def test_short_and_plain_values_are_not_looked_for_everywhere():
    one = a_masker()
    one.text("the PIN is 4417")

    assert one.text("room 4417, round 4417") == "room 4417, round 4417"


def test_numbers_that_are_no_cards_stay():
    assert found("order 4111111111111112, card 4111 1111 1111 1111") == ["4111 1111 1111 1111"]


def test_an_account_number_is_masked_to_its_end():
    assert found("to DE89 3704 0044 0532 0130 00 please") == ["DE89 3704 0044 0532 0130 00"]


def test_addresses_and_phones_are_a_choice():
    text = "mail jdoe@acme.example or +49 221 5550100"

    assert found(text) == []
    out = masked(text, options=Options(email=True, phone=True))
    assert "jdoe" not in out
    assert "5550100" not in out


def test_own_names_are_a_choice():
    assert "Meier" in masked('{"surname": "Meier"}')
    assert "Meier" not in masked(
        '{"surname": "Meier"}', options=Options(names=frozenset({"surname"}))
    )


HOSTILE = {
    "names": "password=",
    "quotes": 'password="',
    "sentences": "my password is ",
    "keys": "-----BEGIN RSA PRIVATE KEY-----\n",
    "addresses": "https://a:b@c ",
    "tokens": f"{STRIPE} ",
    "entities": "&amp;",
    "zero width": "a\u200b",
    "blobs": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo= ",
    "tables": "| password |\n",
    "placeholders": "[SECRET:",
    "backslashes": "\\",
    "brackets": "[",
    "lone surrogates": "\ud800",
    "zero bytes": "\0",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_masked_or_given_up_in_time(piece):
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    one = a_masker()
    one.text("warm")

    started = time.thread_time()
    out = one.text(text)

    assert time.thread_time() - started < 2.0
    assert out.startswith("[SECRET:unscanned:") or STRIPE not in out


def test_a_text_past_its_time_is_replaced_as_a_whole(monkeypatch):
    monkeypatch.setattr(budget, "SECONDS_AT_LEAST", -1.0)
    monkeypatch.setattr(budget, "SECONDS_PER_CHARACTER", 0.0)

    assert masked("a long: text 1" * 20).startswith("[SECRET:unscanned:")
    assert str(a_masker().json_text('{"a": "b c d 1"}')).startswith('"[SECRET:unscanned:')
