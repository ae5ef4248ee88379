"""Starting and stopping one child process that must not outlive its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_PDEATHSIG = 1
LOG_BYTES = 5 * 2**20


class LocalError(Exception):
    """Something that the person at the terminal can mend; the message says how."""


@dataclass(frozen=True)
class Account:
    """The account that a server runs under, when it may not run as root."""

    name: str
    uid: int
    gid: int

    @staticmethod
    def unprivileged() -> Account | None:
        """None unless this process is root: then `postgres` where there is one, else `nobody`."""
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            with contextlib.suppress(KeyError):
                entry = pwd.getpwnam(name)
                return Account(name, entry.pw_uid, entry.pw_gid)
        raise LocalError("PostgreSQL does not run as root, and there is no account `nobody` here.")

    def reaches(self, folder: Path) -> bool:
        """Whether this account can pass through every folder down to `folder`, which must exist."""
        return self.stopped_at(folder) is None

    def stopped_at(self, folder: Path) -> Path | None:
        """The first folder on the way down to `folder` that this account cannot pass."""
        for step in reversed((folder.resolve(), *folder.resolve().parents)):
            status = step.stat()
            own = status.st_uid == self.uid and status.st_mode & 0o100
            if not (own or status.st_mode & 0o001):
                return step
        return None


def _leash(death_signal: int) -> Callable[[], None] | None:
    """What a child does between fork and exec: ask for a signal at the death of its parent.

    The kernel's tie is to the thread that forked, so children are started from the main thread. A
    parent that died before the tie was made is noticed by the changed parent id.
    """
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def tie() -> None:
        libc.prctl(PR_SET_PDEATHSIG, death_signal)
        if os.getppid() != parent:
            os._exit(1)

    return tie


@dataclass
class Child:
    """One server as this process started it. `stop_signal` also comes when this process dies."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] | None = None
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    text: str | None = None
    folder: Path | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)

    def start(self) -> None:
        """Start it in a session of its own, so that Ctrl-C reaches the supervisor alone.

        `text` is what it reads on standard input. Output is appended to the log.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        keep_short(self.log)
        with self.log.open("ab") as log:
            account = self.account
            process = self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL if self.text is None else subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self.environment,
                cwd=self.folder,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
                start_new_session=True,
                preexec_fn=_leash(self.stop_signal),
            )
        if self.text is not None and process.stdin:
            with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
                stdin.write(self.text.encode())

    def end_remnants(self) -> None:
        """End what is left of its session after it ended by itself: a killed web server leaves a
        process that holds the port."""
        if self.process is not None and not self.running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def ask_to_stop(self) -> None:
        if self.process is not None and self.running:
            self.process.send_signal(self.stop_signal)

    def wait_until(self, ready: Callable[[], bool], *, patience: float) -> float:
        """Seconds until `ready()` was true; `LocalError` when it ends or `patience` (s) is over."""
        began = time.monotonic()
        while not ready():
            if not self.running:
                raise LocalError(f"{self.name} did not start: {self.last_words()}")
            if time.monotonic() - began > patience:
                raise LocalError(
                    f"{self.name} is not ready after {patience:.0f} s: {self.last_words()}"
                )
            time.sleep(0.03)
        return time.monotonic() - began

    def last_words(self) -> str:
        """The end of its log, and where to read more."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:]
        return f"{' / '.join(lines) or 'it said nothing'} (all of it in {self.log})"

    def stop(self, *, patience: float = 20) -> None:
        """Ask it to end; after `patience` seconds end it and all of its session."""
        self.ask_to_stop()
        if self.process is None:
            return
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def keep_short(log: Path) -> None:
    """Move a log's content to `NAME.1` once it is over 5 MiB. Writers append, so they go on."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > LOG_BYTES:
            log.with_name(log.name + ".1").write_bytes(log.read_bytes()[-LOG_BYTES:])
            os.truncate(log, 0)
