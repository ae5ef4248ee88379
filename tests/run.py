"""`./desk test`: start the servers of the tests, then pytest; its summary is printed last.

Lint, types and templates are tests too (`test_lint.py`), so that one summary and one exit code tell
all. With arguments of its own pytest runs with these alone, in one process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from agentdesk.local import ports
from agentdesk.local.postgres import Postgres
from agentdesk.local.process import Child, LocalError
from agentdesk.local.valkey import Valkey

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
EVERYTHING = ["-n", "2", "--dist", "loadgroup", "--durations", "25"]


def find_chromium() -> str | None:
    return next((found for name in CHROMIUM if (found := shutil.which(name))), None)


def bring_chromium() -> None:
    """Install Chromium where this machine lets us; else say how, and its tests are skipped."""
    if find_chromium():
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("desk: installing chromium by apt-get, for the tests of pages", flush=True)
        quiet = {
            "stdout": subprocess.DEVNULL,
            "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        }
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        for command in (["apt-get", "update", "-qq"], install):
            subprocess.run(command, check=False, **quiet)
    if not find_chromium():
        print(
            "desk: there is no Chromium, so the tests of pages are skipped. Install it, on Debian "
            "with: apt-get install chromium",
            flush=True,
        )


def main(arguments: list[str]) -> int:
    state = Path(tempfile.mkdtemp(prefix="agentdesk-test-"))
    state.chmod(0o755)
    children: list[Child] = []
    try:
        bring_chromium()
        postgres = Postgres(state, port=ports.any_free(), fast=True)
        children.append(postgres.start())
        valkey = Valkey(state, port=ports.any_free())
        children.append(valkey.start())
        environment = {
            **os.environ,
            "AGENTDESK_TEST_DATABASE_URL": postgres.url,
            "AGENTDESK_TEST_REDIS_URL": valkey.url,
        }
        command = [sys.executable, "-m", "pytest", *(arguments or EVERYTHING)]
        return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
    except LocalError as error:
        print(f"desk: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    finally:
        for child in reversed(children):
            child.stop()
        shutil.rmtree(state, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
