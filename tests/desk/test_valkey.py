from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from agentdesk.local import ports, valkey
from agentdesk.local.process import LocalError
from agentdesk.local.valkey import Valkey

pytestmark = pytest.mark.services


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Valkey]:
    server = Valkey(tmp_path, port=ports.any_free())
    child = server.start()
    yield server
    child.stop()


def test_it_answers_with_its_password(server: Valkey) -> None:
    with redis.Redis.from_url(server.url) as client:
        client.set("a", "b")

        assert client.get("a") == b"b"


def test_it_answers_nobody_without(server: Valkey) -> None:
    with (
        redis.Redis(port=server.port, retry=Retry(NoBackoff(), 0)) as client,
        pytest.raises(redis.exceptions.AuthenticationError),
    ):
        client.get("a")


def test_it_keeps_no_file(server: Valkey) -> None:
    with redis.Redis.from_url(server.url) as client:
        settings = client.config_get("*")

    assert settings["save"] == ""
    assert settings["appendonly"] == "no"


def test_its_password_stands_in_no_command_line(server: Valkey) -> None:
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]

    assert any(b"valkey" in line or b"redis-server" in line for line in lines)
    assert not any(server.password.encode() in line for line in lines)


def test_the_wheel_serves_where_none_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey.shutil, "which", lambda name: None)
    server = Valkey(tmp_path, port=ports.any_free())

    child = server.start()
    child.stop()

    assert server.binary == valkey.wheel_binary()
    assert str(server).startswith("Valkey ")


def test_without_any_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey.shutil, "which", lambda name: None)
    monkeypatch.setattr(valkey, "wheel_binary", lambda: None)

    with pytest.raises(LocalError, match="apt-get install redis-server"):
        valkey.find_binary()
