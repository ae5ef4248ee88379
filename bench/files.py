"""`./desk import` of a large file: peak memory of its process, and megabytes a second.

A file of `--mb` MB (200 by default), plain and as gzip, into a database of its own on the servers
of the tests; a file of 20 MB beside it shows whether memory grows with the file.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.figures import Figure, under
from bench.pages.served import database

ROOT = Path(__file__).resolve().parents[1]
SMALL_MB = 20
MOST_MB = 300
WORDS = "printer vpn profile account reset ticket queue server mail login folder share invoice page"
# Runs the command, then prints the most that its own process ever held (KB on Linux).
MEASURED = """
import resource, sys
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "import_runs", *sys.argv[1:]])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench files")
    parser.add_argument("--mb", type=int, default=200)
    size = parser.parse_args(arguments).mb
    folder = Path(tempfile.mkdtemp(prefix="agentdesk-bench-"))
    figures: list[Figure] = []
    try:
        with database():
            from tests.factories import a_project

            a_project("bench")
            for name, mb, packed in (
                (f"{SMALL_MB} MB of JSONL", SMALL_MB, False),
                (f"{size} MB of JSONL", size, False),
                (f"{size} MB of JSONL in gzip, known already", size, True),
            ):
                file = a_file(folder / "runs", mb, packed=packed)
                memory, seconds = imported(file)
                figures.append(under(f"memory, {name}", [memory], MOST_MB, "MB"))
                figures.append(Figure(f"speed, {name}", [mb / seconds], "MB/s"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for figure in figures:
        print(figure)
    return int(any(figure.met is False for figure in figures))


def a_file(path: Path, mb: int, *, packed: bool) -> Path:
    """Runs of 30 rounds with a tool each, about 180 KB a run, the same for the same number."""
    left, number = mb * 2**20, 0
    with gzip.open(path, "wb", 1) if packed else path.open("wb") as file:
        while left > 0:
            line = a_line(number)
            file.write(line)
            left -= len(line)
            number += 1
    return path


def a_line(number: int) -> bytes:
    chance = random.Random(number)
    words = WORDS.split()

    def text(count: int) -> str:
        return " ".join(chance.choices(words, k=count))

    rounds = [
        {
            "round": n,
            "stop": "tool_use",
            "reply": text(300),
            "calls": [
                {"id": f"c{n}", "name": "look", "args": {"q": text(20)}, "result": text(600)}
            ],
        }
        for n in range(1, 31)
    ]
    run = {"run_id": f"bench-{number}", "agent": "bench", "rounds": rounds}
    return json.dumps(run).encode() + b"\n"


def imported(file: Path) -> tuple[float, float]:
    """Peak MB of the importing process, and its seconds."""
    from django.db import connection

    settings = connection.settings_dict
    where = f"{settings['USER']}:{settings['PASSWORD']}@{settings['HOST']}:{settings['PORT']}"
    environment = {**os.environ, "DATABASE_URL": f"postgresql://{where}/{settings['NAME']}"}
    began = time.perf_counter()
    told = subprocess.run(
        [sys.executable, "-c", MEASURED, str(file), "--project", "bench"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return int(told.split()[-1]) / 1024, time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
