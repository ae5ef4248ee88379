"""Small cases for tests: a few rounds, written as short as they can be."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from analysis.cases.harness import Job, Options, Replay, Trace, check_case, judge, run_all, run_here

TICKET = "Ticket 7: the printer on floor 2 is out of toner."


def wants(name: str, result: str | None = "fine", /, **args: Any) -> dict[str, Any]:
    """A recorded round that calls one tool."""
    call = {"name": name, "args": args, "result": result}
    return {"reply": f"I call {name}.", "stop": "wants_tool", "calls": [call]}


def says(text: str = "Done.") -> dict[str, Any]:
    """A recorded round that ends the run."""
    return {"reply": text, "stop": "finished"}


def a_case(*rounds: dict[str, Any], **entries: Any) -> dict[str, Any]:
    """A case of these rounds; `expect` may leave ids out."""
    numbered = [{"round": number, **entry} for number, entry in enumerate(rounds, 1)]
    numbered[0]["input"] = {"added": ["goal", "ticket"]}
    messages = [
        {"key": "goal", "role": "system", "content": "You order things."},
        {"key": "ticket", "role": "user", "content": TICKET},
    ]
    expect = [{"id": f"{e['kind']}-{at}", **e} for at, e in enumerate(entries.pop("expect", []))]
    case = {
        "schema": "agentdesk.case/1",
        "case_id": "small",
        "expect": expect,
        **entries,
        "run": {"run_id": "r", "messages": messages, "rounds": numbered},
    }
    check_case(case)
    return case


def plain_loop(replay: Replay) -> str:
    """Calls what the model asks for, tells failures as text, and returns the last reply."""
    messages: list[Any] = list(replay.start())
    while True:
        reply = replay.ask(messages)
        messages.append(reply.message)
        if not reply.calls:
            return reply.text
        for call in reply.calls:
            try:
                result: Any = replay.call(call.name, call.args)
            except Exception as error:
                result = f"failed: {type(error).__name__}: {error}"
            messages.append(call.answer(result))


def here(
    case: dict[str, Any], agent: Callable[[Replay], Any] = plain_loop, **options: Any
) -> Trace:
    """Run in this process: quick, and a failure shows its own lines."""
    return run_here(case, agent, Options(**options))


def apart(case: dict[str, Any], agent: Callable[[Replay], Any], **options: Any) -> Trace:
    """Run as a process of its own, as the product does."""
    ((_, trace),) = run_all([Job(case, 1, Options(**options))], agent, 1)
    return trace


def judged(
    case: dict[str, Any], agent: Callable[[Replay], Any] = plain_loop
) -> list[tuple[str, str]]:
    return judge(case, here(case, agent))


def state(wanted: dict[str, Any], *rounds: dict[str, Any], **entries: Any) -> str:
    """passed, failed or not_judged: one expectation over a run of the plain loop."""
    agent = entries.pop("agent", plain_loop)
    ((word, _),) = judged(a_case(*rounds, expect=[wanted], **entries), agent)
    return word


def shown(trace: Trace, number: int, call: int = 0) -> str:
    """What the model was shown of a call's result."""
    text: str = trace.rounds[number - 1]["calls"][call]["shown"]["text"]
    return text


def gone(pid: int) -> bool:
    """Whether the process ends within a moment; a zombie that nobody reaps has ended."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rsplit(")", 1)[1]
        except FileNotFoundError:
            return True
        if state.split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False
