"""The state folder: keys, addresses, and the lock that keeps a second supervisor out."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from agentdesk.environment import read_env_file
from agentdesk.local.process import LocalError


class State:
    """`.agentdesk` or whatever AGENTDESK_STATE names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secrets = folder / "secrets.env"
        self.services = folder / "services.env"
        self.lock = folder / "up.lock"
        self.log = folder / "log"

    def prepare(self) -> None:
        """Make the folder, and keys where there are none. Keys are never made twice."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.log.mkdir(exist_ok=True)
            if not self.secrets.exists():
                write_private(self.secrets, {**new_secrets(), **_given_secrets()})
        except OSError as error:
            raise LocalError(f"{self.folder} cannot be written: {error.strerror}.") from None

    def address(self, variable: str) -> tuple[int | None, str]:
        """Port and password that an embedded server had last time; None and "" before the first."""
        parts = urlsplit(read_env_file(self.services).get(variable, ""))
        return parts.port, unquote(parts.password or "")

    def write_services(self, values: dict[str, str]) -> None:
        write_private(self.services, values)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Be the only supervisor of this folder. The kernel drops the lock with the process, so
        nothing stale is left by a kill."""
        with self.lock.open("a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LocalError(
                    f"Agentdesk already runs from {self.folder} ({self.holder_text()}). "
                    "`./desk down` stops it."
                ) from None
            try:
                yield
            finally:
                file.truncate(0)

    def say_who(self, **details: Any) -> None:
        """Note in the lock file who holds it: pid and address."""
        self.lock.write_text(json.dumps({"pid": os.getpid(), **details}), encoding="utf-8")

    def holder(self) -> dict[str, Any] | None:
        """Who holds the lock; None when nobody does. Empty while the holder is still starting."""
        try:
            file = self.lock.open("r", encoding="utf-8")
        except FileNotFoundError:
            return None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                with contextlib.suppress(ValueError):
                    return dict(json.loads(file.read()))
                return {}
        return None

    def holder_text(self) -> str:
        holder = self.holder() or {}
        parts = [f"pid {holder['pid']}"] if "pid" in holder else ["just starting"]
        return ", ".join([*parts, *([holder["address"]] if holder.get("address") else [])])


def new_secrets() -> dict[str, str]:
    key = base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")
    return {"SECRET_KEY": secrets.token_urlsafe(48), "AGENTDESK_MASTER_KEYS": key}


def _given_secrets() -> dict[str, str]:
    """Keys that the environment names are kept, so that a later start without them still opens."""
    names = ("SECRET_KEY", "AGENTDESK_MASTER_KEYS")
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def write_private(path: Path, values: dict[str, str]) -> None:
    """Replace a NAME=VALUE file in one step, readable by its owner alone."""
    half = path.with_name(path.name + ".half")
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in values.items())
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)
