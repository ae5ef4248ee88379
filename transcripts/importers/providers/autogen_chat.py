"""AutoGen 0.2 chats: OpenAI chat messages in which every agent has a name, and the role `user` for
whoever does not own the log.

Source: autogen 0.2 agentchat/conversable_agent.py and groupchat.py, and logs of group chats. What
runs the blocks of code answers `exitcode: 1 (execution failed)`. Neither the model's name nor a
stop label is in them.
"""

from __future__ import annotations

import re
from typing import Any

from transcripts.importers.fields import as_name, as_text, json_text, opaque
from transcripts.importers.providers import openai_chat
from transcripts.importers.providers.base import (
    Provider,
    knows_message_object,
    read_message_object,
)
from transcripts.importers.turns import CallDraft, Reply, Turn

NAME = "autogen"
# What AutoGen calls the running of a reply's blocks of code.
RUNS_CODE = "execute_code_blocks"
_EXECUTED = re.compile(r"exitcode: (-?[0-9]+) \([^()\n]*\)\nCode output:")
_BLOCK = re.compile(r"```[ \t]*([\w+#.-]*)[^\n]*\n(.*?)```", re.DOTALL)


def knows_messages(messages: list[Any]) -> bool:
    """Whether these are chat messages that all have a name, and AutoGen's own signs among them."""
    return (
        openai_chat.knows_messages(messages)
        and all(as_name(message.get("name")) for message in messages)
        and any("tool_responses" in message or _exit_code(message) for message in messages)
    )


def read_messages(messages: list[Any]) -> list[Turn]:
    """The turns of a chat. Who speaks first asks; all others are agents, or run their code."""
    turns: list[Turn] = []
    asks = as_name(messages[0]["name"])
    last: Reply | None = None
    for message in messages:
        code = _exit_code(message)
        if code is not None and last is not None:
            last.calls.append(_execution(message, code, last))
            continue
        turn = _read(message, asks)
        if turn.reply is not None and (last is None or _blocks(turn.reply.text)):
            last = turn.reply
        turns.append(turn)
    return turns


def _read(message: dict[str, Any], asks: str) -> Turn:
    speaker = as_name(message.get("name"))
    if message.get("role") != "user" or speaker == asks:
        turn = openai_chat.read_message(message)
    else:
        reply = openai_chat.read_assistant(message)
        turn = Turn("assistant", reply.text, speaker, reply=reply)
    if turn.reply is not None:
        turn.reply.provider = NAME
        turn.reply.opaque.append(opaque("agent", speaker))
    return turn


def _execution(message: dict[str, Any], code: str, reply: Reply) -> CallDraft:
    """A call that stands for the blocks of code of the last reply that has some, and its result."""
    blocks = [{"language": name, "code": text} for name, text in _blocks(reply.text)]
    args = json_text({"code_blocks": blocks})
    return CallDraft(RUNS_CODE, args, result=as_text(message.get("content")), is_error=code != "0")


def _blocks(text: str) -> list[tuple[str, str]]:
    return _BLOCK.findall(text)


def _exit_code(message: dict[str, Any]) -> str | None:
    content = message.get("content")
    found = _EXECUTED.match(content) if isinstance(content, str) else None
    return found[1] if found else None


PROVIDER = Provider(
    name=NAME,
    title="AutoGen 0.2 chats",
    knows_messages=knows_messages,
    read_messages=read_messages,
    knows_request=knows_message_object(knows_messages),
    read_request=read_message_object(read_messages),
    priority=10,
)
