"""How long `check` takes from the shell: one file, and a hundred in one call."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.figures import seconds, under

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 52


def log_of_52_rounds() -> str:
    """A minimal log in which two tools take turns, as one file."""
    lines = []
    for number in range(1, ROUNDS + 1):
        reset = number % 2
        call = {
            "name": "reset_profile" if reset else "check_status",
            "args": {"employee_id": 4417},
            "result": "" if reset else "profile: standard, last reset: 9 days ago",
            "is_error": False,
        }
        lines.append(json.dumps({"round": number, "stop": "wants_tool", "calls": [call]}))
    return "\n".join(lines) + "\n"


def run_check(files: list[Path]) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "analysis.check", "--json", *map(str, files)],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if answer.returncode != 1 or len(json.loads(answer.stdout)["runs"]) != len(files):
        sys.exit(f"check did not flag every file: {answer.stderr.decode()[-500:]}")


def main(_arguments: list[str]) -> int:
    folder = Path(tempfile.mkdtemp(prefix="agentdesk-bench-"))
    try:
        files = [folder / f"run-{n}.jsonl" for n in range(100)]
        for file in files:
            file.write_text(log_of_52_rounds(), encoding="utf-8")
        print(
            under(
                "check, 52 rounds, from the shell", seconds(lambda: run_check(files[:1])), 2.5, "s"
            )
        )
        print(under("check, 100 such files in one call", seconds(lambda: run_check(files)), 6, "s"))
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
