"""Inspect logs: `.eval` zip files and their JSON form, a run for each sample.

Source: inspect-ai 0.3.285 log/_log.py and model/_chat_message.py. The final conversation is in a
sample's messages; its model events say for each reply why it stopped, what it used and how long it
took. Long texts may stand among the attachments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Document, Importer, ImportProblem, Read
from transcripts.importers.building import RunBuilder, tools_of
from transcripts.importers.fields import (
    args_text,
    as_cost,
    as_count,
    as_dict,
    as_list,
    as_moment,
    as_name,
    as_number,
    as_text,
    opaque,
)
from transcripts.importers.providers.base import left_over, read_parts, read_tools, result_text
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import Ending, Tool

_NAME = "inspect_ai"
_ATTACHMENT = "attachment://"
_TEXT_TYPES = ("text",)
_MESSAGE_FIELDS = frozenset(
    {
        "id",
        "role",
        "content",
        "source",
        "model",
        "tool_calls",
        "tool_call_id",
        "function",
        "error",
        "metadata",
    }
)
_ROUND_LIMITS = frozenset({"message", "turn"})


def recognise(value: Any) -> bool:
    """Whether this is a log, its header, or what it started with."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("eval"), dict)
        and ("plan" in value or "status" in value)
        and "version" in value
    )


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """The samples of the log, in itself or in the documents after it."""
    header = next(documents).value
    count = 0
    for sample in as_list(header.get("samples")):
        count += 1
        yield _sample(as_dict(sample), header, default_run_id)
    for document in documents:
        if isinstance(document.value, dict) and "messages" in document.value:
            count += 1
            yield _sample(document.value, header, default_run_id)
        else:
            yield ImportProblem("this is no sample of an Inspect log", document.line)
    if not count:
        yield ImportProblem("this Inspect log holds no samples", field="$.samples")


def _sample(sample: dict[str, Any], header: dict[str, Any], default_run_id: str) -> Read:
    task = header["eval"]
    sample = _with_attachments(sample)
    builder = RunBuilder()
    replies = _replies(sample)
    for message in map(as_dict, as_list(sample.get("messages"))):
        builder.add(_turn(message, replies))
    limit = as_dict(sample.get("limit"))
    error = as_dict(sample.get("error"))
    ending, reason = None, ""
    if limit:
        over = as_name(limit.get("type")) in _ROUND_LIMITS
        ending = Ending.ROUND_LIMIT if over else Ending.STOPPED
        reason = (
            as_text(limit.get("reason"))
            or f"{as_text(limit.get('type'))} limit {as_text(limit.get('limit'))}"
        )
    elif error:
        ending, reason = Ending.ERROR, as_text(error.get("message"))
    run = as_name(task.get("run_id")) or default_run_id
    model = as_name(task.get("model"))
    return builder.build(
        f"{run}/{as_name(sample.get('id'))}.{as_name(sample.get('epoch'))}",
        agent=as_name(task.get("task")),
        provider=_NAME,
        tools=tools_of(_tools(sample)),
        started_at=as_moment(sample.get("started_at") or task.get("created")),
        ended_at=as_moment(sample.get("completed_at")),
        ending=ending,
        ending_reason=reason,
        labels=_labels(sample, task),
        **({"model": model} if model else {}),
    )


def _labels(sample: dict[str, Any], task: dict[str, Any]) -> dict[str, str]:
    labels = {"sample": as_text(sample.get("id")), "epoch": as_text(sample.get("epoch"))}
    labels["task"] = as_text(task.get("task"))
    for name, score in as_dict(sample.get("scores")).items():
        value = as_dict(score).get("value")
        if isinstance(value, str | int):
            labels[f"score {name}"] = as_text(value)
    return {name: text for name, text in labels.items() if text}


def _replies(sample: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The model events by the id of the message they gave."""
    found: dict[str, dict[str, Any]] = {}
    for event in map(as_dict, as_list(sample.get("events"))):
        choices = as_list(as_dict(event.get("output")).get("choices"))
        if event.get("event") == "model" and choices:
            message = as_dict(as_dict(choices[0]).get("message"))
            found[as_name(message.get("id"))] = event
    output = as_dict(sample.get("output"))
    choices = as_list(output.get("choices"))
    if choices:
        last = as_dict(as_dict(choices[0]).get("message"))
        found.setdefault(as_name(last.get("id")), {"output": output})
    return found


def _turn(message: dict[str, Any], replies: dict[str, dict[str, Any]]) -> Turn:
    role = as_text(message.get("role"))
    if role == "assistant":
        reply = _reply(message)
        event = replies.get(as_name(message.get("id")))
        if event is not None and message.get("id"):
            _measure(reply, event)
        return Turn(role, reply=reply)
    if role == "tool":
        return Turn(role, answers=[_answer(message)])
    text, others = read_parts(message.get("content"), ("text",), _TEXT_TYPES)
    return Turn(role, text, opaque=others + left_over(message, _MESSAGE_FIELDS))


def _reply(message: dict[str, Any]) -> Reply:
    parts = message.get("content")
    thoughts: list[str] = []
    if isinstance(parts, list):
        hidden = [p for p in parts if as_dict(p).get("type") == "reasoning"]
        thoughts = [as_text(part.get("summary") or part.get("reasoning")) for part in hidden]
        parts = [p for p in parts if p not in hidden]
    text, others = read_parts(parts, ("text",), _TEXT_TYPES)
    reply = Reply(text=text, reasoning="\n".join(filter(None, thoughts)), provider=_NAME)
    reply.model = as_name(message.get("model"))
    reply.opaque = others + left_over(message, _MESSAGE_FIELDS)
    for call in map(as_dict, as_list(message.get("tool_calls"))):
        name = call.get("function")
        args = call.get("arguments")
        reply.calls.append(CallDraft(as_name(name), args_text(args), as_name(call.get("id"))))
        if call.get("parse_error"):
            reply.opaque.append(opaque("parse_error", call["parse_error"]))
    return reply


def _measure(reply: Reply, event: dict[str, Any]) -> None:
    output = as_dict(event.get("output"))
    choice = as_dict(next(iter(as_list(output.get("choices"))), None))
    usage = as_dict(output.get("usage"))
    label = choice.get("stop_reason")
    reply.stop_raw = label if isinstance(label, str) else None
    parts = [
        as_count(usage.get(name))
        for name in ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    ]
    reply.tokens_in = None if parts[0] is None else sum(part or 0 for part in parts)
    reply.tokens_cached = parts[1]
    reply.tokens_out = as_count(usage.get("output_tokens"))
    reply.tokens_reasoning = as_count(usage.get("reasoning_tokens"))
    reply.cost = as_cost(usage.get("total_cost"))
    reply.error = as_text(event.get("error") or output.get("error"))
    reply.started_at = as_moment(event.get("timestamp"))
    seconds = as_number(event.get("working_time") or output.get("time"))
    reply.duration_ms = None if seconds is None else seconds * 1000


def _answer(message: dict[str, Any]) -> Answer:
    """A tool's answer; the text of an error stands beside a content that may be empty."""
    error = as_dict(message.get("error"))
    content = result_text(message.get("content"))
    return Answer(
        content or as_text(error.get("message")),
        call_id=as_name(message.get("tool_call_id")),
        name=as_name(message.get("function")),
        is_error=bool(error),
        opaque=[opaque("tool_error", error)] if error and content else [],
    )


def _tools(sample: dict[str, Any]) -> list[Tool]:
    for event in map(as_dict, as_list(sample.get("events"))):
        if event.get("event") == "model" and event.get("tools"):
            return read_tools(event["tools"])
    return []


def _with_attachments(sample: dict[str, Any]) -> dict[str, Any]:
    """The sample with the long texts put back where they were taken from."""
    attachments = as_dict(sample.get("attachments"))
    if not attachments:
        return sample

    def put_back(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(_ATTACHMENT):
            return attachments.get(value.removeprefix(_ATTACHMENT), value)
        if isinstance(value, list):
            return [put_back(entry) for entry in value]
        if isinstance(value, dict):
            return {key: put_back(entry) for key, entry in value.items()}
        return value

    return {**sample, "messages": put_back(sample.get("messages"))}


IMPORTER = Importer(
    name="inspect_ai",
    title="Inspect logs",
    recognise=recognise,
    read=read,
    priority=80,
)
