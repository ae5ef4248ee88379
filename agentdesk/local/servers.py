"""The database and the queue of one start: servers of our own, or those that the person named."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from agentdesk.environment import read_env_file
from agentdesk.local import ports
from agentdesk.local.postgres import Postgres
from agentdesk.local.process import Child
from agentdesk.local.state import State
from agentdesk.local.valkey import Valkey

Say = Callable[[str, str], None]


@dataclass
class Servers:
    """What runs, and the variables that say where."""

    variables: dict[str, str] = field(default_factory=dict)
    children: list[Child] = field(default_factory=list)
    postgres: Postgres | None = None

    def stop(self) -> None:
        for child in reversed(self.children):
            child.stop()


def start_database(state: State, servers: Servers, say: Say) -> None:
    """Start our Postgres, unless DATABASE_URL names one."""
    if given := os.environ.get("DATABASE_URL"):
        say("postgres", f"{_without_password(given)} (DATABASE_URL)")
        servers.variables["DATABASE_URL"] = given
        return
    port, password = state.address("DATABASE_URL")
    known = read_env_file(state.services)
    postgres = Postgres(state.folder, port=ports.free_near(port), password=password)
    began = time.monotonic()
    # Written first: a data folder whose password is lost could not be opened again.
    state.write_services({**known, "DATABASE_URL": postgres.url})
    servers.children.append(postgres.start())
    servers.postgres = postgres
    servers.variables["DATABASE_URL"] = postgres.url
    seconds = time.monotonic() - began
    say(
        "postgres",
        f"{postgres.binaries} on port {postgres.port}, data in {_short(postgres.data)}"
        f"{f', as {postgres.account.name}' if postgres.account else ''} ({seconds:.1f} s)",
    )


def start_queue(state: State, servers: Servers, say: Say) -> None:
    """Start our Valkey or Redis, unless REDIS_URL names one."""
    if given := os.environ.get("REDIS_URL"):
        say("queue", f"{_without_password(given)} (REDIS_URL)")
        servers.variables["REDIS_URL"] = given
        return
    port, password = state.address("REDIS_URL")
    valkey = Valkey(state.folder, port=ports.free_near(port), password=password)
    began = time.monotonic()
    servers.children.append(valkey.start())
    servers.variables["REDIS_URL"] = valkey.url
    say("queue", f"{valkey} on port {valkey.port} ({time.monotonic() - began:.1f} s)")


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname or 'local socket'}:{parts.port or 'default port'}{parts.path}"


def _short(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
