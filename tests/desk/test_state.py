from __future__ import annotations

import base64
import os
import stat
import time
from pathlib import Path

import pytest

from agentdesk.environment import read_env_file
from agentdesk.local import prepared
from agentdesk.local.process import LocalError
from agentdesk.local.state import State
from agentdesk.local.supervisor import down


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> State:
    monkeypatch.delenv("SECRET_KEY")
    monkeypatch.delenv("AGENTDESK_MASTER_KEYS")
    return State(tmp_path / "state")


def test_keys_are_made_once_and_for_their_owner_alone(state: State) -> None:
    state.prepare()
    first = state.secrets.read_text()
    state.prepare()

    made = read_env_file(state.secrets)
    assert state.secrets.read_text() == first
    assert stat.S_IMODE(state.secrets.stat().st_mode) == 0o600
    assert len(base64.urlsafe_b64decode(made["AGENTDESK_MASTER_KEYS"] + "=")) == 32
    assert len(made["SECRET_KEY"]) >= 50


def test_keys_of_the_environment_are_kept(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "given")

    state.prepare()

    assert read_env_file(state.secrets)["SECRET_KEY"] == "given"


def test_addresses_are_read_back(state: State) -> None:
    state.prepare()
    state.write_services({"DATABASE_URL": "postgresql://a:p%2Fw@127.0.0.1:5433/a"})

    assert state.address("DATABASE_URL") == (5433, "p/w")
    assert state.address("REDIS_URL") == (None, "")


def test_a_second_holder_is_refused_with_the_first_ones_address(state: State) -> None:
    state.prepare()

    with state.held():
        state.say_who(address="http://127.0.0.1:8700")
        with (
            pytest.raises(LocalError, match=rf"pid {os.getpid()}, http://127.0.0.1:8700"),
            state.held(),
        ):
            pass

    assert state.holder() is None


def test_a_stale_lock_file_holds_nothing(state: State) -> None:
    state.prepare()
    state.lock.write_text('{"pid": 1, "address": "http://127.0.0.1:8700"}')

    assert state.holder() is None
    with state.held():
        pass


class Data:
    """A Postgres of which only the data folder matters."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "postgres"
        self.data.mkdir()
        (self.data / "PG_VERSION").write_text("15")


def prepared_state(state: State, monkeypatch: pytest.MonkeyPatch) -> Data:
    """A state after its first start, with `ROOT` in a folder of its own."""
    state.prepare()
    monkeypatch.setattr(prepared, "ROOT", state.folder)
    (state.folder / "requirements.lock").write_text("one")
    (state.folder / "static").mkdir()
    (state.folder / "static" / "staticfiles.json").write_text("{}")
    data = Data(state.folder)
    prepared.note_prepared(state)
    later = time.time() + 5
    os.utime(state.folder / "prepared", (later, later))
    return data


def test_what_was_prepared_is_not_prepared_again(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = prepared_state(state, monkeypatch)

    assert prepared.is_prepared(state, data)


@pytest.mark.parametrize("change", ["packages", "static", "collected", "new data", "restored"])
def test_a_change_is_prepared_again(
    state: State, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    data = prepared_state(state, monkeypatch)

    if change == "packages":
        (state.folder / "requirements.lock").write_text("another")
    elif change == "static":
        (state.folder / "static" / "new.css").write_text("a {}")
    elif change == "collected":
        (state.folder / "static" / "staticfiles.json").unlink()
    elif change == "new data":
        later = time.time() + 10
        os.utime(data.data / "PG_VERSION", (later, later))
    else:
        prepared.forget_prepared(state)

    assert not prepared.is_prepared(state, data)


def test_a_database_of_others_is_always_looked_at(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared_state(state, monkeypatch)

    assert not prepared.is_prepared(state, None)


def test_down_where_nothing_runs(state: State, capsys: pytest.CaptureFixture[str]) -> None:
    assert down(state) == 0

    assert "does not run" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(LocalError, match="cannot be written"):
        State(tmp_path / "file" / "state").prepare()
