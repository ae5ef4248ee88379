from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from tests.transcripts.masking.builders import GITHUB, masked
from transcripts.masking import MaskingError, engine


def test_a_forked_child_scans_with_the_parents_rules():
    engine.load()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, b"ok" if GITHUB not in masked(f"use {GITHUB}") else b"no")
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(read, 2) == b"ok"


def test_threads_share_the_engine():
    results = []

    def work() -> None:
        results.append(masked(f"use {GITHUB} now"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(results)) == 1
    assert len(results) == 4


def test_rules_that_cannot_be_loaded_fail_closed(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "_scanner", None)
    monkeypatch.setattr(engine, "RULES", tmp_path / "missing.yml")

    with pytest.raises(MaskingError, match="cannot be loaded"):
        masked(f"use {GITHUB}")


def test_masking_needs_no_django_and_opens_no_socket():
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise OSError('network')\n"
        "socket.socket.connect = refuse\n"
        "from transcripts.masking import Masker\n"
        f"out = Masker(key=b'k' * 32, project='p', run='r').text('use {GITHUB}')\n"
        "assert out.startswith('use [SECRET:'), out\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'django']\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
