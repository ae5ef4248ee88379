"""TCP ports of this machine: which are free, and who holds the others."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

LISTENING = "0A"


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def any_free() -> int:
    """A port that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def free_near(wanted: int | None) -> int:
    """`wanted` where it is free, else any."""
    return wanted if wanted and is_free(wanted) else any_free()


def holder(port: int) -> str:
    """Who listens on `port`, as `name (pid N)`; empty where that cannot be seen."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.add(f"socket:[{fields[9]}]")
    for process in Path("/proc").glob("[0-9]*") if inodes else ():
        with contextlib.suppress(OSError):
            if any(str(link.readlink()) in inodes for link in (process / "fd").iterdir()):
                name = (process / "comm").read_text(encoding="utf-8").strip()
                return f"{name} (pid {process.name})"
    return ""
