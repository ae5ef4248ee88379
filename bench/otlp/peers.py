"""The peers that take spans, on the same bytes: see `bench.peers.running` for how they are started.

Spans count once the product's own API counts them. The peers neither mask nor analyse.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bench.figures import Figure
from bench.otlp.load import BATCH, SPANS_A_RUN, batches
from bench.otlp.ours import Speed
from bench.otlp.sending import SendError, Target, cpu_seconds, send
from bench.peers import mlflow, phoenix
from bench.peers.running import AwayError, Peer, Running, running
from tests.agentdesk.rig import wait_until

PATIENCE = 900.0


@dataclass(frozen=True, slots=True)
class Counted:
    """A peer, the headers that it wants beside spans, and how many it has stored."""

    peer: Peer
    count: Callable[[int], int]
    headers: Mapping[str, str] = field(default_factory=dict)


PEERS = (
    Counted(phoenix.Phoenix.peer, phoenix.spans),
    # Each trace came with all of its spans.
    Counted(mlflow.Mlflow.peer, lambda port: mlflow.traces(port) * SPANS_A_RUN, mlflow.HEADERS),
)


def compared(ours: Speed, count: int) -> None:
    """Print each peer's figures for that many of the same spans, and ours in their terms."""
    for counted in PEERS:
        peer = counted.peer
        try:
            with running(peer) as started:
                theirs = _sent(counted, started, list(batches(count, "a")))
        except (AwayError, SendError) as error:
            print(f"{peer.requirement}: not measured: {error}")
            continue
        print(Figure(f"Agentdesk to {peer.name}, spans a second", [_ratio(ours, theirs)], "x"))
        print(Figure(f"{peer.name} to Agentdesk, CPU", [theirs.cpu / ours.cpu], "x"))


def _ratio(ours: Speed, theirs: Speed) -> float:
    return ours.a_second / theirs.a_second


def _sent(counted: Counted, started: Running, requests: list[bytes]) -> Speed:
    assert started.child.process is not None
    pid = started.child.process.pid
    count = BATCH * len(requests)
    target = Target(started.port, counted.headers)
    send(target, list(batches(BATCH, "warm-up")))
    _wait_for(counted, target.port, BATCH)
    before, began = cpu_seconds([pid]), time.perf_counter()
    sent = send(target, requests)
    _wait_for(counted, target.port, BATCH + count)
    took = time.perf_counter() - began
    cpu = 1000 * (cpu_seconds([pid]) - before) / count
    name = counted.peer.name
    label = f"{name} ({counted.peer.requirement}), {count:,} of the same spans"
    print(Figure(f"{label}: a second", [count / took], "/s"))
    print(Figure(f"{name}: behind the last 200", [took - sent], "s"))
    print(Figure(f"{name}: CPU for 1,000 spans", [cpu], "s"))
    return Speed(count / took, cpu)


def _wait_for(counted: Counted, port: int, spans: int) -> None:
    try:
        wait_until(lambda: counted.count(port) >= spans, seconds=PATIENCE)
    except AssertionError:
        told = f"{counted.count(port)} of {spans} spans after {PATIENCE:.0f} s"
        raise AwayError(told) from None
