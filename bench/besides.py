"""What search, grouping and alerts cost what comes in: the same runs, by a worker with them and by
one without (`bench.bare`), in turns. Processor's time beside the speed, which other work on the
machine changes less.

Runs are of natural words: some 20,000, as often as Zipf says, and some of each round's own. Of the
faulty ones each has a tool that fails without saying so; rules tell of new, returned and escalating
incidents and of flagged runs, by a webhook that answers.
"""

from __future__ import annotations

import itertools
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.ingest import PATIENCE, REPLY, RESULT, ROUNDS_A_RUN, Run, speed, whole
from bench.otlp.sending import cpu_seconds
from tests.agentdesk.rig import Rig, wait_until

WORDS = 20_000
TURNS = 4
RUNS_A_TURN = 40
FAULTY = {"no run is faulty": 0, "one run in ten is faulty": 10, "all runs are faulty": 1}
WORKERS = {"with": "agentdesk", "without": "bench.bare"}
LIMIT = 1.1
_RULES = """
from analysis.alerts.channels import channel_add, rule_add
from analysis.models import AlertKind, ChannelKind
from transcripts.models import Project, User
project = Project.objects.get(slug='p')
user = User.objects.create_user('bench@desk.example')
channel, _ = channel_add(project=project, kind=ChannelKind.WEBHOOK, name='bench', user=user,
                         address='http://127.0.0.1:{port}/')
for kind in (AlertKind.INCIDENT_NEW, AlertKind.INCIDENT_REGRESSED, AlertKind.INCIDENT_ESCALATING,
             AlertKind.RUN_FLAGGED):
    rule_add(project=project, channel=channel, kind=kind)
"""
WAITING = """
SELECT (SELECT count(*) FROM transcripts_runtextdue)
     + (SELECT count(*) FROM analysis_alertmessage WHERE state = 'waiting' AND due_at <= now())
"""


def main(arguments: list[str]) -> int:
    turns = int(arguments[0]) if arguments else TURNS
    with (
        tempfile.TemporaryDirectory(prefix="agentdesk-bench-") as folder,
        a_receiver() as port,
        Rig(Path(folder), AGENTDESK_OUTGOING_NETWORKS="127.0.0.0/8") as rig,
    ):
        rig.manage("shell", "-c", _RULES.format(port=port))
        for name, every in FAULTY.items():
            for figure in compared(rig, name, every, turns):
                print(figure, flush=True)
    return 0


def compared(rig: Rig, name: str, every: int, turns: int) -> Iterator[Figure]:
    """Each worker takes the same number of runs, `turns` times; the first of either is not counted,
    since it also loads what it needs.
    """
    rates: dict[str, list[float]] = {worker: [] for worker in WORKERS}
    cpu: dict[str, list[float]] = {worker: [] for worker in WORKERS}
    behind: list[float] = []
    after: list[float] = []
    for turn, worker in itertools.product(range(turns + 1), WORKERS):
        rig.start_worker(WORKERS[worker])
        speed(rig, whole([runs_of(f"warm-{name}-{turn}-{worker}", 1, every)[0]]))
        settle(rig)
        texts = runs_of(f"{name}-{turn}-{worker}", RUNS_A_TURN, every)
        before = spent(rig)
        rate = speed(rig, whole(texts))
        stored, began = spent(rig), time.perf_counter()
        settle(rig)
        if turn:
            rounds = RUNS_A_TURN * ROUNDS_A_RUN
            rates[worker].append(rate)
            cpu[worker].append(1_000 * (stored - before) / rounds)
            if worker == "with":
                behind.append(time.perf_counter() - began)
                after.append(1_000 * (spent(rig) - stored) / rounds)
        rig.stop("worker")
    for worker in WORKERS:
        yield Figure(f"{name}: rounds a second, {worker}", rates[worker], "/s")
        yield Figure(f"{name}: CPU for 1,000 rounds, {worker}", cpu[worker], "s")
    slower = statistics.median(rates["without"]) / statistics.median(rates["with"])
    yield Figure(f"{name}: slower by", [slower], "x", f"under {LIMIT} x", slower < LIMIT)
    dearer = statistics.median(cpu["with"]) / statistics.median(cpu["without"])
    yield Figure(
        f"{name}: more CPU until verdicts", [dearer], "x", f"under {LIMIT} x", dearer < LIMIT
    )
    yield Figure(f"{name}: then indexed and told within", behind, "s")
    yield Figure(f"{name}: CPU of that for 1,000 rounds", after, "s")


def settle(rig: Rig) -> None:
    """Until all is indexed and told."""
    wait_until(lambda: rig.rows(WAITING) == [(0,)], seconds=PATIENCE)


def spent(rig: Rig) -> float:
    """Seconds of the worker and of Postgres."""
    pids = rig.children()
    return cpu_seconds([pids["worker"], pids["postgres"]])


def runs_of(name: str, count: int, every: int) -> list[Run]:
    """Runs of unique texts in natural words; each `every`-th is faulty, 0: none."""
    return [texts(f"{name}-{i}", faulty=bool(every) and i % every == 0) for i in range(count)]


def texts(run_id: str, *, faulty: bool) -> Run:
    chance = random.Random(run_id)

    def text(length: int) -> str:
        return " ".join([*chance.choices(VOCABULARY, cum_weights=OFTEN, k=length // 7), own()])

    def own() -> str:
        return f"INV-{chance.randrange(10**7)}"

    rounds: list[dict[str, Any]] = [
        {
            "round": number,
            "stop": "tool_calls",
            "reply": text(REPLY),
            "calls": [
                {
                    "id": f"call_{number}",
                    "name": "reset_vpn_profile" if faulty and number == 3 else "search",
                    "args": {"query": text(100), "page": number},
                    "result": "" if faulty and number == 3 else text(RESULT),
                    "is_error": False,
                }
            ],
            "tokens_in": 100 * number,
            "tokens_out": 40,
        }
        for number in range(1, ROUNDS_A_RUN)
    ]
    last = {"round": ROUNDS_A_RUN, "stop": "tool_calls" if faulty else "stop", "reply": text(REPLY)}
    return run_id, [*rounds, last]


def _vocabulary() -> list[str]:
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(chance.choices(letters, k=chance.randint(3, 11))) for _ in range(WORDS)]


VOCABULARY = _vocabulary()
OFTEN = list(itertools.accumulate(1 / (rank + 3) for rank in range(WORDS)))


@contextmanager
def a_receiver() -> Iterator[int]:
    """A webhook's other end; gives its port."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
