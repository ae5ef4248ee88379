"""A child does not outlive its parent, and ends when asked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentdesk.local.process import LOG_BYTES, Account, Child, LocalError, keep_short

SLEEPER = "import time; print('ready', flush=True); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"


def child(tmp_path: Path, code: str) -> Child:
    return Child(name="a child", command=[sys.executable, "-c", code], log=tmp_path / "a.log")


def said_ready(log: Path) -> bool:
    return log.exists() and "ready" in log.read_text()


def wait_for_end(pid: int, patience: float = 10) -> bool:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.services
def test_a_killed_parent_takes_its_child_along(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from agentdesk.local.process import Child\n"
        f"c = Child(name='c', command=[sys.executable, '-c', {SLEEPER!r}], "
        f"log=Path({str(tmp_path / 'c.log')!r}))\n"
        "c.start(); print(c.process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    pid = int(parent.stdout.readline())

    parent.kill()
    parent.wait()
    parent.stdout.close()

    assert wait_for_end(pid)


def test_stop_ends_a_willing_child(tmp_path: Path) -> None:
    willing = child(tmp_path, SLEEPER)
    willing.start()
    willing.wait_until(lambda: said_ready(willing.log), patience=20)

    willing.stop()

    assert not willing.running


def test_stop_ends_a_stubborn_child_after_a_while(tmp_path: Path) -> None:
    stubborn = child(tmp_path, STUBBORN)
    stubborn.start()
    stubborn.wait_until(lambda: said_ready(stubborn.log), patience=20)

    stubborn.stop(patience=0.2)

    assert stubborn.process
    assert stubborn.process.returncode == -signal.SIGKILL


def test_a_child_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    dead = child(tmp_path, "raise SystemExit('the reason')")
    dead.start()

    with pytest.raises(LocalError, match="a child did not start: the reason"):
        dead.wait_until(lambda: False, patience=20)


def test_waiting_has_an_end(tmp_path: Path) -> None:
    slow = child(tmp_path, SLEEPER)
    slow.start()

    with pytest.raises(LocalError, match="is not ready after"):
        slow.wait_until(lambda: False, patience=0.1)
    slow.stop()


def test_a_log_is_cut_and_its_end_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"x" * LOG_BYTES + b"the end")

    keep_short(log)

    assert log.stat().st_size == 0
    kept = (tmp_path / "a.log.1").read_bytes()
    assert kept.endswith(b"the end")
    assert len(kept) == LOG_BYTES


def test_a_short_log_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("short")

    keep_short(log)

    assert log.read_text() == "short"


def test_a_closed_folder_is_out_of_reach(tmp_path: Path) -> None:
    nobody = Account("nobody", 65534, 65534)
    open_folder = tmp_path / "open"
    closed = tmp_path / "closed"
    for folder, mode in ((tmp_path, 0o755), (open_folder, 0o755), (closed, 0o700)):
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
    (closed / "inside").mkdir()

    above = nobody.reaches(tmp_path.parent)
    assert nobody.reaches(open_folder) is above
    assert nobody.reaches(closed) is False
    assert nobody.reaches(closed / "inside") is False


def test_only_root_needs_another_account() -> None:
    assert (Account.unprivileged() is not None) is (os.geteuid() == 0)
