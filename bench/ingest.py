"""How fast runs come in: from POST to verdict, rounds a second through the pipeline, bytes on disk.

With real processes: Postgres, Valkey, web and one worker of two processes, on this machine.
"""

from __future__ import annotations

import http.client
import json
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from bench.figures import Figure, over, under
from tests.agentdesk.rig import Rig, wait_until

EXAMPLE = Path(__file__).resolve().parent.parent / "agentdesk" / "example" / "vpn-20931.json"
ROUNDS_A_RUN = 50
# As in the traces that the target was set for: unique text of a round, in characters.
REPLY, QUERY, RESULT = 300, 100, 1500
SENDERS = 4
PATIENCE = 600.0
TABLES = ("round", "toolcall", "message")


def main(arguments: list[str]) -> int:
    rounds = int(arguments[0]) if arguments else 5_000
    with tempfile.TemporaryDirectory(prefix="agentdesk-bench-") as folder, Rig(Path(folder)) as rig:
        rig.start_worker()
        print(
            under("POST of a 52-round run to its verdict by API", to_verdict(rig, times=5), 3, "s")
        )
        batches = [texts(f"batch-{i}") for i in range(rounds // ROUNDS_A_RUN)]
        print(over("rounds a second, runs sent whole", [speed(rig, whole(batches))], 750, "/s"))
        plain = disk(rig, "batch-%")
        print(Figure("bytes on disk a round of 1.9 KB of text", [plain], "B"))
        few = batches[: max(1, len(batches) // 5)]
        live = [(f"live-{i}", each) for i, (_, each) in enumerate(few)]
        print(Figure("rounds a second, sent one by one", [speed(rig, one_by_one(live))], "/s"))
        told = [(f"history-{i}", with_history(each)) for i, (_, each) in enumerate(few)]
        sent, unique = size(one_by_one(told)), size(one_by_one(live))
        fast = speed(rig, one_by_one(told))
        print(Figure("rounds a second, each repeating the history", [fast], "/s"))
        ratio = disk(rig, "history-%") / plain
        print(
            Figure(f"disk of these to plain ones ({sent / unique:.0f} x the bytes)", [ratio], "x")
        )
    return 0


def to_verdict(rig: Rig, *, times: int) -> list[float]:
    """Seconds from POST to the verdict, after one that is not counted."""
    body = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    taken = []
    for index in range(times + 1):
        run_id = f"verdict-{index}"
        began = time.perf_counter()
        status, _ = rig.post("runs", {**body, "run_id": run_id})
        assert status == 202, status
        wait_until(partial(has_verdict, rig, run_id), seconds=30)
        taken.append(time.perf_counter() - began)
    return taken[1:]


def has_verdict(rig: Rig, run_id: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=10)
    headers = {"Authorization": f"Bearer {rig.key}", "Host": "localhost"}
    connection.request("GET", f"/api/v1/runs/{run_id}", headers=headers)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status == 200 and body["verdict"] is not None


Run = tuple[str, list[dict[str, Any]]]
Request = tuple[str, dict[str, Any], int]


def texts(run_id: str) -> Run:
    """A run whose every text is unique, of made-up words."""
    chance = random.Random(run_id)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(3_000)]

    def text(length: int) -> str:
        return " ".join(chance.choices(words, k=length // 8))

    return run_id, [
        {
            "round": number,
            "stop": "tool_calls",
            "reply": text(REPLY),
            "calls": [
                {
                    "id": f"call_{number}",
                    "name": "search",
                    "args": {"query": text(QUERY), "page": number},
                    "result": text(RESULT),
                    "is_error": False,
                }
            ],
            "tokens_in": 100 * number,
            "tokens_out": 40,
        }
        for number in range(1, ROUNDS_A_RUN + 1)
    ]


def with_history(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same rounds, each with all that the model read, as most agents send it."""
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "You are the helpdesk agent."},
        {"role": "user", "content": "Ticket 7: my VPN disconnects every ten minutes."},
    ]
    told = []
    for round_ in rounds:
        told.append({**round_, "messages": list(history)})
        (call,) = round_["calls"]
        function = {"name": call["name"], "arguments": json.dumps(call["args"])}
        asked = [{"id": call["id"], "type": "function", "function": function}]
        history.append({"role": "assistant", "content": round_["reply"], "tool_calls": asked})
        history.append({"role": "tool", "tool_call_id": call["id"], "content": call["result"]})
    return told


def whole(runs: list[Run]) -> list[Request]:
    """Five runs a request, as batches of spans come."""
    return [
        (
            "runs",
            {"runs": [{"run_id": run_id, "rounds": rounds} for run_id, rounds in runs[i : i + 5]]},
            sum(len(rounds) for _, rounds in runs[i : i + 5]),
        )
        for i in range(0, len(runs), 5)
    ]


def one_by_one(runs: list[Run]) -> list[Request]:
    return [
        (f"runs/{run_id}/rounds", {"rounds": [round_]}, 1)
        for run_id, rounds in runs
        for round_ in rounds
    ]


def speed(rig: Rig, requests: list[Request]) -> float:
    """Rounds a second from the first POST until all are stored and analysed."""
    began = time.perf_counter()
    with ThreadPoolExecutor(SENDERS) as senders:
        answers = list(senders.map(lambda request: rig.post(request[0], request[1]), requests))
    if any(status != 202 for status, _ in answers):
        sys.exit(f"refused: { {status for status, _ in answers} }")
    waiting = "SELECT count(*) FROM transcripts_delivery WHERE state <> 'stored'"
    wait_until(lambda: rig.rows(waiting) == [(0,)], seconds=PATIENCE)
    stale = "SELECT count(*) FROM analysis_verdict WHERE stale_since IS NOT NULL"
    wait_until(lambda: rig.rows(stale) == [(0,)], seconds=PATIENCE)
    return sum(count for *_, count in requests) / (time.perf_counter() - began)


def size(requests: list[Request]) -> int:
    return sum(len(json.dumps(body)) for _, body, _ in requests)


def disk(rig: Rig, runs: str) -> float:
    """Bytes that the rows of these runs take, with their share of indexes and TOAST, by round."""
    total = 0.0
    for table in TABLES:
        (share,) = rig.rows(
            f"SELECT coalesce(sum(pg_column_size(t.*)) FILTER (WHERE run.run_id LIKE '{runs}'), 0)"
            f"::float / nullif(sum(pg_column_size(t.*)), 0) "
            f"FROM transcripts_{table} t JOIN transcripts_run run ON run.id = t.run_id"
        )
        (used,) = rig.rows(f"SELECT pg_total_relation_size('transcripts_{table}')")
        total += used[0] * (share[0] or 0)
    (count,) = rig.rows(f"SELECT sum(round_count) FROM transcripts_run WHERE run_id LIKE '{runs}'")
    return total / float(count[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
