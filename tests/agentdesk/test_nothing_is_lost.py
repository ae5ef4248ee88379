"""Whatever is killed, flushed or stopped: nothing accepted is lost, and nothing is doubled."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agentdesk.rig import Rig, wait_until

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("lost")]

ROUNDS = 20
STORED = """
SELECT run.run_id, run.round_count, run.call_count, count(r.*),
       (SELECT count(*) FROM transcripts_toolcall c WHERE c.run_id = run.id),
       (SELECT count(*) FROM analysis_verdict v WHERE v.run_id = run.id)
FROM transcripts_run run JOIN transcripts_round r ON r.run_id = run.id
WHERE run.run_id LIKE '{prefix}%' GROUP BY run.id ORDER BY run.run_id
"""

DUE = "SELECT count(*) FROM transcripts_runtextdue"
INDEXED = """
SELECT run.run_id, count(n), count(DISTINCT n)
FROM transcripts_run run JOIN transcripts_runtext t ON t.run_id = run.id, unnest(t.rounds) n
WHERE run.run_id LIKE '{prefix}%' AND n > 0 GROUP BY run.run_id ORDER BY run.run_id
"""


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    # Not below pytest's own folder, which another account cannot reach: root's Postgres has one.
    with tempfile.TemporaryDirectory(prefix="agentdesk-rig-") as folder, Rig(Path(folder)) as rig:
        yield rig


def a_round(number: int, run_id: str) -> dict[str, Any]:
    text = f"{run_id} round {number}: " + "what the tool said in this round " * 20
    return {
        "round": number,
        "stop": "wants_tool",
        "reply": f"I will look, for the {number}th time, into {run_id}.",
        "calls": [{"id": f"c{number}", "name": "look", "args": {"n": number}, "result": text}],
    }


def send(rig: Rig, prefix: str, runs: int) -> list[str]:
    """Send runs whole, and one more round by round; the receipts of what was accepted."""
    receipts = []
    for index in range(runs):
        run_id = f"{prefix}-{index:03}"
        rounds = [a_round(number, run_id) for number in range(1, ROUNDS + 1)]
        receipts.append(accepted(rig.post("runs", {"run_id": run_id, "rounds": rounds})))
    live = f"{prefix}-live"
    for number in range(1, ROUNDS + 1):
        answer = rig.post(f"runs/{live}/rounds", {"rounds": [a_round(number, live)]})
        receipts.append(accepted(answer))
    return receipts


def accepted(answer: tuple[int, dict[str, Any]]) -> str:
    status, body = answer
    assert status == 202, answer
    return str(body["receipt"])


def assert_all_there(rig: Rig, prefix: str, runs: int) -> None:
    rows = rig.rows(STORED.format(prefix=prefix))
    assert len(rows) == runs + 1
    for _, round_count, call_count, rounds, calls, verdicts in rows:
        assert (round_count, call_count, rounds, calls, verdicts) == (*[ROUNDS] * 4, 1)
    (left,) = rig.rows("SELECT count(*) FROM transcripts_delivery WHERE length(body) > 0")
    assert left == (0,)
    wait_until(lambda: rig.rows(DUE) == [(0,)], seconds=60)
    assert rig.rows(INDEXED.format(prefix=prefix)) == [(row[0], ROUNDS, ROUNDS) for row in rows]


def test_a_worker_is_killed_again_and_again(rig: Rig) -> None:
    chance = random.Random(2)
    rig.start_worker()
    receipts = []
    for part in range(3):
        receipts += send(rig, f"killed{part}", 6)
        time.sleep(chance.uniform(0.2, 2.5))
        rig.kill("worker")
        rig.start_worker()

    rig.wait_for_stored(receipts)

    for part in range(3):
        assert_all_there(rig, f"killed{part}", 6)
    rig.stop("worker")


def test_the_queue_is_flushed(rig: Rig) -> None:
    receipts = send(rig, "flushed", 3)
    rig.stop("valkey")  # it keeps nothing on disk
    rig.start_valkey()

    rig.start_worker()
    rig.wait_for_stored(receipts)

    assert_all_there(rig, "flushed", 3)
    rig.stop("worker")


def test_the_queue_is_away_while_runs_come_in(rig: Rig) -> None:
    rig.stop("valkey")
    began = time.monotonic()
    receipts = send(rig, "queueless", 3)
    took = time.monotonic() - began
    rig.start_valkey()

    rig.start_worker()
    rig.wait_for_stored(receipts)

    assert_all_there(rig, "queueless", 3)
    assert took < 15
    rig.stop("worker")


def test_the_database_is_away_for_a_while(rig: Rig) -> None:
    rig.start_worker()
    receipts = send(rig, "away", 6)
    rig.stop("postgres")
    status, _ = rig.post("runs", {"run_id": "refused", "rounds": [a_round(1, "refused")]})
    time.sleep(3)
    rig.start_postgres()

    wait_until(
        lambda: rig.post("runs", {"run_id": "again", "rounds": [a_round(1, "again")]})[0] == 202,
        seconds=30,
    )
    rig.wait_for_stored(receipts)

    assert status in (0, 500, 503)
    assert_all_there(rig, "away", 6)
    rig.stop("worker")
