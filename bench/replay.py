"""What the harness adds to a replay: the 52-round case, and a suite of a thousand cases."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from analysis.cases.export_pytest import export_zip
from analysis.cases.harness import Replay, replay, run_here
from analysis.cases.harness.asking import Options
from bench.figures import seconds, under

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 52
CASES = 1000


def a_case(name: str, rounds: int = ROUNDS) -> dict[str, Any]:
    """Two tools take turns, as in a run that goes round and round."""
    entries = []
    for number in range(1, rounds + 1):
        reset = number % 2
        call = {
            "name": "reset_profile" if reset else "check_status",
            "args": {"employee_id": 4417},
            "result": "" if reset else "profile: standard, last reset: 9 days ago",
        }
        reply = "I reset the profile." if reset else "I check whether that helped."
        entries.append({"round": number, "reply": reply, "stop": "wants_tool", "calls": [call]})
    entries[0]["input"] = {"added": ["goal", "ticket"]}
    messages = [
        {"key": "goal", "role": "system", "content": "You run the help desk."},
        {"key": "ticket", "role": "user", "content": "My connection drops every few minutes."},
    ]
    expect = [
        {"id": "ending", "kind": "ending", "in": ["finished", "handed_off", "open"]},
        {"id": "max_rounds", "kind": "max_rounds", "rounds": rounds},
        {"id": "ticket", "kind": "ticket_in_every_input"},
    ]
    return {
        "schema": "agentdesk.case/1",
        "case_id": name,
        "expect": expect,
        "run": {"run_id": name, "messages": messages, "rounds": entries},
    }


def trivial_loop(replayed: Replay) -> None:
    """Calls whatever it is asked for; nothing else takes time here."""
    messages: list[Any] = list(replayed.start())
    while True:
        reply = replayed.ask(messages)
        messages.append(reply.message)
        if not reply.calls:
            return
        for call in reply.calls:
            messages.append(call.answer(replayed.call(call.name, call.args)))


def suite(folder: Path) -> Path:
    file = folder / "suite.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for number in range(CASES):
            lines.write(json.dumps(a_case(f"case-{number:04}")) + "\n")
    return file


def replay_suite(file: Path) -> None:
    command = [sys.executable, "-m", "analysis.cases", str(file)]
    command += ["--agent", "bench.replay:trivial_loop"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    passed = [line for line in answer.stdout.splitlines() if line.startswith("ok")]
    if answer.returncode != 0 or len(passed) != CASES:
        sys.exit(f"the suite did not pass: {answer.stdout[-300:]}{answer.stderr[-300:]}")


def main(_arguments: list[str]) -> int:
    case = a_case("one")
    here = seconds(lambda: run_here(case, trivial_loop, Options()))
    apart = seconds(lambda: replay(case, trivial_loop))
    size = len(export_zip([case], folder="one")) / 1000
    figures = [
        under("replay, 52 rounds, in this process", [s * 1000 for s in here], 100, "ms"),
        under("replay, 52 rounds, as a process, judged", [s * 1000 for s in apart], 100, "ms"),
        under("the pytest export of a 52-round case", [size], 60, "kB"),
    ]
    with tempfile.TemporaryDirectory(prefix="agentdesk-bench-") as folder:
        file = suite(Path(folder))
        taken = seconds(lambda: replay_suite(file), times=1)
    figures.append(under(f"a suite of {CASES:,} cases, from the shell", taken, 60, "s"))
    # Of one process: the runs beside it are forks of it, and share most of their memory with it
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    figures.append(under("the largest process of that suite, peak", [largest], 300, "MB"))
    for figure in figures:
        print(figure)
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
