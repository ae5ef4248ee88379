"""`./desk up`: start everything, watch it, and stop it in order."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from agentdesk.environment import ROOT
from agentdesk.local import ports
from agentdesk.local.prepared import is_prepared, note_prepared
from agentdesk.local.process import Child, LocalError, keep_short
from agentdesk.local.servers import Servers, start_database, start_queue
from agentdesk.local.state import State

FIRST_PORT, LAST_PORT = 8700, 8799
# A child that ends by itself is started again; this often within a minute, and it is given up.
RESTARTS = 5
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop(Exception):
    """Somebody asked for the end."""


@dataclass
class Bind:
    """Where the pages are served."""

    host: str
    port: int

    @property
    def address(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return (
            f"http://{host if ':' not in host or host.startswith('[') else f'[{host}]'}:{self.port}"
        )

    def hosts(self) -> list[str]:
        """Names by which browsers may call: this machine's own where it listens to others."""
        names = ["localhost", "127.0.0.1", "[::1]"]
        try:
            local = ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            local = self.host == "localhost"
        if local:
            return names
        own = {socket.gethostname(), socket.getfqdn(), self.host} - {"0.0.0.0", "::"}
        for _, _, _, _, address in socket.getaddrinfo(socket.gethostname(), None):
            own.add(f"[{address[0]}]" if ":" in str(address[0]) else str(address[0]))
        return [*names, *sorted(own)]


def choose_bind(host: str, port: int | None) -> Bind:
    """The port asked for, which must be free; else 8700 or the next free one."""
    if port is not None:
        if not ports.is_free(port, host):
            who = ports.holder(port)
            raise LocalError(
                f"Port {port} is taken{f' by {who}' if who else ''}. "
                "Stop it, or choose another one: ./desk up --port 8701"
            )
        return Bind(host, port)
    for candidate in range(FIRST_PORT, LAST_PORT + 1):
        if ports.is_free(candidate, host):
            return Bind(host, candidate)
    raise LocalError(
        f"No port from {FIRST_PORT} to {LAST_PORT} is free at {host}. "
        "Choose another one: ./desk up --port N"
    )


def say(name: str, text: str) -> None:
    """One line a service, as it gets ready."""
    print(f"{time.strftime('%H:%M:%S')}  {name.ljust(8)}  {text}", flush=True)


def up(state: State, *, host: str, port: int | None) -> int:
    """Run everything until somebody stops it. Returns the exit code."""
    for number in STOP_SIGNALS:
        signal.signal(number, _stop)
    state.prepare()
    with state.held():
        state.say_who()
        bind = choose_bind(host, port)
        servers = Servers()
        own: list[Child] = []
        welcome = ""
        try:
            start_database(state, servers, say)
            start_queue(state, servers, say)
            state.write_services({**servers.variables, "AGENTDESK_HOSTS": ",".join(bind.hosts())})
            environment = _environment(state, servers, bind)
            if not is_prepared(state, servers.postgres):
                welcome = _prepare_database(environment)
                note_prepared(state)
            own += _own_children(state, environment, bind)
            _start_own(state, own, bind)
            state.say_who(address=bind.address)
            print(f"\nAgentdesk is at {bind.address}\n{welcome}Ctrl-C stops it.", flush=True)
            welcome = ""
            return _watch([*servers.children, *own])
        except Stop:
            return 0
        finally:
            for number in STOP_SIGNALS:
                signal.signal(number, signal.SIG_IGN)
            if servers.children or own:
                say("desk", "stopping")
                _stop_all(own, servers)
                say("desk", "stopped")
            if welcome:
                # The account is made, and its password is kept nowhere else.
                print(f"\n{welcome}", flush=True)


def down(state: State, *, patience: float = 60) -> int:
    """Stop the supervisor of this folder, and wait until all of it is gone."""
    holder = state.holder()
    if holder is None:
        print("Agentdesk does not run here.")
        return 0
    if "pid" not in holder:
        raise LocalError("Agentdesk is just starting; try again in a moment.")
    os.kill(holder["pid"], signal.SIGTERM)
    until = time.monotonic() + patience
    while state.holder() is not None:
        if time.monotonic() > until:
            raise LocalError(
                f"Agentdesk (pid {holder['pid']}) has not ended after {patience:.0f} s."
            )
        time.sleep(0.05)
    print("Agentdesk is stopped.")
    return 0


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stop


def _environment(state: State, servers: Servers, bind: Bind) -> dict[str, str]:
    """What our children see beside the secrets, which they read from the state folder."""
    return {
        "AGENTDESK_ALIVE_FILE": str(_alive(state)),
        "AGENTDESK_HOSTS": ",".join(bind.hosts()),
        "AGENTDESK_RULE_CACHE": str(state.folder / "rules"),
        # Freed memory goes back to the system instead of into an arena for each thread.
        "MALLOC_ARENA_MAX": "2",
        **os.environ,
        **servers.variables,
        "AGENTDESK_STATE": str(state.folder),
        "DJANGO_SETTINGS_MODULE": "agentdesk.settings",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
    }


def _prepare_database(environment: dict[str, str]) -> str:
    """Run `first_start`; returns what there is to tell, which is empty after the first time."""
    began = time.monotonic()
    answer = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "first_start"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    if answer.returncode:
        raise LocalError(f"The database could not be prepared:\n{answer.stderr.strip()[-1500:]}")
    say("database", f"migrated ({time.monotonic() - began:.1f} s)")
    return answer.stdout


def _own_children(state: State, environment: dict[str, str], bind: Bind) -> list[Child]:
    """Web and worker, not yet started.

    The worker forks its one child for tasks, so that a task that dies or hangs costs the child and
    not the worker, and the beat as another, which then shares its memory.
    """
    python = Path(sys.executable)
    web = Child(
        name="web",
        command=[
            str(python.with_name("granian")),
            *("--interface", "wsgi", "--host", bind.host, "--port", str(bind.port)),
            *("--workers", "1", "--blocking-threads", str(2 * (os.cpu_count() or 1)), "--no-ws"),
            *("--respawn-failed-workers", "--workers-kill-timeout", "10", "--log-level", "warning"),
            "agentdesk.wsgi:application",
        ],
        log=state.log / "web.log",
        environment=environment,
        folder=ROOT,
    )
    worker = Child(
        name="worker",
        command=[
            str(python.with_name("celery")),
            *("-A", "agentdesk", "worker", "--pool", "prefork", "--concurrency", "1"),
            *("--without-gossip", "--without-mingle", "--loglevel", "INFO"),
            *("-B", "-s", str(state.folder / "beat")),
        ],
        log=state.log / "worker.log",
        environment=environment,
        folder=ROOT,
    )
    return [web, worker]


def _start_own(state: State, own: list[Child], bind: Bind) -> None:
    """Start web and worker side by side; return when pages and tasks are answered."""
    web, worker = own
    began = time.monotonic()
    _alive(state).unlink(missing_ok=True)
    web.start()
    worker.start()
    web.wait_until(lambda: _answers(bind.address), patience=60)
    say("web", f"{bind.address} ({time.monotonic() - began:.1f} s)")
    worker.wait_until(_alive(state).exists, patience=60)
    say("worker", f"with its beat ({time.monotonic() - began:.1f} s)")


def _alive(state: State) -> Path:
    """What the worker touches as soon as it takes tasks, and every few seconds after."""
    return state.folder / "worker.alive"


def _answers(address: str) -> bool:
    """Whether any page comes back, an error page included: an application that cannot load says so
    in its log and ends."""
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def _watch(children: list[Child]) -> int:
    """Start again what ends by itself, keep logs short; `LocalError` when that does not help."""
    restarts: dict[str, list[float]] = {}
    while True:
        time.sleep(1)
        for child in children:
            keep_short(child.log)
            if child.running:
                continue
            now = time.monotonic()
            recent = [at for at in restarts.get(child.name, []) if now - at < 60]
            if len(recent) >= RESTARTS:
                raise LocalError(
                    f"{child.name} ended {RESTARTS} times within a minute: {child.last_words()}"
                )
            restarts[child.name] = [*recent, now]
            say("desk", f"{child.name} ended by itself; starting it again")
            child.end_remnants()
            child.start()


def _stop_all(own: list[Child], servers: Servers) -> None:
    """Web and worker first, side by side; then the queue; the database last."""
    for child in own:
        child.ask_to_stop()
    for child in own:
        child.stop()
    servers.stop()
