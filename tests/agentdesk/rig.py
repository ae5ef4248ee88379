"""Postgres, Valkey, web and worker as processes of their own, to be killed and started again."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg

from agentdesk.local import ports
from agentdesk.local.postgres import Postgres
from agentdesk.local.process import Child
from agentdesk.local.valkey import Valkey
from transcripts.record import count_by

ROOT = Path(__file__).resolve().parents[2]
SWEEP_SECONDS = 1
PATIENCE = 60.0


class Rig:
    """All of Agentdesk, on ports and in a folder of its own."""

    def __init__(self, folder: Path, **environment: str) -> None:
        folder.chmod(0o755)
        self.folder = folder
        self.postgres = Postgres(folder, port=ports.any_free())
        self.valkey = Valkey(folder, port=ports.any_free())
        self.port = ports.any_free()
        self.environment = {
            **os.environ,
            "AGENTDESK_LOG_LEVEL": "INFO",
            "AGENTDESK_MASTER_KEYS": base64.urlsafe_b64encode(sha256(b"rig").digest()).decode(),
            "AGENTDESK_STATE": str(folder),
            "AGENTDESK_SWEEP_SECONDS": str(SWEEP_SECONDS),
            "DATABASE_URL": self.postgres.url,
            "DJANGO_SETTINGS_MODULE": "agentdesk.settings",
            "REDIS_URL": self.valkey.url,
            "SECRET_KEY": sha256(b"rig too").hexdigest(),
            **environment,
        }
        self.key = ""
        self._children: dict[str, Child] = {}

    def __enter__(self) -> Rig:
        self.start_postgres()
        self.start_valkey()
        self.manage("migrate", "--verbosity", "0")
        project = "Project.objects.create(slug='p', name='P')"
        self.manage("shell", "-c", f"from transcripts.models import Project; {project}")
        self.key = self.manage("key_create", "--project", "p").strip()
        self.start_web()
        return self

    def __exit__(self, *_: object) -> None:
        for name in ("worker", "web", "valkey", "postgres"):
            self.stop(name)

    def manage(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def start_postgres(self) -> None:
        self._children["postgres"] = self.postgres.start()

    def start_valkey(self) -> None:
        self._children["valkey"] = self.valkey.start()

    def start_web(self) -> None:
        child = self._child(
            "web",
            *("granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.port)),
            *("--workers", "1", "--blocking-threads", "2", "--no-ws", "--log-level", "warning"),
            "agentdesk.wsgi:application",
        )
        child.wait_until(self._web_answers, patience=PATIENCE)

    def start_worker(self, app: str = "agentdesk") -> None:
        self._child(
            "worker",
            *("celery", "-A", app, "worker", "--pool", "prefork", "--concurrency", "2"),
            *("--without-gossip", "--without-mingle", "--loglevel", "INFO"),
            *("-B", "-s", str(self.folder / "beat")),
        )

    def stop(self, name: str) -> None:
        child = self._children.pop(name, None)
        if child is not None:
            child.stop()

    def kill(self, name: str) -> None:
        """SIGKILL to the process and all of its session, as the kernel's out-of-memory killer
        does.
        """
        child = self._children.pop(name)
        if child.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.process.pid, signal.SIGKILL)
            child.process.wait()

    def children(self) -> dict[str, int]:
        """Process ids of what runs, by name."""
        return {name: child.process.pid for name, child in self._children.items() if child.process}

    def post(self, address: str, body: Any) -> tuple[int, dict[str, Any]]:
        """POST to the API; status 0 where the server does not answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            "Host": "localhost",
        }
        try:
            connection.request("POST", f"/api/v1/{address}", json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        except (OSError, http.client.HTTPException):
            return 0, {}
        finally:
            connection.close()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.postgres.url) as connection:
            return connection.execute(sql).fetchall()

    def states(self) -> dict[str, str]:
        """States of deliveries by receipt."""
        return {
            str(pk): state for pk, state in self.rows("SELECT id, state FROM transcripts_delivery")
        }

    def wait_for_stored(self, receipts: Iterable[str], *, seconds: float = PATIENCE) -> None:
        """Until each of these deliveries is stored; fails with the others' states."""
        wanted = set(receipts)

        def left() -> dict[str, str]:
            return {
                pk: state for pk, state in self.states().items() if pk in wanted
            } | dict.fromkeys(wanted - self.states().keys(), "gone")

        wait_until(
            lambda: set(left().values()) <= {"stored"},
            seconds=seconds,
            why=lambda: str(count_by(left().values())),
        )

    def _child(self, name: str, program: str, *arguments: str) -> Child:
        child = Child(
            name=name,
            command=[str(Path(sys.executable).with_name(program)), *arguments],
            log=self.folder / "log" / f"{name}.log",
            environment=self.environment,
            folder=ROOT,
        )
        child.start()
        self._children[name] = child
        return child

    def _web_answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz", headers={"Host": "localhost"})
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def wait_until(
    ready: Callable[[], bool], *, seconds: float, why: Callable[[], str] = lambda: ""
) -> None:
    """Poll `ready` until it is true."""
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, f"not after {seconds:.0f} s: {why()}"
        time.sleep(0.1)
