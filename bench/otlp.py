"""How fast spans come in: received, masked, stored and analysed, by 4 senders over OTLP/HTTP.

As the peers were measured: requests of 500 spans, 2 spans a round, about 3.4 KB a span, protobuf.
With real processes: Postgres, Valkey, web and one worker of two processes, on this machine, beside
the senders. At the end web and worker are killed right after the last 200, and started again.

`python -m bench otlp [SPANS]`
"""

from __future__ import annotations

import http.client
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench.figures import Figure, over, under
from tests.agentdesk.rig import Rig, wait_until
from tests.transcripts.importers.spans.wire import protobuf_of

SPANS = 50_000
BATCH = 500
SENDERS = 4
ROUNDS = 25
SPANS_A_RUN = 2 * ROUNDS
# Unique text of a round, in characters; a request repeats the last two rounds.
REPLY, QUERY, RESULT = 300, 100, 1500
REPEATED = 4
PATIENCE = 900.0
BEGAN = 1_796_032_800
DONE = """
SELECT (SELECT count(*) FROM transcripts_delivery WHERE state <> 'stored')
     + (SELECT count(*) FROM transcripts_opentrace WHERE due_at IS NOT NULL)
     + (SELECT count(*) FROM analysis_verdict WHERE stale_since IS NOT NULL)
"""
KEPT = ("run", "round", "toolcall", "message")
SEALED = ("opentrace", "spanchunk", "delivery")


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else SPANS
    requests = list(batches(count, "a"))
    size = sum(map(len, requests)) / (len(requests) * BATCH)
    with tempfile.TemporaryDirectory(prefix="agentdesk-bench-") as folder, Rig(Path(folder)) as rig:
        rig.start_worker()
        send(rig, list(batches(BATCH, "warm-up")))
        wait(rig)
        before, began = cpu_seconds(rig), time.perf_counter()
        sent = send(rig, requests)
        wait(rig)
        took = time.perf_counter() - began
        spent = cpu_seconds(rig) - before
        spans = len(requests) * BATCH
        print(Figure(f"spans sent, {size / 1000:.1f} KB each", [spans], ""))
        print(Figure("received, spans a second", [spans / sent], "/s"))
        print(over("received, masked, stored and analysed", [spans / took], 1500, "/s"))
        print(Figure("behind the last 200", [took - sent], "s"))
        print(Figure("CPU of all of Agentdesk for 1,000 spans", [1000 * spent / spans], "s"))
        print(under("disk a span, kept", [disk(rig, KEPT) / spans], 2900, "B"))
        print(Figure("disk a span, sealed, until put away", [disk(rig, SEALED) / spans], "B"))
        killed = list(batches(min(count, 5_000), "killed"))
        send(rig, killed)
        for name in ("worker", "web"):
            rig.kill(name)
        rig.start_web()
        rig.start_worker()
        wait(rig)
        expected = (spans + BATCH * (1 + len(killed))) // 2
        lost = 2 * (expected - rig.rows("SELECT sum(round_count) FROM transcripts_run")[0][0])
        print(under("lost when killed right after the last 200", [float(lost)], 0.5, "spans"))
    return 0


def batches(count: int, name: str) -> Iterator[bytes]:
    """Requests of `BATCH` spans, each with whole runs."""
    chance = random.Random(name)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(3_000)]
    for _ in range(count // BATCH):
        spans = [
            span
            for _ in range(BATCH // SPANS_A_RUN)
            for span in run_spans(f"{chance.getrandbits(128) | 1:032x}", chance, words)
        ]
        resource = [{"key": "service.name", "value": {"stringValue": "helpdesk"}}]
        group = {
            "resource": {"attributes": resource},
            "scopeSpans": [{"scope": {"name": "bench"}, "spans": spans}],
        }
        yield protobuf_of({"resourceSpans": [group]})


def run_spans(trace: str, chance: random.Random, words: list[str]) -> list[dict[str, Any]]:
    """The spans of one run: the agent's, then requests and tools, and a last answer."""

    def text(length: int) -> str:
        return " ".join(chance.choices(words, k=length // 8))

    first = [
        message("system", {"type": "text", "content": "You are the helpdesk agent."}),
        message("user", {"type": "text", "content": f"Ticket {trace[:8]}: my VPN disconnects."}),
    ]
    maker = SpanMaker(trace)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helpdesk"}
    maker.add("invoke_agent helpdesk", agent)
    history: list[dict[str, Any]] = []
    for number in range(1, ROUNDS + 1):
        args = {"query": text(QUERY), "page": number}
        call = {"type": "tool_call", "id": f"call_{number}", "name": "search", "arguments": args}
        is_last = number == ROUNDS
        reply = message("assistant", {"type": "text", "content": text(REPLY)}, call)
        if is_last:
            reply["parts"].pop()
        maker.add(
            "chat gpt-4o",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-4o",
                "gen_ai.response.model": "gpt-4o-2024-08-06",
                "gen_ai.response.id": f"{trace[:12]}-{number}",
                "gen_ai.response.finish_reasons": ["stop" if is_last else "tool_calls"],
                "gen_ai.usage.input_tokens": 100 * number,
                "gen_ai.usage.output_tokens": 40,
                "gen_ai.input.messages": json.dumps([*first, *history[-REPEATED:]]),
                "gen_ai.output.messages": json.dumps([reply]),
            },
        )
        if is_last:
            break
        result = text(RESULT)
        maker.add(
            "execute_tool search",
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "search",
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.id": f"call_{number}",
                "gen_ai.tool.call.arguments": json.dumps(args),
                "gen_ai.tool.call.result": result,
            },
        )
        part = {"type": "tool_call_response", "id": f"call_{number}", "response": result}
        history += [reply, message("tool", part)]
    return maker.spans


def message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


@dataclass
class SpanMaker:
    """Numbers the spans of a trace; the first one is the parent of the others."""

    trace: str
    spans: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, attributes: dict[str, Any]) -> None:
        number = len(self.spans) + 1
        start = (BEGAN + 2 * number) * 10**9
        self.spans.append(
            {
                "traceId": self.trace,
                "spanId": f"{number:016x}",
                "parentSpanId": f"{1:016x}" if number > 1 else "",
                "name": name,
                "startTimeUnixNano": start,
                "endTimeUnixNano": start + 10**9,
                "attributes": [
                    {"key": key, "value": any_value(value)} for key, value in attributes.items()
                ],
            }
        )


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(entry) for entry in value]}}
    return {"intValue": value} if isinstance(value, int) else {"stringValue": value}


def send(rig: Rig, requests: list[bytes]) -> float:
    """Seconds until the last of the requests was answered with 200."""
    left = list(reversed(requests))
    failed: list[int] = []

    def sender() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=120)
        headers = {
            "Authorization": f"Bearer {rig.key}",
            "Content-Type": "application/x-protobuf",
            "Host": "localhost",
        }
        while left:
            try:
                body = left.pop()
            except IndexError:
                break
            connection.request("POST", "/v1/traces", body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                failed.append(answer.status)
        connection.close()

    began = time.perf_counter()
    threads = [threading.Thread(target=sender) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        sys.exit(f"refused: {set(failed)}")
    return time.perf_counter() - began


def wait(rig: Rig) -> None:
    """Until everything that was received is stored and analysed."""
    wait_until(lambda: rig.rows(DONE) == [(0,)], seconds=PATIENCE)


def cpu_seconds(rig: Rig) -> float:
    """CPU time of all processes of the rig so far; their parents count those that are gone."""
    total = 0.0
    for child in rig.children():
        parent = psutil.Process(child)
        for process in (parent, *parent.children(recursive=True)):
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system
            if process is parent:
                total += times.children_user + times.children_system
    return total


def disk(rig: Rig, tables: tuple[str, ...]) -> float:
    """Bytes of these tables with their indexes and TOAST."""
    names = " + ".join(f"pg_total_relation_size('transcripts_{name}')" for name in tables)
    return float(rig.rows(f"SELECT {names}")[0][0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
