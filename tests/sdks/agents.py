"""A small helpdesk agent, written as a user of each model SDK would: it runs in a process of its
own, with nothing of Agentdesk.
"""

from __future__ import annotations

import json
from typing import Any

GOAL = "Help people with their VPN."
TICKET = "My VPN drops every ten minutes."
ARGS = {"employee": 4417}
RESULT = "accountant, laptop 12"
ANSWER = "Your profile was reset."
MODEL = "stub-model"
SCHEMA = {"type": "object", "properties": {"employee": {"type": "integer"}}}


def openai_agent() -> None:
    from openai import OpenAI

    client = OpenAI(api_key="none", max_retries=0)
    messages: list[Any] = [
        {"role": "system", "content": GOAL},
        {"role": "user", "content": TICKET},
    ]
    function = {"name": "look_up", "description": "Looks up a person.", "parameters": SCHEMA}
    tools: Any = [{"type": "function", "function": function}]
    while True:
        answer = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": RESULT}
            for call in message.tool_calls
        ]


def anthropic_agent() -> None:
    from anthropic import Anthropic

    client = Anthropic(api_key="none", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": TICKET}]
    tools: Any = [{"name": "look_up", "description": "Looks up a person.", "input_schema": SCHEMA}]
    while True:
        answer = client.messages.create(
            model=MODEL, max_tokens=100, system=GOAL, messages=messages, tools=tools
        )
        messages.append({"role": "assistant", "content": [b.model_dump() for b in answer.content]})
        if answer.stop_reason != "tool_use":
            return
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": RESULT}
            for block in answer.content
            if block.type == "tool_use"
        ]
        messages.append({"role": "user", "content": results})


def openai_reply(asked: dict[str, Any], number: int) -> dict[str, Any]:
    """What the model server answers: first a tool request, once there is a result the answer."""
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "look_up", "arguments": json.dumps(ARGS)},
    }
    message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    reason = "tool_calls"
    if any(message["role"] == "tool" for message in asked["messages"]):
        message, reason = {"role": "assistant", "content": ANSWER}, "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_796_032_800,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {"prompt_tokens": 21, "completion_tokens": 7, "total_tokens": 28},
    }


def anthropic_reply(asked: dict[str, Any], number: int) -> dict[str, Any]:
    content: list[Any] = [{"type": "tool_use", "id": "call_1", "name": "look_up", "input": ARGS}]
    reason = "tool_use"
    if len(asked["messages"]) > 1:
        content, reason = [{"type": "text", "text": ANSWER}], "end_turn"
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 21, "output_tokens": 7},
    }
