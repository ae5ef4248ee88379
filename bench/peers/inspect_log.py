"""Writes a run as an Inspect log: `python inspect_log.py FILE < RUN`, in Inspect's own environment.

RUN is JSON as `bench.peers.inspect_view.run_of` makes it; the log has one sample.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main(file: str, run: dict[str, Any]) -> None:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalSample,
        EvalSpec,
        write_eval_log,
    )

    messages = [message_of(each) for each in run["messages"]]
    sample = EvalSample(id="1", epoch=1, input=run["input"], target="", messages=messages)
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task=run["name"],
        model="none/none",
        dataset=EvalDataset(samples=1),
        config=EvalConfig(),
    )
    write_eval_log(EvalLog(status="success", eval=spec, samples=[sample]), file)


def message_of(told: dict[str, Any]) -> Any:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall

    if told["role"] == "tool":
        return ChatMessageTool(
            content=told["content"], tool_call_id=told["id"], function=told["name"]
        )
    if told["role"] == "user":
        return ChatMessageUser(content=told["content"])
    calls = [
        ToolCall(id=call["id"], function=call["name"], arguments=call["args"])
        for call in told["calls"]
    ]
    return ChatMessageAssistant(content=told["content"], tool_calls=calls)


if __name__ == "__main__":
    main(sys.argv[1], json.load(sys.stdin))
