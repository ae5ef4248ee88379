"""Claude Agent SDK messages, as `claude --output-format stream-json` writes them, one a line.

Source: @anthropic-ai/claude-agent-sdk 0.3.332 sdk.d.ts. `usage` of the result covers the main loop
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Document, Importer, Read
from transcripts.importers.building import RunBuilder
from transcripts.importers.claude_code import add_lines
from transcripts.importers.fields import as_cost, as_count, as_dict, as_list, as_name, as_text
from transcripts.importers.providers import anthropic
from transcripts.record import Ending, Stop, Tool
from transcripts.stop_reasons import plain_label

_ENDINGS = {
    "success": Ending.FINISHED,
    "error_max_turns": Ending.ROUND_LIMIT,
    "error_max_budget_usd": Ending.STOPPED,
}


def recognise(value: Any) -> bool:
    """Whether a document is a message of the stream, or all of them in a list."""
    if isinstance(value, list):
        return bool(value) and all(map(recognise, value))
    if _is_recording(value):
        return any(map(_is_message, _recorded(value)))
    return _is_message(value)


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("type"), str)
        and isinstance(value.get("session_id"), str)
        and "uuid" in value
    )


def _is_recording(value: Any) -> bool:
    """Whether this is the SDK's talk with its command line, as its transport recorded it."""
    messages = value.get("messages") if isinstance(value, dict) else None
    return isinstance(messages, list) and all(
        isinstance(m, dict) and m.get("direction") in ("send", "recv") for m in messages
    )


def _recorded(value: dict[str, Any]) -> list[Any]:
    """The messages of a recording; those that were sent have no ids of their own."""
    session = next(
        (
            found
            for m in value["messages"]
            if m["direction"] == "recv"
            and (found := as_name(as_dict(m.get("message")).get("session_id")))
        ),
        "",
    )
    return [
        {"uuid": str(number), **message, "session_id": session} if session else message
        for number, message in enumerate(as_dict(m.get("message")) for m in value["messages"])
        if message.get("type") in ("system", "assistant", "user", "result")
    ]


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """A run for each session, and one for each tool use that started a sub-agent."""
    by_run: dict[str, list[dict[str, Any]]] = {}
    for document in documents:
        values = document.value if isinstance(document.value, list) else [document.value]
        if _is_recording(document.value):
            values = _recorded(document.value)
        for value in filter(_is_message, values):
            run_id = value["session_id"] or default_run_id
            if parent := as_name(value.get("parent_tool_use_id")):
                run_id = f"{run_id}/{parent}"
            by_run.setdefault(run_id, []).append(value)
    for run_id, lines in by_run.items():
        yield _run(run_id, lines)


def _run(run_id: str, lines: list[dict[str, Any]]) -> Read:
    builder = RunBuilder()
    gone = {as_name(uuid) for line in lines for uuid in as_list(line.get("supersedes"))}
    spoken = [
        line
        for line in lines
        if line["type"] in ("user", "assistant")
        and isinstance(line.get("message"), dict)
        and as_name(line.get("uuid")) not in gone
    ]
    session, _, tool_use = run_id.partition("/")
    add_lines(builder, lines, spoken, session)
    first = next((v for v in lines if v["type"] == "system" and v.get("subtype") == "init"), {})
    result: dict[str, Any] = next((v for v in reversed(lines) if v["type"] == "result"), {})
    last = builder.last_reply
    if last is not None and not last.calls and last.stop_raw is None and result.get("stop_reason"):
        last.stop_raw = as_text(result["stop_reason"])
    fields: dict[str, Any] = {"labels": {}}
    cost = as_cost(result.get("total_cost_usd"))
    if cost is not None:
        fields["labels"]["total_cost_usd"] = str(cost)
    if result:
        fields |= {"ending": _ending(result), "ending_reason": _reason(result)}
    windows = [
        as_count(as_dict(u).get("contextWindow"))
        for u in as_dict(result.get("modelUsage")).values()
    ]
    if model := as_name(first.get("model")):
        fields["model"] = model
    return builder.build(
        run_id,
        agent="claude-agent",
        provider=anthropic.NAME,
        currency="USD" if cost is not None else "",
        code_version=as_name(first.get("claude_code_version")),
        tools=tuple(
            Tool(name) for name in as_list(first.get("tools")) if isinstance(name, str) and name
        ),
        parent_run_id=session if tool_use else "",
        context_window=max((w for w in windows if w), default=None),
        **fields,
    )


def _ending(result: dict[str, Any]) -> Ending:
    """A failed request may end with subtype success; its flag says so."""
    subtype = as_text(result.get("subtype"))
    if subtype == "success" and result.get("is_error") is True:
        return Ending.ERROR
    if subtype in _ENDINGS:
        return _ENDINGS[subtype]
    stop = plain_label(subtype, provider="run:claude_code")
    return Ending.ERROR if stop == Stop.ERROR else Ending.STOPPED


def _reason(result: dict[str, Any]) -> str:
    found = (result.get("subtype"), result.get("terminal_reason"), *as_list(result.get("errors")))
    return ", ".join(as_text(part) for part in found if part)


IMPORTER = Importer(
    name="claude_stream",
    title="Claude Agent SDK messages",
    recognise=recognise,
    read=read,
    priority=71,
)
