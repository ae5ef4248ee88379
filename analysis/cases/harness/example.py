"""A loop to begin with, and as an example of one that keeps its limits."""

from __future__ import annotations

from typing import Any

from analysis.cases.harness.asking import Replay
from analysis.cases.harness.reading import ToolFailed, call_key


def example_agent(replay: Replay) -> str:
    """Call tools until the model is done; tell it of failures, make no third identical call."""
    messages: list[Any] = replay.start()
    results: dict[str, list[str]] = {}
    while True:
        reply = replay.ask(messages)
        messages.append(reply.message)
        if not reply.calls:
            said = replay.person()
            if said is None:
                return reply.text
            messages.append({"role": "user", "content": said})
        for call in reply.calls:
            key = call_key(call.name, call.args)
            earlier = results.setdefault(key, [])
            if len(earlier) >= 2 and earlier[-1] == earlier[-2]:
                replay.end("handed_off", f"repeated call: {call.name}")
                return reply.text
            try:
                result = str(replay.call(call.name, call.args))
            except ToolFailed as error:
                result = f"{call.name} failed: {error}"
            earlier.append(result)
            messages.append(call.answer(result))
