from __future__ import annotations

import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from agentdesk.local import ports
from agentdesk.local.backup import backup, restore
from agentdesk.local.postgres import Postgres
from agentdesk.local.process import LocalError
from agentdesk.local.state import State

pytestmark = pytest.mark.services


@pytest.fixture(autouse=True)
def no_given_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.delenv("SECRET_KEY")
    monkeypatch.delenv("AGENTDESK_MASTER_KEYS")


@pytest.fixture
def state(reached_by_others: Path) -> State:
    """A state whose database holds one row."""
    state = State(reached_by_others / "one")
    state.prepare()
    server = Postgres(state.folder, port=ports.any_free(), fast=True)
    state.write_services({"DATABASE_URL": server.url})
    child = server.start()
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept (text text)")
        connection.execute("INSERT INTO kept VALUES ('as it was')")
    child.stop()
    return state


def rows(state: State) -> Iterator[str]:
    port, password = state.address("DATABASE_URL")
    server = Postgres(state.folder, port=port or 0, password=password, fast=True)
    child = server.start()
    with psycopg.connect(server.url) as connection:
        yield from (text for (text,) in connection.execute("SELECT text FROM kept"))
    child.stop()


def test_a_backup_comes_back_on_another_machine(
    state: State, reached_by_others: Path, tmp_path: Path
) -> None:
    other = State(reached_by_others / "other")
    file = tmp_path / "backup.tar"

    said = backup(state, file)
    restore(other, file, replace=False)

    assert "with its keys" in said
    assert list(rows(other)) == ["as it was"]
    assert other.secrets.read_bytes() == state.secrets.read_bytes()
    assert stat.S_IMODE(other.secrets.stat().st_mode) == 0o600


def test_a_backup_is_for_its_owner_alone(state: State, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar"

    backup(state, file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with tarfile.open(file) as tar:
        assert tar.getnames() == ["backup.json", "database.dump", "secrets.env"]


def test_a_backup_overwrites_nothing(state: State, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar"
    file.write_text("precious")

    with pytest.raises(LocalError, match="is there already"):
        backup(state, file)

    assert file.read_text() == "precious"


def test_data_that_are_there_are_replaced_only_if_told_so(state: State, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar"
    backup(state, file)
    port, password = state.address("DATABASE_URL")
    server = Postgres(state.folder, port=port or 0, password=password, fast=True)
    child = server.start()
    with psycopg.connect(server.url) as connection:
        connection.execute("UPDATE kept SET text = 'changed since'")
    child.stop()

    with pytest.raises(LocalError, match="--replace"):
        restore(state, file, replace=False)
    assert list(rows(state)) == ["changed since"]

    restore(state, file, replace=True)
    assert list(rows(state)) == ["as it was"]


def test_a_broken_backup_changes_nothing(state: State, tmp_path: Path) -> None:
    good, broken = tmp_path / "good.tar", tmp_path / "broken.tar"
    backup(state, good)
    with tarfile.open(good) as source, tarfile.open(broken, "w") as target:
        for member in source:
            content = source.extractfile(member)
            member.size = member.size // 2 if member.name == "database.dump" else member.size
            target.addfile(member, content)

    with pytest.raises(LocalError, match="pg_restore failed"):
        restore(state, broken, replace=True)

    assert list(rows(state)) == ["as it was"]


def test_other_keys_are_kept_beside(state: State, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar"
    backup(state, file)
    before = state.secrets.read_text()
    state.secrets.write_text("SECRET_KEY=another\n")

    restore(state, file, replace=True)

    assert state.secrets.read_text() == before
    assert (state.folder / "secrets.env.before-restore").read_text() == "SECRET_KEY=another\n"


@pytest.mark.parametrize("content", [None, b"no tar", b""], ids=["missing", "no tar", "empty"])
def test_what_is_no_backup_is_refused(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "backup.tar"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(LocalError, match=r"no file|no backup"):
        restore(State(tmp_path / "state"), file, replace=False)


def test_a_running_supervisor_keeps_a_restore_out(state: State, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar"
    backup(state, file)

    with state.held(), pytest.raises(LocalError, match="already runs"):
        restore(state, file, replace=True)
