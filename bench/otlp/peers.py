"""The peers that the package index has, on the same bytes: each in an environment of its own.

As an administrator would first start them: one process, SQLite. Spans count once the product's own
API counts them. They neither mask nor analyse.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentdesk.local import ports
from agentdesk.local.process import Child
from bench.figures import Figure
from bench.otlp.load import BATCH, SPANS_A_RUN, batches
from bench.otlp.ours import Speed
from bench.otlp.sending import Target, cpu_seconds, send
from tests.agentdesk.rig import wait_until

ENVIRONMENTS = Path(__file__).resolve().parents[2] / ".agentdesk" / "peers"
INSTALL_SECONDS = 900
START_SECONDS = 300.0
PATIENCE = 900.0
EXPERIMENT = "0"


@dataclass(frozen=True, slots=True)
class Peer:
    """A product: what to install, how to start it on a port, and how it counts its spans."""

    name: str
    requirement: str
    command: Callable[[int], list[str]]
    environment: Callable[[Path, int], dict[str, str]]
    headers: dict[str, str]
    count: Callable[[int], int]


class AwayError(Exception):
    """A peer cannot be measured here; the message says why."""


def _asked(port: int, path: str, question: dict[str, Any]) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(question), headers)
        answer = connection.getresponse()
        body = answer.read()
        return json.loads(body) if answer.status == 200 else {}
    finally:
        connection.close()


def _phoenix_spans(port: int) -> int:
    query = "{ projects { edges { node { recordCount } } } }"
    found = _asked(port, "/graphql", {"query": query})
    edges = found.get("data", {}).get("projects", {}).get("edges", [])
    return sum(edge["node"]["recordCount"] for edge in edges)


def _mlflow_spans(port: int) -> int:
    """Spans of the traces that its search finds, each of which came with all of its spans."""
    place = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": EXPERIMENT}}
    question: dict[str, Any] = {"locations": [place], "max_results": 500}
    traces = 0
    while True:
        found = _asked(port, "/api/3.0/mlflow/traces/search", question)
        traces += len(found.get("traces", ()))
        if not found.get("next_page_token"):
            return traces * SPANS_A_RUN
        question["page_token"] = found["next_page_token"]


PEERS = (
    Peer(
        "Phoenix",
        "arize-phoenix==20.26.1",
        lambda _: ["phoenix", "serve"],
        lambda folder, port: {
            "PHOENIX_WORKING_DIR": str(folder),
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(port),
            "PHOENIX_GRPC_PORT": str(ports.any_free()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        },
        {},
        _phoenix_spans,
    ),
    Peer(
        "MLflow",
        "mlflow==3.17.2",
        lambda port: ["mlflow", "server", "--host", "127.0.0.1", "--port", str(port)],
        lambda folder, _: {
            "MLFLOW_BACKEND_STORE_URI": f"sqlite:///{folder}/mlflow.db",
            "MLFLOW_DEFAULT_ARTIFACT_ROOT": str(folder / "artifacts"),
            "MLFLOW_DISABLE_TELEMETRY": "true",
        },
        {"x-mlflow-experiment-id": EXPERIMENT},
        _mlflow_spans,
    ),
)


def compared(ours: Speed, count: int) -> None:
    """Print each peer's figures for that many of the same spans, and ours in their terms."""
    for peer in PEERS:
        try:
            theirs = _measured(peer, count)
        except AwayError as error:
            print(f"{peer.requirement}: not measured: {error}")
            continue
        print(Figure(f"Agentdesk to {peer.name}, spans a second", [_ratio(ours, theirs)], "x"))
        print(Figure(f"{peer.name} to Agentdesk, CPU", [theirs.cpu / ours.cpu], "x"))


def _ratio(ours: Speed, theirs: Speed) -> float:
    return ours.a_second / theirs.a_second


def _measured(peer: Peer, count: int) -> Speed:
    programs = _installed(peer)
    port = ports.any_free()
    requests = list(batches(count, "a"))
    with tempfile.TemporaryDirectory(prefix="agentdesk-peer-") as name:
        folder = Path(name)
        command = peer.command(port)
        child = Child(
            name=peer.name.lower(),
            command=[str(programs / command[0]), *command[1:]],
            log=folder / "log" / "peer.log",
            environment={**os.environ, **peer.environment(folder, port)},
            folder=folder,
        )
        child.start()
        try:
            _wait_for_start(peer, port)
            return _sent(peer, Target(port, peer.headers), child, requests)
        finally:
            child.stop()


def _sent(peer: Peer, target: Target, child: Child, requests: list[bytes]) -> Speed:
    assert child.process is not None
    pid = child.process.pid
    count = BATCH * len(requests)
    send(target, list(batches(BATCH, "warm-up")))
    _wait_for(peer, target.port, BATCH)
    before, began = cpu_seconds([pid]), time.perf_counter()
    sent = send(target, requests)
    _wait_for(peer, target.port, BATCH + count)
    took = time.perf_counter() - began
    cpu = 1000 * (cpu_seconds([pid]) - before) / count
    label = f"{peer.name} ({peer.requirement}), {count:,} of the same spans"
    print(Figure(f"{label}: a second", [count / took], "/s"))
    print(Figure(f"{peer.name}: behind the last 200", [took - sent], "s"))
    print(Figure(f"{peer.name}: CPU for 1,000 spans", [cpu], "s"))
    return Speed(count / took, cpu)


def _wait_for(peer: Peer, port: int, spans: int) -> None:
    try:
        wait_until(lambda: peer.count(port) >= spans, seconds=PATIENCE)
    except AssertionError:
        raise AwayError(f"{peer.count(port)} of {spans} spans after {PATIENCE:.0f} s") from None


def _wait_for_start(peer: Peer, port: int) -> None:
    def answers() -> bool:
        with suppress(OSError, http.client.HTTPException, ValueError):
            peer.count(port)
            return True
        return False

    try:
        wait_until(answers, seconds=START_SECONDS)
    except AssertionError:
        raise AwayError(f"it does not answer after {START_SECONDS:.0f} s") from None


def _installed(peer: Peer) -> Path:
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
            raise AwayError(f"it cannot be installed: {run.stderr.strip()[-300:]}")
    done.touch()
    return programs
