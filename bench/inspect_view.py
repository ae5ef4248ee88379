"""Inspect View beside the run page: the same rounds, in an environment of its own.

It knows no first odd round, so what is measured is when the run's first message is readable, and
when the last is after `End`. Where it cannot be installed or started, that is said, and nothing is
measured.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

from bench.figures import Figure
from bench.pages import ANSWER, CHROMIUM, WATCH

PACKAGE = "inspect-ai==0.3.285"
ROOT = Path(__file__).parent.parent
PLACE = ROOT / ".agentdesk" / "inspect-venv"
PYTHON = PLACE / "bin" / "python"
# A run that takes longer is told as not there.
PATIENCE_MS = 120_000


def figures(lengths: Sequence[int]) -> Iterator[Figure]:
    """What one waits for in Inspect View, for runs of so many rounds; nothing where it cannot be
    had.
    """
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        print("no Chromium here, so Inspect View is not measured")
        return
    if (reason := _install()) is not None:
        print(f"Inspect View is not measured: {reason}")
        return
    with TemporaryDirectory() as folder:
        told = [str(length) for length in lengths]
        script = str(ROOT / "bench" / "inspect_log.py")
        subprocess.run([str(PYTHON), script, folder, str(ANSWER), *told], check=True)
        with _serving(folder) as origin:
            for length in lengths:
                yield from _waits(chromium, origin, length)


def _install() -> str | None:
    """Make the environment where it is not there; why it cannot be, else None."""
    if (PLACE / "bin" / "inspect").exists():
        return None
    for command in (
        [sys.executable, "-m", "venv", str(PLACE)],
        [str(PYTHON), "-m", "pip", "install", "-q", PACKAGE],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(PLACE, ignore_errors=True)
            return (done.stderr.strip().splitlines() or ["it cannot be installed"])[-1]
    return None


@contextmanager
def _serving(folder: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(PLACE / "bin" / "inspect"), "view", "start", "--log-dir", folder]
    server = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    origin = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urlopen(origin, timeout=1).close()
                break
            except URLError:
                time.sleep(0.2)
        yield origin
    finally:
        server.terminate()
        server.wait()


def _waits(chromium: str, origin: str, rounds: int) -> Iterator[Figure]:
    from playwright.sync_api import Error, sync_playwright

    name = f"Inspect View, {rounds:,} rounds"
    address = f"{origin}/#/logs/run-{rounds}.eval/samples/sample/1/1/messages"
    flags = ["--no-sandbox", "--disable-background-networking", "--enable-precise-memory-info"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        try:
            opened = []
            for _ in range(3):
                page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
                page.add_init_script(WATCH)
                page.set_default_timeout(PATIENCE_MS)
                started = time.perf_counter()
                page.goto(address)
                page.get_by_text("Now I look at record number 1.").first.wait_for()
                opened.append(time.perf_counter() - started)
            yield Figure(f"{name}: first message readable", opened, "s")
            started = time.perf_counter()
            page.keyboard.press("End")
            page.keyboard.press("Control+End")
            try:
                page.get_by_text(f"record number {rounds - 1}.").first.wait_for(timeout=10_000)
                yield Figure(f"{name}: last round", [time.perf_counter() - started], "s")
            except Error:
                print(f"{name}: no key leads to the last round in 10 s")
            page.request_gc()
            said = json.loads(
                page.evaluate(
                    "JSON.stringify([watched.most, watched.longest,"
                    " performance.memory.usedJSHeapSize / 1e6])"
                )
            )
            yield Figure(f"{name}: most elements", [said[0]], "")
            yield Figure(f"{name}: longest task of a script", [said[1]], "ms")
            yield Figure(f"{name}: heap", [said[2]], "MB")
        except Error as error:
            print(f"{name}: {error.message.splitlines()[0]}")
        finally:
            browser.close()
