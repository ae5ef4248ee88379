"""The made-up VPN run: its case, and the loops and wrappers of the story as small functions.

The agent resets a VPN profile for which it has no permission. The old wrapper swallows that, the
old loop goes round and round. The new wrapper says it, the new loop makes no third identical call.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from analysis.cases.case import case_from_run
from analysis.cases.harness import Replay, Result
from transcripts.importers import read_runs
from transcripts.masking.types import MaskedRun, MaskReceipt
from transcripts.record import RunRecord

FILE = Path(__file__).parents[2] / "data" / "cases" / "vpn.run.json"
NO_PERMISSION = "403 Forbidden: the help desk agent has no permission to reset VPN profiles"

EXPECT = [
    {"id": "ending", "kind": "ending", "in": ["finished", "handed_off"]},
    {"id": "max_rounds", "kind": "max_rounds", "rounds": 12},
    {"id": "no_identical_call", "kind": "no_identical_call", "times": 3},
    {"id": "no_empty_result", "kind": "no_empty_result"},
    {"id": "ticket_in_every_input", "kind": "ticket_in_every_input"},
]
MOCKS = [
    {
        "tool": "reset_vpn_profile",
        "answer": "error",
        "text": NO_PERMISSION,
        "raises": "PermissionError",
        "note": "What the service says; the old wrapper made an empty result of it.",
    },
    {"tool": "escalate_to_it_team", "answer": "result", "text": "handed to the IT team as IT-88"},
]
BRANCHES = [
    {
        "when": {"result_of": "reset_vpn_profile", "contains": "no permission"},
        "replies": [
            {
                "text": "I may not reset this profile, so I hand the ticket over.",
                "calls": [{"name": "escalate_to_it_team", "args": {"ticket": "HD-5127"}}],
            },
            {"text": "The IT team has your ticket as IT-88 and will call you.", "stop": "finished"},
        ],
        "note": "A model that is told of the missing permission hands the ticket over.",
    }
]


@cache
def recorded_run() -> RunRecord:
    (run,) = read_runs(FILE.read_bytes())
    assert isinstance(run, RunRecord)
    return run


def masked(run: RunRecord) -> MaskedRun:
    return MaskedRun(run, MaskReceipt("test", {}))


def vpn_case(**changes: Any) -> dict[str, Any]:
    entries: dict[str, Any] = {"expect": EXPECT, "branches": BRANCHES, "mocks": MOCKS, **changes}
    return case_from_run(masked(recorded_run()), case_id="vpn-5127", **entries)


Wrapper = Callable[[Replay, str, Any], str]


def old_wrapper(replay: Replay, name: str, args: Any) -> str:
    """Swallows what goes wrong: the model reads an empty result."""
    try:
        return str(replay.call(name, args))
    except Exception:
        return ""


def new_wrapper(replay: Replay, name: str, args: Any) -> str:
    """Tells the model what went wrong, and what to do instead."""
    try:
        return str(replay.call(name, args))
    except PermissionError:
        told = f"{name}: not done, no permission. Hand the ticket over with escalate_to_it_team."
        return Result(told, is_error=True)


def old_loop(replay: Replay, wrapper: Wrapper) -> None:
    """Goes on for as long as the model wants tools, and keeps the last messages only."""
    messages: list[dict[str, Any]] = list(replay.start())
    while True:
        if len(messages) > 78:
            messages = messages[-60:]
        reply = replay.ask(messages)
        messages.append(reply.message)
        if not reply.calls:
            return
        for call in reply.calls:
            messages.append(call.answer(wrapper(replay, call.name, call.args)))


def new_loop(replay: Replay, wrapper: Wrapper) -> None:
    """Hands the ticket over in place of a third identical call whose answer has not changed."""
    messages: list[dict[str, Any]] = list(replay.start())
    answers: dict[str, list[str]] = {}
    while True:
        reply = replay.ask(messages)
        messages.append(reply.message)
        if not reply.calls:
            return
        for call in reply.calls:
            earlier = answers.setdefault(json.dumps([call.name, call.args], sort_keys=True), [])
            if len(earlier) >= 2 and earlier[-1] == earlier[-2]:
                replay.end("handed_off", f"repeated call: {call.name}")
                return
            earlier.append(wrapper(replay, call.name, call.args))
            messages.append(call.answer(earlier[-1]))


def old_agent(replay: Replay) -> None:
    old_loop(replay, old_wrapper)


def new_loop_only(replay: Replay) -> None:
    new_loop(replay, old_wrapper)


def new_agent(replay: Replay) -> None:
    new_loop(replay, new_wrapper)
