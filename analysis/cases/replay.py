"""Replay with Agentdesk's own detectors, which the stand-alone harness does not have.

A replayed run is made a `RunRecord` and read by the same suite as a recorded one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from analysis.cases import harness
from analysis.cases.harness import SCHEMA, Trace, canonical, main
from analysis.suite import analyse
from transcripts.record import (
    Call,
    Ending,
    InputChange,
    Message,
    Round,
    RunLimits,
    RunRecord,
    Stop,
    Tool,
    diff_inputs,
    json_text,
)


def fired(case: Mapping[str, Any], trace: Trace) -> dict[str, str]:
    """The detectors that fire on a replayed run, with the first finding of each in words.

    A detector that raised is told like one that fired: silence must not come from a failure.
    """
    analysis = analyse(record_of(case, trace))
    found = {name: f"could not judge this run ({kind})" for name, kind in analysis.errors.items()}
    for finding in analysis.findings:
        found.setdefault(finding.detector, f"round {finding.round}: {finding.why}")
    return found


def record_of(case: Mapping[str, Any], trace: Trace) -> RunRecord:
    """The replayed run as a record: what the model was shown, replied, and got back."""
    recorded = case["run"]
    limits = recorded.get("limits") or {}
    previous: list[str] = []
    rounds = []
    for at, entry in enumerate(trace.rounds):
        keys = [f"m{number}" for number in trace.inputs[at]]
        change = diff_inputs(previous, keys)
        previous = keys
        rounds.append(round_of(entry, change))
    return RunRecord(
        run_id=f"replay of {recorded.get('run_id', '')}",
        rounds=tuple(rounds),
        messages=tuple(
            Message(f"m{number}", role, text) for number, (role, text) in enumerate(trace.messages)
        ),
        tools=tuple(
            Tool(tool["name"], tool.get("description", ""), schema_text(tool.get("schema")))
            for tool in recorded.get("tools", [])
        ),
        agent=str(recorded.get("agent", "")),
        provider=str(recorded.get("provider", "")),
        model=str(recorded.get("model", "")),
        # A replay that is still going when its script is over does not go on.
        ending=Ending.STOPPED if trace.ending in ("", "open") else Ending(trace.ending),
        ending_reason=trace.reason,
        currency=str(recorded.get("currency", "")),
        context_window=recorded.get("context_window"),
        limits=RunLimits(rounds=limits.get("rounds"), seconds=limits.get("seconds")),
        format="replay",
    )


def schema_text(schema: Any) -> str:
    return schema if isinstance(schema, str) else json_text(schema) if schema else ""


def round_of(entry: Mapping[str, Any], change: InputChange) -> Round:
    """A round as it would have been recorded: each call's result is what the model was shown of it.

    Where the loop ended before the model saw it, the tool's own answer stands in.
    """
    made = {call["id"]: call for call in entry["made"]}
    calls = []
    for asked in entry["calls"]:
        shown, own = asked.get("shown"), made.get(asked["id"])
        result = shown["text"] if shown else own["result"] if own else None
        flag = shown["is_error"] or None if shown else own["is_error"] if own else None
        args = asked["args"] if isinstance(asked["args"], str) else canonical(asked["args"])
        calls.append(Call(asked["name"], args, result, flag, id=asked["id"], joined="id"))
    return Round(
        number=entry["round"],
        stop=Stop(entry["stop"]) if entry["stop"] in set(Stop) else Stop.UNKNOWN,
        stop_raw=entry["stop_raw"] or entry["stop"],
        reply=entry["reply"],
        calls=tuple(calls),
        input=change,
        tokens_in=entry["tokens_in"],
        tokens_out=entry["tokens_out"],
        cost=None if entry["cost"] is None else Decimal(str(entry["cost"])),
        model=entry["model"],
        duration_ms=entry["duration_ms"],
        error=entry["error"],
    )


def replay_command(arguments: Sequence[str]) -> int:
    """`./desk replay`, and `python -m analysis.cases`. Gives the exit code."""
    stand_in_for_exported_harness(Path.cwd() / "harness.py")
    return main(arguments, program="replay", detectors=fired)


def stand_in_for_exported_harness(file: Path) -> None:
    """Where a loop imports the `harness.py` of an export, let it get these very classes.

    Else it would look for the exceptions of one copy while the tools raise those of the other.
    """
    if file.is_file() and SCHEMA in file.read_text(encoding="utf-8", errors="replace"):
        sys.modules["harness"] = harness
