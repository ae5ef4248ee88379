"""`./desk up` for real, in a state folder of its own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from agentdesk.environment import read_env_file
from agentdesk.local import ports

# One worker of xdist runs them all, so that they share their starts.
pytestmark = [pytest.mark.services, pytest.mark.xdist_group("desk up")]
ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 90


class Desk:
    """`./desk` with one state folder and one port."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.port = ports.any_free()
        self.address = f"http://127.0.0.1:{self.port}"
        self.output = folder / "output"
        self.up_process: subprocess.Popen[bytes] | None = None
        given = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "AGENTDESK_MASTER_KEYS")
        kept = {k: v for k, v in os.environ.items() if k not in given}
        self.environment = {**kept, "AGENTDESK_STATE": str(self.state), "PYTHONPATH": str(ROOT)}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "agentdesk.local", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    def up(self) -> str:
        """Start it; returns what it printed until it said how to stop it."""
        with self.output.open("wb") as output:
            self.up_process = subprocess.Popen(
                self.command("up", "--port", str(self.port)),
                env=self.environment,
                stdout=output,
                stderr=output,
            )
        wait_until(lambda: "Ctrl-C stops it" in self.said() or not self.running)
        assert self.running, self.said()
        return self.said()

    def be_up(self) -> None:
        if not self.running:
            self.up()

    def be_down(self) -> None:
        if self.running:
            self.send(signal.SIGINT)

    def supervised(self, word: str) -> int:
        """The pid of the supervisor's own child whose command holds `word`."""
        assert self.up_process
        for pid, command in self.processes().items():
            parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
            if word in command and int(parent) == self.up_process.pid:
                return pid
        return 0

    def said(self) -> str:
        return self.output.read_text(encoding="utf-8")

    @property
    def running(self) -> bool:
        return self.up_process is not None and self.up_process.poll() is None

    def send(self, number: signal.Signals) -> int:
        assert self.up_process
        self.up_process.send_signal(number)
        return self.up_process.wait(PATIENCE)

    def processes(self) -> dict[int, str]:
        """All that runs from this state folder, by pid: by its command or its environment."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (path / "cmdline").read_bytes()
                mine = str(self.state).encode()
                if command and (mine in command or mine in (path / "environ").read_bytes()):
                    found[int(path.name)] = command.replace(b"\0", b" ").decode()
        return found

    def page(self, path: str) -> int:
        try:
            with urllib.request.urlopen(self.address + path, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0


def wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def desk(module_reached_by_others: Path) -> Iterator[Desk]:
    desk = Desk(module_reached_by_others)
    yield desk
    desk.run("down")
    for pid in desk.processes():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def first(desk: Desk) -> str:
    return desk.up()


def test_the_first_start_says_address_and_sign_in(desk: Desk, first: str) -> None:
    assert f"Agentdesk is at {desk.address}" in first
    assert re.search(r"Sign in as \S+@\S+ with the password \S{12,}", first)


def test_each_service_has_its_line(first: str) -> None:
    for name in ("postgres", "queue", "database", "web", "worker"):
        assert len(re.findall(rf"^\d\d:\d\d:\d\d  {name} ", first, flags=re.M)) == 1


def test_pages_are_served(desk: Desk, first: str) -> None:
    desk.be_up()
    assert desk.page("/healthz") == 200


def test_the_password_signs_in(desk: Desk, first: str) -> None:
    desk.be_up()
    found = re.search(r"Sign in as (\S+) with the password (\S+)", first)
    assert found
    code = (
        "import django, sys; django.setup()\n"
        "from django.contrib.auth import authenticate\n"
        "print(authenticate(email=sys.argv[1], password=sys.argv[2]))"
    )

    answer = subprocess.run(
        [sys.executable, "-c", code, *found.groups()],
        cwd=ROOT,
        env={**desk.environment, "DJANGO_SETTINGS_MODULE": "agentdesk.settings"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stdout.strip() == found.group(1)


def test_secrets_are_for_their_owner_alone(desk: Desk, first: str) -> None:
    for name in ("secrets.env", "services.env"):
        assert (desk.state / name).stat().st_mode & 0o077 == 0


def test_no_secret_stands_in_a_command_line_or_a_log(desk: Desk, first: str) -> None:
    desk.be_up()
    secrets = [
        *read_env_file(desk.state / "secrets.env").values(),
        *re.findall(r":([^:@/]+)@", (desk.state / "services.env").read_text()),
    ]
    logs = "".join(path.read_text() for path in (desk.state / "log").iterdir())

    assert len(secrets) == 4
    for secret in secrets:
        assert not any(secret in command for command in desk.processes().values())
        assert secret not in logs


def test_a_second_up_is_refused(desk: Desk, first: str) -> None:
    desk.be_up()

    answer = desk.run("up")

    assert answer.returncode == 1
    assert "already runs" in answer.stderr
    assert desk.address in answer.stderr
    assert desk.page("/healthz") == 200


def test_a_worker_that_is_killed_is_started_again(desk: Desk, first: str) -> None:
    desk.be_up()
    before = desk.supervised(" worker ")

    os.kill(before, signal.SIGKILL)

    wait_until(lambda: desk.supervised(" worker ") not in {0, before})
    assert "worker ended by itself; starting it again" in desk.said()


def test_a_web_server_that_is_killed_frees_its_port_and_is_started_again(
    desk: Desk, first: str
) -> None:
    desk.be_up()
    before = {pid for pid, command in desk.processes().items() if "granian" in command}
    assert len(before) == 2

    os.kill(desk.supervised("granian"), signal.SIGKILL)

    wait_until(lambda: not before & set(desk.processes()))
    wait_until(lambda: desk.page("/healthz") == 200)


def test_a_killed_supervisor_leaves_no_process_and_all_data(desk: Desk, first: str) -> None:
    desk.be_up()
    assert len(desk.processes()) >= 5

    desk.send(signal.SIGKILL)
    wait_until(lambda: not desk.processes())
    said = desk.up()

    assert "Sign in as" not in said
    assert " database " not in said
    url = read_env_file(desk.state / "services.env")["DATABASE_URL"]
    with psycopg.connect(url) as connection:
        users = connection.execute("SELECT count(*) FROM transcripts_user").fetchone()
    assert users == (1,)


def test_ctrl_c_stops_everything(desk: Desk, first: str) -> None:
    desk.be_up()

    assert desk.send(signal.SIGINT) == 0

    assert desk.said().rstrip().endswith("stopped")
    assert desk.processes() == {}


def test_down_stops_everything(desk: Desk, first: str) -> None:
    desk.be_up()

    answer = desk.run("down")

    assert (answer.returncode, answer.stdout) == (0, "Agentdesk is stopped.\n")
    assert desk.up_process
    assert desk.up_process.wait(PATIENCE) == 0
    assert desk.processes() == {}


def test_a_port_that_is_taken_is_told(desk: Desk, first: str) -> None:
    desk.be_down()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", desk.port))
        other.listen()

        answer = desk.run("up", "--port", str(desk.port))

    assert answer.returncode == 1
    assert f"Port {desk.port} is taken" in answer.stderr
    assert desk.processes() == {}
