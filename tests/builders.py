"""Runs as plain values for detectors; no database.

    a_run([call("get_user", {"id": 7}, "Anna")], [call("reset", {"id": 7}, "")], "All done.")

Each argument is a round: a list of calls, a text (a finished reply), or a `Round` made by
`a_round`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transcripts.endings import with_ending
from transcripts.record import (
    Call,
    Ending,
    InputChange,
    Message,
    Placed,
    Round,
    RunRecord,
    Stop,
    Tool,
)

RoundLike = Sequence[Call] | str | Round


def call(
    name: str = "get_employee",
    args: Any = None,
    result: str | dict[str, Any] | list[Any] | None = "4417, accountant",
    *,
    is_error: bool | None = None,
    duration_ms: float | None = None,
) -> Call:
    """A call; `args` and `result` that are no text are written as JSON. `result` None:
    unanswered.
    """
    args_text = args if isinstance(args, str) else json.dumps({} if args is None else args)
    result_text = result if result is None or isinstance(result, str) else json.dumps(result)
    return Call(
        name=name, args=args_text, result=result_text, is_error=is_error, duration_ms=duration_ms
    )


def a_round(*calls: Call, reply: str = "", stop: Stop | None = None, **fields: Any) -> Round:
    """A round without its number, which `a_run` gives it."""
    stop = stop or (Stop.WANTS_TOOL if calls else Stop.FINISHED)
    return Round(number=0, calls=calls, reply=reply, stop=stop, **fields)


def a_run(*rounds: RoundLike, live: bool = False, **fields: Any) -> RunRecord:
    """A run of these rounds, numbered from 1, with the ending that follows from them."""
    made = tuple(
        replace(_round(each), number=_round(each).number or number)
        for number, each in enumerate(rounds, start=1)
    )
    return with_ending(RunRecord(**{"run_id": "run-1", "rounds": made, **fields}), live=live)


def reading_run(
    *inputs: Sequence[str], texts: dict[str, tuple[str, str]], **fields: Any
) -> RunRecord:
    """A run whose rounds read these message keys; `texts` gives role and text by key.

    The change from one input to the next drops what is gone and adds what is new, at its place.
    Each round looks something new up, the last one finishes.
    """
    rounds: list[Round] = []
    previous: Sequence[str] = ()
    for number, keys in enumerate(inputs, start=1):
        change = InputChange(
            added=tuple(Placed(key, at) for at, key in enumerate(keys) if key not in previous),
            dropped=tuple(Placed(key, at) for at, key in enumerate(previous) if key not in keys),
        )
        previous = keys
        last = number == len(inputs)
        calls = () if last else (call("look_up", {"step": number}, f"answer {number}"),)
        rounds.append(replace(a_round(*calls, reply="Done." if last else ""), input=change))
    messages = tuple(Message(key, role, text) for key, (role, text) in texts.items())
    return a_run(*rounds, messages=messages, **fields)


def tool(name: str, schema: dict[str, Any] | None = None) -> Tool:
    """A tool that was offered."""
    return Tool(name, schema=json.dumps(schema) if schema else "")


def stopped(run: RunRecord, reason: str = "") -> RunRecord:
    """The run, stopped from outside."""
    return replace(run, ending=Ending.STOPPED, ending_reason=reason)


def _round(each: RoundLike) -> Round:
    if isinstance(each, Round):
        return each
    if isinstance(each, str):
        return a_round(reply=each)
    return a_round(*each)
