"""Installing and starting a peer: as an administrator would first start it, in a place of its own.

One process, SQLite or files, an environment below `.agentdesk/peers` that stays, data in a folder
that goes. What cannot be had is told as an `AwayError`, which a measurement prints and passes by.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from agentdesk.local import ports
from agentdesk.local.process import Child, LocalError

ENVIRONMENTS = Path(__file__).resolve().parents[2] / ".agentdesk" / "peers"
INSTALL_SECONDS = 900
START_SECONDS = 300.0
ERROR_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Peer:
    """A product: what to install, how to start it on a port with its data in a folder, and the page
    that answers 200 once it has started.
    """

    name: str
    requirement: str
    command: Callable[[Path, int], list[str]]
    environment: Callable[[Path, int], dict[str, str]]
    ready: str = "/"


@dataclass(frozen=True, slots=True)
class Running:
    """A peer that has started."""

    child: Child
    programs: Path
    folder: Path
    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class AwayError(Exception):
    """A peer cannot be measured here; the message says why, in one line."""


@contextmanager
def running(peer: Peer) -> Iterator[Running]:
    """The peer, installed and started; `AwayError` where that cannot be done."""
    programs = installed(peer)
    port = ports.any_free()
    with tempfile.TemporaryDirectory(prefix="agentdesk-peer-") as name:
        folder = Path(name)
        command = peer.command(folder, port)
        child = Child(
            name=peer.name,
            command=[str(programs / command[0]), *command[1:]],
            log=folder / "log" / "peer.log",
            environment={**os.environ, **peer.environment(folder, port)},
            folder=folder,
        )
        try:
            child.start()
            child.wait_until(lambda: _answers(port, peer.ready), patience=START_SECONDS)
            yield Running(child, programs, folder, port)
        except (OSError, LocalError) as error:
            raise AwayError(_in_one_line(str(error))) from error
        finally:
            child.stop()


def installed(peer: Peer) -> Path:
    """The folder of the programs of a peer's own environment, which is made where it is missing."""
    folder = ENVIRONMENTS / peer.requirement.replace("==", "-")
    programs = folder / "bin"
    done = folder / "installed"
    if done.exists():
        return programs
    uv = str(Path(sys.executable).with_name("uv"))
    python = str(programs / "python")
    for command in (
        [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
        [uv, "pip", "install", "--quiet", "--python", python, peer.requirement],
    ):
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AwayError(f"it cannot be installed: {type(error).__name__}") from None
        if run.returncode:
            raise AwayError(f"it cannot be installed: {_in_one_line(run.stderr)}")
    done.touch()
    return programs


def _answers(port: int, page: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with suppress(OSError, http.client.HTTPException), closing(connection):
        connection.request("GET", page)
        return connection.getresponse().status == http.client.OK
    return False


def _in_one_line(text: str) -> str:
    return " ".join(text.split())[-ERROR_LENGTH:]
