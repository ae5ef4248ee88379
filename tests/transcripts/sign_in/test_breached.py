from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError

from agentdesk.environment import Environment, MalformedSetting
from transcripts.sign_in.breached import BreachedPasswordValidator, is_listed

WORDS = [f"known-password-{n}" for n in range(500)]


def digests(words: list[str], length: int = 40, count: str = "") -> str:
    found = sorted(hashlib.sha1(word.encode()).hexdigest().upper()[:length] for word in words)
    return "".join(f"{digest}{count}\n" for digest in found)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(digests(WORDS), id="digests"),
        pytest.param(digests(WORDS, count=":12"), id="digests with counts"),
        pytest.param(digests(WORDS).lower(), id="small letters"),
        pytest.param(digests(WORDS, 12), id="prefixes"),
        pytest.param(digests(WORDS).replace("\n", "\r\n"), id="lines of Windows"),
        pytest.param(digests(WORDS).rstrip("\n"), id="no last line end"),
        pytest.param("\n".join(WORDS), id="plain"),
        pytest.param("\r\n".join(WORDS) + "\r\n", id="plain, of Windows"),
    ],
)
def test_finds_each_and_no_other(tmp_path: Path, content: str) -> None:
    path = tmp_path / "list"
    path.write_bytes(content.encode())

    assert [word for word in WORDS if not is_listed(word, str(path))] == []
    others = [f"other-{n}" for n in range(500)] + ["known-password", "known-password-", "1", ""]
    assert [word for word in others if is_listed(word, str(path))] == []


@pytest.mark.parametrize("content", ["", "\n", "one-alone"])
def test_short_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "list"
    path.write_text(content)

    assert not is_listed("another", str(path))
    assert is_listed("one-alone", str(path)) == (content == "one-alone")


def test_a_listed_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text(digests(WORDS))

    BreachedPasswordValidator(str(path)).validate("another-one")
    BreachedPasswordValidator().validate(WORDS[0])
    with pytest.raises(ValidationError, match="have leaked"):
        BreachedPasswordValidator(str(path)).validate(WORDS[0])


def test_a_list_that_cannot_be_read_stops_the_start() -> None:
    with pytest.raises(MalformedSetting, match="AGENTDESK_BREACHED_PASSWORDS"):
        Environment({"AGENTDESK_BREACHED_PASSWORDS": "/nowhere/list"}).file(
            "AGENTDESK_BREACHED_PASSWORDS"
        )
