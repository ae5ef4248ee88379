"""Sends requests of spans as exporters do, and counts what processes cost."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import psutil

SENDERS = 4


@dataclass(frozen=True, slots=True)
class Target:
    """Where spans go: a server on this machine, and the headers that it wants."""

    port: int
    headers: Mapping[str, str] = field(default_factory=dict)


class SendError(Exception):
    """Requests were not taken; the message says how they were refused."""


def send(target: Target, requests: list[bytes], *, every: float = 0.0) -> float:
    """Seconds until the last of the requests was answered with 200; 4 senders.

    `every`: seconds from the start of one request to that of the next, so that a rate is kept; 0:
    each sender goes on as soon as it is answered. `SendError` when one is refused or breaks off.
    """
    left = list(enumerate(requests))[::-1]
    refused: list[str] = []
    began = time.perf_counter()

    def sender() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=300)
        headers = {"Content-Type": "application/x-protobuf", "Host": "localhost", **target.headers}
        while left:
            try:
                number, body = left.pop()
            except IndexError:
                break
            time.sleep(max(0.0, began + number * every - time.perf_counter()))
            try:
                connection.request("POST", "/v1/traces", body, headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException) as error:
                refused.append(type(error).__name__)
                break
            if answer.status != http.client.OK:
                refused.append(str(answer.status))
        connection.close()

    threads = [threading.Thread(target=sender) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if refused:
        raise SendError(f"requests were refused: {', '.join(sorted(set(refused)))}")
    return time.perf_counter() - began


def cpu_seconds(pids: Iterable[int]) -> float:
    """CPU time so far of these processes and all below them; parents count those that are gone."""
    total = 0.0
    for pid in pids:
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system
            if process is parent:
                total += times.children_user + times.children_system
    return total
