"""One round at a time, in a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from analysis.cases.harness.asking import Replay
from analysis.cases.harness.files import read_cases
from analysis.cases.harness.performing import run_here
from analysis.cases.harness.processes import Job
from analysis.cases.harness.reading import CaseError, HardStop, brief, canonical
from analysis.cases.harness.report import report, say
from analysis.cases.harness.tally import Settings, Tally


def step(path: str, agent: Callable[[Replay], Any], settings: Settings) -> int:
    """Run one case in this terminal and wait before each reply is handed to the loop."""
    name, case = next(read_cases(path))
    if isinstance(case, CaseError):
        raise case
    options = settings.options(case, 1)
    options.seconds = math.inf  # a person may think
    messages: list[list[str]] = []
    waiting = [True]

    def watch(event: dict[str, Any]) -> None:
        for line in step_lines(event, messages):
            say(line)
        if event["e"] == "reply" and waiting[0]:
            answer = input("[Enter] on, c: go on to the end, q: stop > ").strip().lower()
            if answer == "q":
                raise HardStop("stopped by you")
            waiting[0] = answer != "c"

    trace = run_here(case, agent, options, watch)
    tally = Tally(case, settings)
    tally.add(Job(case, 1, options), trace)
    result = tally.result()
    say(report(name, result, True))
    return 0 if result["state"] == "passed" else 1


def step_lines(event: Mapping[str, Any], messages: list[list[str]]) -> Iterator[str]:
    if event["e"] == "ask":
        messages.extend(event["messages"])
        count = event["kept"] + len(event["added"])
        yield f"\nRound {event['round']}: the model is shown {count} messages"
        for number in event["added"]:
            role, text = messages[number]
            yield f"    {role}: {brief(text) or '(empty)'}"
    elif event["e"] == "reply":
        yield f"  reply ({event['source']}, {event['stop']}): {brief(event['reply'])}"
        for call in event["calls"]:
            yield f"    wants {call['name']} {brief(canonical(call['args']))}"
    elif event["e"] == "call":
        word = f"raises {event['raises']}" if event["raises"] else "gives"
        yield f"  {event['name']} {word}: {brief(event['result']) or '(empty)'}"
    elif event["e"] == "diverged":
        yield f"  diverges, {event['what']}: expected {event['expected']!r}, got {event['got']!r}"
