"""Agentdesk's own figures, with real processes: Postgres, Valkey, web and one worker of two."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure, over, under
from bench.otlp.load import BATCH, batches
from bench.otlp.sending import Target, cpu_seconds, send
from tests.agentdesk.rig import Rig, wait_until

GOAL = 1500
PATIENCE = 900.0
# Spans sent at the rate of the goal, and before web and worker are killed.
STEADY, KILLED = 15_000, 5_000
LAST = 200
DONE = """
SELECT (SELECT count(*) FROM transcripts_delivery WHERE state <> 'stored')
     + (SELECT count(*) FROM transcripts_opentrace WHERE due_at IS NOT NULL)
     + (SELECT count(*) FROM analysis_verdict WHERE stale_since IS NOT NULL)
"""
ROUNDS = "SELECT coalesce(sum(round_count), 0) FROM transcripts_run"
KEPT = ("run", "round", "toolcall", "message")
SEALED = ("opentrace", "spanchunk", "delivery")


@dataclass(frozen=True, slots=True)
class Speed:
    """Spans a second until they can be read, and CPU seconds for 1,000 of them."""

    a_second: float
    cpu: float


def measured(count: int) -> Speed:
    """Print Agentdesk's figures for that many spans."""
    with tempfile.TemporaryDirectory(prefix="agentdesk-bench-") as folder, Rig(Path(folder)) as rig:
        rig.start_worker()
        target = Target(rig.port, {"Authorization": f"Bearer {rig.key}"})
        send(target, list(batches(BATCH, "warm-up")))
        wait(rig)
        speed = _flood(rig, target, count)
        steady = min(count, STEADY)
        _steady(rig, target, steady)
        killed = min(count, KILLED)
        _kill(rig, target, killed, expected=BATCH + count + steady + killed)
    return speed


def _flood(rig: Rig, target: Target, count: int) -> Speed:
    requests = list(batches(count, "a"))
    size = sum(map(len, requests)) / count
    before, began = _cpu(rig), time.perf_counter()
    sent = send(target, requests)
    wait(rig)
    took = time.perf_counter() - began
    each = {name: 1000 * (now - before[name]) / count for name, now in _cpu(rig).items()}
    spent = sum(each.values())
    print(Figure(f"spans sent at once, {size / 1000:.1f} KB each", [count], ""))
    print(Figure("received, spans a second", [count / sent], "/s"))
    print(over("received, masked, stored and analysed", [count / took], GOAL, "/s"))
    print(Figure("behind the last 200, of all at once", [took - sent], "s"))
    print(under("CPU for 1,000 spans", [spent], 2000 / GOAL, "s"))
    for name, seconds in sorted(each.items()):
        print(Figure(f"  of it {name}", [seconds], "s"))
    print(under("disk a span, kept", [disk(rig, KEPT) / count], 2900, "B"))
    print(Figure("disk a span, sealed, until put away", [disk(rig, SEALED) / count], "B"))
    return Speed(count / took, spent)


def _steady(rig: Rig, target: Target, count: int) -> None:
    """At the rate of the goal nothing piles up."""
    sent = send(target, list(batches(count, "steady")), every=BATCH / GOAL)
    began = time.perf_counter()
    wait(rig)
    lag = time.perf_counter() - began
    print(Figure(f"sent at {GOAL:,} a second, spans a second", [count / sent], "/s"))
    print(under(f"behind the last {LAST}, at that rate", [lag], 2, "s"))


def _kill(rig: Rig, target: Target, count: int, *, expected: int) -> None:
    send(target, list(batches(count, "killed")))
    for name in ("worker", "web"):
        rig.kill(name)
    rig.start_web()
    rig.start_worker()
    wait(rig)
    lost = expected - 2 * rig.rows(ROUNDS)[0][0]
    print(under(f"lost when killed right after the last {LAST}", [float(lost)], 0.5, "spans"))


def wait(rig: Rig) -> None:
    """Until everything that was received is stored and analysed."""
    wait_until(lambda: rig.rows(DONE) == [(0,)], seconds=PATIENCE)


def _cpu(rig: Rig) -> dict[str, float]:
    return {name: cpu_seconds([pid]) for name, pid in rig.children().items()}


def disk(rig: Rig, tables: tuple[str, ...]) -> float:
    """Bytes of these tables with their indexes and TOAST."""
    names = " + ".join(f"pg_total_relation_size('transcripts_{name}')" for name in tables)
    return float(rig.rows(f"SELECT {names}")[0][0])
