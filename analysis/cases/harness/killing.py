"""Finding and killing all that a run started."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from typing import Any

MARK = "AGENTDESK_REPLAY_RUN"


def _end_descendants(owner: int) -> None:
    """Kill what a run started and left behind; quick where it left nothing."""
    for _ in range(20):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        _kill_below(owner)


def _mark_run() -> None:
    """Leave a mark in the environment that programs started by this run inherit."""
    os.environ[MARK] = str(os.getpid())


def _kill_marked(pid: int) -> None:
    """Kill the programs that run `pid` started: it is gone, so they have another parent now."""
    mark = f"{MARK}={pid}".encode()
    with contextlib.suppress(OSError):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/environ", "rb") as environment:
                    marked = mark in environment.read().split(b"\0")
                if marked and int(name) != pid:
                    os.kill(int(name), signal.SIGKILL)


def _kill_below(pid: int) -> None:
    """Kill every process that descends from `pid`, by /proc; where there is none, do nothing."""
    for _ in range(5):
        below = _descendants(pid)
        if not below:
            return
        for other in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(other, signal.SIGKILL)


def _descendants(pid: int) -> set[int]:
    """The living processes below `pid`; zombies do not count."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{name}/stat", encoding="latin-1") as stat:
                    state, parent = stat.read().rsplit(")", 1)[1].split()[:2]
                if state not in "ZX":
                    children.setdefault(int(parent), []).append(int(name))
    below: set[int] = set()
    stack = [pid]
    while stack:
        for other in children.get(stack.pop(), []):
            if other not in below:
                below.add(other)
                stack.append(other)
    return below


_LIBC: list[Any] = []


def _libc() -> Any:
    if not _LIBC:
        try:
            _LIBC.append(ctypes.CDLL(None))
        except (OSError, TypeError):
            _LIBC.append(None)
    return _LIBC[0]


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux" and _libc() is not None:
        _libc().prctl(option, value, 0, 0, 0)
