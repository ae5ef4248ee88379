"""Loops that misbehave: each in a process of its own, which is killed with all that it started."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from analysis.cases.harness import Job, Options, Replay, run_all
from tests.analysis.cases.small import a_case, apart, gone, plain_loop, says, wants

CASE = a_case(wants("look"), wants("look"), says())
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def pids_below(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir()]


def never_ends(folder: Path) -> Callable[[Replay], None]:
    """Starts a child, one in a session of its own, and a detached grandchild; then spins."""

    def agent(replay: Replay) -> None:
        replay.ask(replay.start())
        for own_session in (False, True):
            child = subprocess.Popen(SLEEP, start_new_session=own_session)
            (folder / str(child.pid)).touch()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                (folder / str(os.getpid())).touch()
                time.sleep(60)
            os._exit(0)
        while True:
            pass

    return agent


def test_a_loop_that_never_ends_is_killed_with_all_it_started(tmp_path: Path) -> None:
    started = time.monotonic()

    trace = apart(CASE, never_ends(tmp_path), seconds=0.5)

    assert trace.how == "killed"
    assert trace.reason == "still going at round 1: killed after 0.5 s"
    assert time.monotonic() - started < 5
    assert len(pids_below(tmp_path)) == 3
    assert all(gone(pid) for pid in pids_below(tmp_path))


def test_what_a_loop_leaves_behind_is_killed_when_it_returns(tmp_path: Path) -> None:
    def leaves(replay: Replay) -> None:
        child = subprocess.Popen(SLEEP, start_new_session=True)
        (tmp_path / str(child.pid)).touch()

    apart(CASE, leaves)

    assert all(gone(pid) for pid in pids_below(tmp_path))


def raises(replay: Replay) -> None:
    replay.ask(replay.start())
    raise ValueError("no <b>luck</b>")


def test_a_loop_that_raises_is_told_with_its_line() -> None:
    trace = apart(CASE, raises)

    line = raises.__code__.co_firstlineno + 2
    assert trace.ending == "error"
    assert trace.reason == (
        f"the agent raised ValueError: no <b>luck</b> (test_processes.py:{line})"
    )
    assert trace.number == 1


@pytest.mark.parametrize(
    ("last_words", "how"),
    [
        pytest.param(lambda: os._exit(3), "exit status 3", id="exits"),
        pytest.param(lambda: os.kill(os.getpid(), 9), "signal 9", id="is killed"),
    ],
)
def test_a_process_that_ends_without_a_word_is_told(
    last_words: Callable[[], None], how: str
) -> None:
    def agent(replay: Replay) -> None:
        replay.ask(replay.start())
        last_words()

    trace = apart(CASE, agent)

    assert (trace.ending, trace.number) == ("error", 1)
    assert trace.reason == f"the agent's process ended without a word ({how})"


def test_a_crash_leaves_no_program_behind(tmp_path: Path) -> None:
    def crashes(replay: Replay) -> None:
        child = subprocess.Popen(SLEEP, start_new_session=True)
        (tmp_path / str(child.pid)).touch()
        os.kill(os.getpid(), 9)

    trace = apart(CASE, crashes)

    assert "signal 9" in trace.reason
    assert all(gone(pid) for pid in pids_below(tmp_path))


def test_leaving_by_sys_exit_is_raising() -> None:
    trace = apart(CASE, lambda replay: sys.exit(4))

    assert trace.reason.startswith("the agent raised SystemExit: 4")


def test_a_forked_copy_of_the_loop_changes_nothing() -> None:
    def forks(replay: Replay) -> Any:
        os.fork()
        return plain_loop(replay)

    trace = apart(CASE, forks)

    assert (trace.ending, trace.number) == ("finished", 3)


def test_what_a_loop_prints_is_kept_to_its_end() -> None:
    def prints(replay: Replay) -> None:
        print("first")
        print("é" * 100_000)
        print("last", file=sys.stderr)
        subprocess.run(["echo", "from a child"], check=True)

    trace = apart(CASE, prints)

    assert trace.printed.endswith("last\nfrom a child\n")
    assert "first" not in trace.printed
    assert len(trace.printed) <= 16_000


def test_a_flood_of_output_is_no_way_to_go_on() -> None:
    def floods(replay: Replay) -> None:
        while True:
            print("x" * 1000)

    assert apart(CASE, floods, seconds=0.3).how == "killed"


def test_reading_from_the_terminal_gets_nothing() -> None:
    trace = apart(CASE, lambda replay: input("Go on? "))

    assert "EOFError" in trace.reason


def test_threads_that_go_on_do_not_hold_a_run_up() -> None:
    def threads(replay: Replay) -> None:
        threading.Thread(target=time.sleep, args=(60,)).start()

    started = time.monotonic()
    apart(CASE, threads)

    assert time.monotonic() - started < 5


def test_tool_calls_from_threads_are_all_counted() -> None:
    def spreads(replay: Replay) -> None:
        replay.ask(replay.start())
        threads = [threading.Thread(target=replay.call, args=("look",)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    trace = apart(CASE, spreads)

    assert len(trace.rounds[0]["made"]) == 20


def test_every_run_starts_from_the_same_state() -> None:
    seen: list[int] = []

    def remembers(replay: Replay) -> str:
        seen.append(1)
        return f"{len(seen)} so far"

    jobs = [Job(CASE, number, Options()) for number in range(1, 4)]
    finals = [trace.final for _, trace in run_all(jobs, remembers, 2)]

    assert finals == ["1 so far"] * 3


def test_a_seed_gives_the_same_run_again() -> None:
    def draws(replay: Replay) -> str:
        import random

        return str(random.random())

    one = [apart(CASE, draws, seed=seed).final for seed in (1, 1, 2)]

    assert one[0] == one[1] != one[2]


def test_runs_go_side_by_side() -> None:
    """Each run waits until the other has begun: one after the other, they would wait for ever."""
    here, there = os.pipe()

    def meets(replay: Replay) -> str:
        os.write(there, b"x")
        while os.read(here, 1) != b"x":
            pass
        return "met"

    jobs = [Job(CASE, number, Options(seconds=20)) for number in (1, 2)]
    started = time.monotonic()
    finals = [trace.final for _, trace in run_all(jobs, meets, 2)]

    assert finals == ["met", "met"]
    assert time.monotonic() - started < 10


def test_stopping_early_kills_what_still_runs() -> None:
    def spins(replay: Replay) -> None:
        while True:
            time.sleep(0.01)

    def agent(replay: Replay) -> None:
        if replay.options.seed == 1:
            return
        spins(replay)

    # The process that runs the tests has other children too.
    others = {child.pid for child in psutil.Process().children()}
    jobs = [Job(CASE, n, Options(seed=n, seconds=30)) for n in (1, 2)]
    runs = run_all(jobs, agent, 2)
    started = time.monotonic()
    next(runs)
    runs.close()  # type: ignore[attr-defined]

    assert time.monotonic() - started < 5
    assert {child.pid for child in psutil.Process().children()} <= others


def test_strange_characters_come_through() -> None:
    def strange(replay: Replay) -> str:
        replay.ask([{"role": "user", "content": "\ud83d\x00\u202e"}])
        return "\udcff end"

    trace = apart(CASE, strange)

    assert trace.final == "\udcff end"
    assert trace.messages == [["user", "\ud83d\x00\u202e"]]
