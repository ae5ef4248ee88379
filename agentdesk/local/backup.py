"""One file with everything: the database and, where this machine made them, its keys.

A tar file with `backup.json` (what it is), `database.dump` (pg_dump's custom format) and
`secrets.env`. Without the keys what is sealed could not be opened and digests would not match, so
they go along, and the file is readable by its owner alone.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from agentdesk.environment import read_env_file
from agentdesk.local import ports
from agentdesk.local.postgres import Postgres, all_binaries
from agentdesk.local.prepared import forget_prepared
from agentdesk.local.process import LocalError
from agentdesk.local.state import State

KIND = "agentdesk.backup/1"
ABOUT, DUMP, SECRETS = "backup.json", "database.dump", "secrets.env"


def backup(state: State, target: Path) -> str:
    """Write everything into `target`, which must not be there yet; returns a sentence."""
    if target.exists():
        raise LocalError(f"{target} is there already; name a new file.")
    with _database(state) as url, tempfile.TemporaryDirectory(prefix="agentdesk-") as folder:
        dump = Path(folder) / DUMP
        with psycopg.connect(url) as connection:
            server = connection.info.server_version // 10000
        _run(_tool("pg_dump", server), ["-Fc", "--no-owner", "--no-acl", "-f", str(dump)], url)
        about = {
            "kind": KIND,
            "made_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "postgres": server,
            "keys": state.secrets.exists(),
        }
        half = target.with_name(target.name + ".half")
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w") as tar:
            _add(tar, ABOUT, json.dumps(about, indent=2).encode())
            tar.add(dump, DUMP)
            if state.secrets.exists():
                _add(tar, SECRETS, state.secrets.read_bytes())
        half.rename(target)
    keys = "with its keys: keep it as safe as the data" if about["keys"] else "without keys"
    return f"{target} holds the database, {keys}."


def restore(state: State, source: Path, *, replace: bool) -> str:
    """Put a backup into the database; one that holds anything is replaced only if told so.

    Ours is replaced as a whole, after the backup has been read into a second one without an error.
    """
    with _opened(source) as tar, tempfile.TemporaryDirectory(prefix="agentdesk-") as folder:
        about = _about(tar, source)
        dump = Path(folder) / DUMP
        _extract(tar, DUMP, dump)
        state.folder.mkdir(parents=True, exist_ok=True)
        if not state.secrets.exists():
            _restore_keys(state, tar, Path(folder))
        with state.held(), _database(state) as url:
            _refuse_to_lose(url, replace=replace)
            target = url if os.environ.get("DATABASE_URL") else _second_database(url)
            tool = _tool("pg_restore", int(about["postgres"]))
            arguments = ["--no-owner", "--no-acl", "--exit-on-error", "--single-transaction"]
            _run(tool, [*arguments, "-d", _name(target), str(dump)], target)
            if target != url:
                _swap(target, url)
            forget_prepared(state)
            _restore_keys(state, tar, Path(folder))
    return f"The database is as it was at {about['made_at']}. Start it with ./desk up."


def _refuse_to_lose(url: str, *, replace: bool) -> None:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT FROM pg_tables WHERE schemaname = 'public' LIMIT 1")
        empty = found.fetchone() is None
    if empty:
        return
    if os.environ.get("DATABASE_URL"):
        raise LocalError("DATABASE_URL names a database that is not empty. Name a new one.")
    if not replace:
        raise LocalError(
            "The database is not empty. `./desk restore FILE --replace` puts the backup in "
            "its place."
        )


def _second_database(url: str) -> str:
    """Make an empty database beside ours; returns its address."""
    name = f"{_name(url)}_restored"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def _swap(restored: str, url: str) -> None:
    """Put the restored database in the place of ours."""
    names = {"new": sql.Identifier(_name(restored)), "old": sql.Identifier(_name(url))}
    with psycopg.connect(url, dbname="postgres", autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {old}").format(**names))
        connection.execute(sql.SQL("ALTER DATABASE {new} RENAME TO {old}").format(**names))


def _about(tar: tarfile.TarFile, source: Path) -> dict[str, Any]:
    try:
        member = tar.extractfile(ABOUT)
        about = dict(json.load(member)) if member else {}
    except (KeyError, ValueError):
        about = {}
    if about.get("kind") != KIND:
        raise LocalError(f"{source} is no backup made by ./desk backup.")
    return about


def _extract(tar: tarfile.TarFile, name: str, target: Path) -> None:
    """Copy one member out, whatever path or mode the archive gives it. `KeyError`: not there."""
    member = tar.extractfile(name)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        if member is not None:
            shutil.copyfileobj(member, file)


def _restore_keys(state: State, tar: tarfile.TarFile, folder: Path) -> None:
    """The backup's keys become this machine's. Others are kept beside, never thrown away."""
    found = folder / SECRETS
    try:
        _extract(tar, SECRETS, found)
    except KeyError:
        return
    if state.secrets.exists() and state.secrets.read_bytes() != found.read_bytes():
        state.secrets.rename(state.secrets.with_name("secrets.env.before-restore"))
    shutil.move(found, state.secrets)


@contextlib.contextmanager
def _opened(source: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(source) as tar:
            yield tar
    except FileNotFoundError:
        raise LocalError(f"There is no file {source}.") from None
    except tarfile.TarError:
        raise LocalError(f"{source} is no backup made by ./desk backup.") from None


@contextlib.contextmanager
def _database(state: State) -> Iterator[str]:
    """The address of the database: the one named, the one that runs, or ours, started for this."""
    if given := os.environ.get("DATABASE_URL"):
        yield given
        return
    port, password = state.address("DATABASE_URL")
    if (running := state.holder()) and running.get("address"):
        yield read_env_file(state.services)["DATABASE_URL"]
        return
    state.prepare()
    postgres = Postgres(state.folder, port=ports.free_near(port), password=password)
    known = read_env_file(state.services)
    state.write_services({**known, "DATABASE_URL": postgres.url})
    child = postgres.start()
    try:
        yield postgres.url
    finally:
        child.stop()


def _tool(name: str, server: int) -> Path:
    """A `pg_dump` or `pg_restore` that is as new as the server, or newer."""
    fitting = [b for b in all_binaries() if b.major >= server and (b.folder / name).exists()]
    if not fitting:
        raise LocalError(
            f"This needs {name} of PostgreSQL {server} or newer, which is not here. On Debian and "
            f"Ubuntu: apt-get install postgresql-client-{server}"
        )
    return min(fitting, key=lambda binaries: binaries.major).folder / name


def _name(url: str) -> str:
    return str(conninfo_to_dict(url)["dbname"])


def _run(tool: Path, arguments: list[str], url: str) -> None:
    """Run a client tool. The password goes by the environment, where no other person sees it."""
    variables = {"dbname": "PGDATABASE", "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT"}
    named = {
        variables.get(name, f"PG{name.upper()}"): str(value)
        for name, value in conninfo_to_dict(url).items()
    }
    answer = subprocess.run(
        [tool, *arguments], env={**os.environ, **named}, capture_output=True, text=True, check=False
    )
    if answer.returncode:
        raise LocalError(f"{tool.name} failed: {answer.stderr.strip()[-600:]}")


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o600
    tar.addfile(member, io.BytesIO(content))
