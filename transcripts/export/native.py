"""The native format `agentdesk.run/1`, written so that reading it gives the same record again."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from transcripts.export.base import Exporter
from transcripts.importers.fields import json_text
from transcripts.importers.native_types import FORMAT
from transcripts.importers.parsing import ParseError, parse
from transcripts.masking.types import MaskedRun
from transcripts.record import (
    Call,
    InputChange,
    Message,
    Opaque,
    Placed,
    Received,
    Round,
    RunRecord,
    Tool,
)

_ROUND_AS_IS = (
    "reasoning",
    "tokens_in",
    "tokens_out",
    "tokens_cached",
    "tokens_reasoning",
    "cost",
    "model",
    "started_at",
    "duration_ms",
    "error",
    "key",
)
_RUN_AS_IS = (
    "ticket_id",
    "title",
    "agent",
    "provider",
    "model",
    "prompt_version",
    "code_version",
    "parent_run_id",
    "started_at",
    "ended_at",
    "ending",
    "ending_reason",
    "currency",
    "context_window",
    "rounds_expected",
)


def native_run(run: RunRecord) -> dict[str, Any]:
    """The run as the object of the native format; what is empty is left out."""
    written: dict[str, Any] = {"format": FORMAT, "run_id": run.run_id}
    written |= _filled(run, _RUN_AS_IS)
    if run.format:
        written["source_format"] = run.format
    if limits := _filled(run.limits, ("rounds", "seconds", "cost")):
        written["limits"] = limits
    if run.received != Received():
        written["received"] = asdict(run.received)
    if run.labels:
        written["labels"] = dict(run.labels)
    if run.tools:
        written["tools"] = [_tool(tool) for tool in run.tools]
    if run.messages:
        written["messages"] = [_message(message) for message in run.messages]
    written["rounds"] = [_round(round_) for round_ in run.rounds]
    if run.notes:
        written["notes"] = list(run.notes)
    return written


def native_text(run: RunRecord) -> str:
    """The run as JSON text on one line."""
    return json_text(native_run(run))


def _write(run: MaskedRun) -> str:
    return native_text(run.record) + "\n"


def _filled(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields that are neither None nor an empty text, as JSON values."""
    found = {name: getattr(value, name) for name in names}
    return {
        name: entry.isoformat() if isinstance(entry, datetime) else entry
        for name, entry in found.items()
        if entry is not None and entry != ""
    }


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"key": message.key, "role": message.role}
    if message.reply_of is not None:
        written["reply_of"] = message.reply_of
    if message.result_of is not None:
        written["result_of"] = list(message.result_of)
    written |= _filled(message, ("content", "name"))
    if message.call_id:
        written["tool_call_id"] = message.call_id
    if message.opaque:
        written["opaque"] = _opaque(message.opaque)
    if not message.named:
        written["named"] = False
    return written


def _round(round_: Round) -> dict[str, Any]:
    written: dict[str, Any] = {"round": round_.number}
    if round_.input is not None:
        written["input"] = _input(round_.input)
    if round_.reply:
        written["reply"] = round_.reply
    written |= {"stop": round_.stop.value, "stop_raw": round_.stop_raw}
    if round_.calls:
        written["calls"] = [_call(call) for call in round_.calls]
    written |= _filled(round_, _ROUND_AS_IS)
    if round_.orphans:
        written["orphans"] = [
            {"call_id": orphan.call_id, "content": orphan.content} for orphan in round_.orphans
        ]
    if round_.opaque:
        written["opaque"] = _opaque(round_.opaque)
    return written


def _input(change: InputChange) -> dict[str, Any]:
    written: dict[str, Any] = {
        side: [_placed(placed) for placed in getattr(change, side)]
        for side in ("added", "dropped")
        if getattr(change, side)
    }
    if change.whole:
        written["whole"] = True
    return written


def _placed(placed: Placed) -> str | dict[str, Any]:
    return placed.key if placed.at is None else {"key": placed.key, "at": placed.at}


def _call(call: Call) -> dict[str, Any]:
    written: dict[str, Any] = {"name": call.name, "args": object_or_text(call.args)}
    written["result"] = call.result
    if call.is_error is not None:
        written["is_error"] = call.is_error
    if call.duration_ms is not None:
        written["duration_ms"] = call.duration_ms
    return written | _filled(call, ("id", "joined", "sub_run"))


def _tool(tool: Tool) -> dict[str, Any]:
    written = {"name": tool.name} | _filled(tool, ("description",))
    return written | ({"schema": object_or_text(tool.schema)} if tool.schema else {})


def _opaque(parts: tuple[Opaque, ...]) -> list[dict[str, str]]:
    return [{"kind": part.kind, "body": part.body} for part in parts]


def object_or_text(text: str) -> Any:
    """JSON text as the object it holds where writing that gives the same text; else the text
    itself.
    """
    if not text.startswith("{"):
        return text
    try:
        value = parse(text).value
    except ParseError:
        return text
    return value if json_text(value) == text else text


EXPORTER = Exporter(
    name="native",
    title="Agentdesk's native format",
    suffix=".json",
    media_type="application/json",
    write=_write,
)
