"""Runs as processes of their own, so many at a time, with hard stops."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import selectors
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.cases.harness.asking import Options, Replay
from analysis.cases.harness.killing import (
    _end_descendants,
    _kill_below,
    _kill_marked,
    _libc,
    _mark_run,
    _prctl,
)
from analysis.cases.harness.performing import perform, run_here
from analysis.cases.harness.reading import GRACE, PRINTED
from analysis.cases.harness.trace import Trace


@dataclass
class Job:
    """One run to be made; `number` counts the runs of one case from 1, `place` the cases from 0."""

    case: Mapping[str, Any]
    number: int
    options: Options
    place: int = 0


@dataclass
class _Child:
    pid: int
    job: Job
    events: int
    printed: int
    trace: Trace
    started: float
    rest: bytes = b""
    text: bytes = b""
    over: bool = False

    @property
    def deadline(self) -> float:
        return self.started + self.job.options.seconds + GRACE


def run_all(
    jobs: Iterable[Job], agent: Callable[[Replay], Any], workers: int
) -> Iterator[tuple[Job, Trace]]:
    """Make each run in a child process, `workers` at a time; yields them as they end."""
    if not hasattr(os, "fork"):
        yield from ((job, run_here(job.case, agent, job.options)) for job in jobs)
        return
    waiting = iter(jobs)
    selector = selectors.DefaultSelector()
    children: dict[int, _Child] = {}
    more = True
    try:
        while more or children:
            while more and len(children) < max(1, workers):
                following = next(waiting, None)
                if following is None:
                    more = False
                    break
                child = _spawn(agent, following)
                children[child.pid] = child
                selector.register(child.events, selectors.EVENT_READ, child)
                selector.register(child.printed, selectors.EVENT_READ, child)
            for ended in _wait(selector, children) if children else ():
                del children[ended.pid]
                ended.trace.settle(ended.job.case)
                yield ended.job, ended.trace
    finally:
        for child in children.values():
            _close(selector, child)
        selector.close()


def _spawn(agent: Callable[[Replay], Any], job: Job) -> _Child:
    events, events_in = os.pipe()
    printed, printed_in = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    _libc()  # loaded before the fork, once
    with warnings.catch_warnings():
        # Python warns of forking with threads; the child runs the loop alone, as the parent would
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            _live(agent, job, events_in, printed_in)
        finally:
            os._exit(70)
    os.close(events_in)
    os.close(printed_in)
    os.set_blocking(events, False)
    os.set_blocking(printed, False)
    return _Child(pid, job, events, printed, Trace(), time.monotonic())


def _live(agent: Callable[[Replay], Any], job: Job, events: int, printed: int) -> None:
    """The child: run the loop in its own session, tell events by the pipe, end all it started."""
    os.setsid()
    _mark_run()
    _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: no run outlives the harness
    _prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what detaches itself stays findable
    for caught in (signal.SIGINT, signal.SIGTERM):
        signal.signal(caught, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    for name in ("stdout", "stderr"):
        number = 1 if name == "stdout" else 2
        stream = io.TextIOWrapper(
            io.FileIO(number, "w", closefd=False), "utf-8", errors="replace", write_through=True
        )
        setattr(sys, name, stream)
    owner = os.getpid()

    def emit(event: dict[str, Any]) -> None:
        if event["e"] == "end":
            _end_descendants(owner)
        line = json.dumps(event, default=str).encode("ascii") + b"\n"
        while line:
            line = line[os.write(events, line) :]

    random.seed(job.options.seed)
    perform(agent, Replay(job.case, emit, job.options), emit)
    os._exit(0)


def _wait(selector: selectors.BaseSelector, children: dict[int, _Child]) -> list[_Child]:
    """Read what the children tell, for a moment; the ones that are over, with all they started."""
    now = time.monotonic()
    soonest = min(child.deadline for child in children.values())
    for key, _ in selector.select(min(0.2, max(0.0, soonest - now))):
        child = key.data
        if key.fd == child.printed:
            content, closed = _read_fd(child.printed)
            child.text = (child.text + content)[-4 * PRINTED :]
            if closed:  # else it would be ready for ever
                selector.unregister(child.printed)
        else:
            _take_events(child)
    ended = []
    now = time.monotonic()
    for child in children.values():
        if not child.over and now > child.deadline:
            child.over = True
            limit = child.job.options.seconds
            child.trace.take(_end("killed", f"killed after {limit:g} s", now - child.started))
        elif not child.over and _has_exited(child.pid):
            _take_events(child)
            child.over = True
        if child.over:
            ended.append(child)
    for child in ended:
        _close(selector, child)
    return ended


def _read_fd(fd: int) -> tuple[bytes, bool]:
    """(what there is to read, whether the other end is closed)."""
    try:
        content = os.read(fd, 1 << 18)
    except BlockingIOError:
        return b"", False
    return content, not content


def _take_events(child: _Child) -> None:
    while True:
        content, closed = _read_fd(child.events)
        lines = (child.rest + content).split(b"\n")
        child.rest = lines.pop()
        for line in lines:
            event = json.loads(line)
            child.trace.take(event)
            child.over = child.over or event["e"] == "end"
        if closed or not content:
            child.over = child.over or closed
            return


def _end(how: str, why: str, seconds: float) -> dict[str, Any]:
    return {"e": "end", "how": how, "why": why, "final": "", "ending": "open", "seconds": seconds}


def _has_exited(pid: int) -> bool:
    if not hasattr(os, "waitid"):
        return False
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _close(selector: selectors.BaseSelector, child: _Child) -> None:
    """Kill the child with all that it started, and take its last words."""
    if not _has_exited(child.pid):
        with contextlib.suppress(ProcessLookupError):
            if not child.trace.how or child.trace.how == "killed":
                os.kill(child.pid, signal.SIGSTOP)
                _kill_below(child.pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGKILL)
    _, status = os.waitpid(child.pid, 0)
    child.text += _read_fd(child.printed)[0]
    for fd in (child.events, child.printed):
        with contextlib.suppress(KeyError):
            selector.unregister(fd)
        os.close(fd)
    if not child.trace.how:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        by = f"signal {number}" if number else f"exit status {os.WEXITSTATUS(status)}"
        why = f"the agent's process ended without a word ({by})"
        child.trace.take(_end("crashed", why, time.monotonic() - child.started))
        _kill_marked(child.pid)
    child.trace.printed = child.text.decode("utf-8", "replace")[-PRINTED:]
