"""Recorded requests and responses of any known provider, with the tool results beside them.

`{"run_id": …, "rounds": [{"round", "request", "response", "tool_results", "duration_ms"}]}`, a bare
list of `{"request", "response"}`, or one of them a line, as a proxy in front of the model sees
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from transcripts.importers import streams
from transcripts.importers.base import Document, Importer, ImportProblem, Read
from transcripts.importers.building import RunBuilder, tools_of
from transcripts.importers.conversation import RunFields, read_any_reply
from transcripts.importers.fields import (
    MAX_COUNT,
    FieldError,
    as_cost,
    as_dict,
    as_flag,
    as_list,
    as_moment,
    as_name,
    as_number,
    as_text,
)
from transcripts.importers.providers.base import left_over, result_text
from transcripts.importers.requests import RequestReader
from transcripts.importers.turns import Answer, Reply, Turn
from transcripts.record import Received, RunRecord, Tool

_ROUND_FIELDS = frozenset(
    [
        "run_id",
        "round",
        "request",
        "response",
        "tool_results",
        "duration_ms",
        "started_at",
        "cost",
        "error",
    ]
)


def recognise(value: Any) -> bool:
    """Whether a document is rounds with requests and responses, or one such round."""
    if isinstance(value, list):
        return bool(value) and all(_is_exchange(entry) for entry in value)
    if not isinstance(value, dict):
        return False
    rounds = value.get("rounds")
    if isinstance(rounds, list):
        return bool(rounds) and all(_is_exchange(entry) for entry in rounds)
    return _is_exchange(value)


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """A run a document; exchanges of their own lines are one run, or one for each `run_id` that
    they name.
    """
    lines: dict[str, list[tuple[dict[str, Any], int | None]]] = {}
    count = 0
    for document in documents:
        value = document.value
        if not recognise(value):
            yield ImportProblem("this is no recorded request and response", document.line)
        elif isinstance(value, dict) and "rounds" not in value:
            run_id = as_name(value.get("run_id")) or default_run_id
            lines.setdefault(run_id, []).append((value, document.line))
        else:
            count += 1
            name = default_run_id if count == 1 else f"{default_run_id}-{count}"
            around = value if isinstance(value, dict) else {"rounds": value}
            yield _run(around, name, document.line)
    for run_id, found in lines.items():
        rounds = [entry for entry, _ in found]
        yield _run({"run_id": run_id, "rounds": rounds}, run_id, found[0][1])


def _is_exchange(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "request" in value
        and all(isinstance(value.get(key), dict | str | None) for key in ("request", "response"))
    )


def _run(value: dict[str, Any], default_run_id: str, line: int | None) -> Read:
    fields = RunFields(value, used=frozenset({"rounds"}))
    run_id = fields.run_id(default_run_id)
    try:
        return _Recording(value).run(fields, run_id)
    except FieldError as error:
        return ImportProblem(error.error, line, run_id, error.field)


@dataclass(slots=True)
class _Recording:
    """Reads the rounds of one recorded run."""

    value: dict[str, Any]
    builder: RunBuilder = field(default_factory=lambda: RunBuilder(growing=False))
    tools: list[Tool] = field(default_factory=list)
    provider: str = ""
    requests: RequestReader = field(init=False)

    def __post_init__(self) -> None:
        self.requests = RequestReader(self.builder)

    def run(self, fields: RunFields, run_id: str) -> RunRecord:
        folded = 0
        seen: dict[int, Any] = {}
        for index, entry in enumerate(self.value["rounds"]):
            number = self._number(entry, index)
            if number in seen and seen[number] != entry:
                raise FieldError(
                    f"$.rounds[{index}].round",
                    f"round {number} is there twice, with different content",
                )
            folded += number in seen
            seen[number] = entry
        for number in sorted(seen):
            self._round(seen[number], number)
        read = fields.read(self.builder)
        return self.builder.build(
            run_id,
            tools=tools_of(self.tools),
            provider=self.provider,
            received=Received(folded=folded),
            **read,
        )

    def _number(self, entry: dict[str, Any], index: int) -> int:
        number = entry.get("round", index + 1)
        if isinstance(number, bool) or not isinstance(number, int):
            raise FieldError(f"$.rounds[{index}].round", "expected a whole number")
        if not 1 <= number <= MAX_COUNT:
            raise FieldError(f"$.rounds[{index}].round", f"expected a number from 1, got {number}")
        return number

    def _round(self, entry: dict[str, Any], number: int) -> None:
        request = _body(entry.get("request"))
        asked = self.requests.ask(request, number)
        if asked is not None:
            self.tools += asked[0].tools
        response = _body(entry.get("response"))
        answered = read_any_reply(response)
        reply = Reply() if answered is None else answered[0]
        found = answered or asked
        self.provider = self.provider or (found[1] if found else "")
        if answered is None:
            reply.error = as_text(as_dict(response).get("error") or entry.get("error"))
            reply.opaque += left_over({"response": response}, frozenset())
        if asked is None:
            reply.opaque += left_over({"request": request}, frozenset())
        reply.model = reply.model or (asked[0].model if asked else "")
        self._measure(reply, entry)
        self.builder.add(Turn("assistant", reply=reply), number)
        for result in as_list(entry.get("tool_results")):
            self.builder.answer(_answer(result))

    def _measure(self, reply: Reply, entry: dict[str, Any]) -> None:
        reply.started_at = as_moment(entry.get("started_at")) or reply.started_at
        reply.cost = as_cost(entry.get("cost")) if reply.cost is None else reply.cost
        reply.duration_ms = as_number(entry.get("duration_ms"))
        reply.error = reply.error or as_text(entry.get("error"))
        reply.opaque += left_over(entry, _ROUND_FIELDS)


def _body(value: Any) -> Any:
    """The body of a recorded HTTP message: maybe JSON text, or below `body` or `json`."""
    for key in ("body", "json", "string"):
        if isinstance(value, dict) and key in value and "messages" not in value:
            value = value[key]
    if isinstance(value, str) and streams.is_stream(value):
        return streams.whole_reply(value)
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _answer(result: Any) -> Answer:
    value = as_dict(result)
    known = frozenset(
        [
            "tool_call_id",
            "call_id",
            "id",
            "content",
            "output",
            "name",
            "is_error",
            "duration_ms",
            "role",
        ]
    )
    return Answer(
        result_text(value.get("content", value.get("output")) if value else result),
        call_id=as_name(value.get("tool_call_id") or value.get("call_id") or value.get("id")),
        name=as_name(value.get("name")),
        is_error=as_flag(value.get("is_error")),
        duration_ms=as_number(value.get("duration_ms")),
        opaque=left_over(value, known),
    )


IMPORTER = Importer(
    name="recorded",
    title="recorded requests and responses",
    recognise=recognise,
    read=read,
    priority=60,
)
