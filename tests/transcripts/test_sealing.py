"""Sealed bodies: opened by their keys and names alone."""

from __future__ import annotations

from typing import Any

import pytest

from transcripts.sealing import HEADER_BYTES, SealError, seal, unseal

BODY = b'{"password": "correct horse"}' * 50


def test_what_is_sealed_can_be_opened() -> None:
    assert unseal(seal(BODY, name=b"d1"), name=b"d1") == BODY


def test_an_empty_body_can_be_sealed() -> None:
    assert unseal(seal(b"", name=b"d1"), name=b"d1") == b""


def test_nothing_of_it_can_be_read() -> None:
    sealed = seal(BODY, name=b"d1")

    assert b"correct" not in sealed
    assert len(sealed) < len(BODY)


def test_the_same_body_is_never_sealed_the_same() -> None:
    assert seal(BODY, name=b"d1") != seal(BODY, name=b"d1")


def test_a_body_cannot_be_moved_to_another_name() -> None:
    with pytest.raises(SealError, match="another delivery"):
        unseal(seal(BODY, name=b"d1"), name=b"d2")


@pytest.mark.parametrize("at", [0, 1, 5, HEADER_BYTES, -1])
def test_a_changed_byte_is_noticed(at: int) -> None:
    sealed = bytearray(seal(BODY, name=b"d1"))
    sealed[at] ^= 1

    with pytest.raises(SealError):
        unseal(bytes(sealed), name=b"d1")


def test_an_older_key_still_opens(settings: Any) -> None:
    old, new = b"o" * 32, b"n" * 32
    settings.AGENTDESK_MASTER_KEYS = (old,)
    sealed = seal(BODY, name=b"d1")

    settings.AGENTDESK_MASTER_KEYS = (new, old)
    assert unseal(sealed, name=b"d1") == BODY

    settings.AGENTDESK_MASTER_KEYS = (new,)
    with pytest.raises(SealError, match="AGENTDESK_MASTER_KEYS"):
        unseal(sealed, name=b"d1")
