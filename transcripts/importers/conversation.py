"""Runs of message lists, requests and replies in a provider's own shape, and what the files around
them say.

Not a format by itself: the modules of the providers' formats, and of recorded exchanges, use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from transcripts.importers.base import Importer, Read, each_document
from transcripts.importers.building import RunBuilder, tools_of
from transcripts.importers.fields import (
    FieldError,
    as_cost,
    as_count,
    as_dict,
    as_moment,
    as_name,
    as_number,
    as_text,
    json_text,
)
from transcripts.importers.providers import all_providers
from transcripts.importers.providers.base import Provider, Request
from transcripts.importers.turns import Reply, Turn
from transcripts.record import Ending, RunLimits, Tool

# Names under which files carry what a run's fields hold.
_NAMES = {
    "run_id": ("run_id", "trace_id", "session_id", "conversation_id", "id"),
    "ticket_id": ("ticket_id", "ticket"),
    "title": ("title",),
    "agent": ("agent", "agent_name"),
    "model": ("model", "model_name", "modelId"),
    "prompt_version": ("prompt_version",),
    "code_version": ("code_version",),
    "parent_run_id": ("parent_run_id",),
    "currency": ("currency",),
    "ending_reason": ("ending_reason", "stop_reason"),
}
# Fields around messages that hold content, which the provider's module has read.
_CONTENT = frozenset(
    {
        "messages",
        "contents",
        "input",
        "items",
        "system",
        "systemInstruction",
        "system_instruction",
        "instructions",
        "tools",
        "functions",
        "toolConfig",
        "steps",
        "usage",
        "chat_history",
        "message",
        "preamble",
        "tool_results",
    }
)


class RunFields:
    """What an object around messages or rounds says about the run; tells what it could not use."""

    def __init__(self, value: dict[str, Any], *, used: frozenset[str], path: str = "$") -> None:
        self._value = value
        self._path = path
        self._used = set(used)

    def run_id(self, default: str) -> str:
        return self._name("run_id") or default

    def read(self, builder: RunBuilder) -> dict[str, Any]:
        """The fields for `RunBuilder.build`; scalars that no field holds become labels."""
        fields: dict[str, Any] = {
            name: found for name in _NAMES if name != "run_id" and (found := self._name(name))
        }
        fields["context_window"] = as_count(self._take("context_window"))
        fields["started_at"] = as_moment(self._take("started_at"))
        fields["ended_at"] = as_moment(self._take("ended_at"))
        fields["rounds_expected"] = as_count(self._take("rounds_expected"))
        fields["ending"] = self._ending()
        limits = as_dict(self._take("limits"))
        fields["limits"] = RunLimits(
            as_count(limits.get("rounds")),
            as_number(limits.get("seconds")),
            as_cost(limits.get("cost")),
        )
        fields = {name: found for name, found in fields.items() if found is not None}
        fields["labels"] = self._labels(builder)
        return fields

    def _name(self, field: str) -> str:
        for key in _NAMES[field]:
            if found := as_name(self._value.get(key)):
                self._used.add(key)
                return found
        return ""

    def _take(self, key: str) -> Any:
        self._used.add(key)
        return self._value.get(key)

    def _ending(self) -> Ending | None:
        said = self._take("ending")
        if said is None:
            return None
        if said not in set(Ending):
            raise FieldError(
                f"{self._path}.ending", f"{as_text(said)[:60]} is not one of {', '.join(Ending)}"
            )
        return Ending(said)

    def _labels(self, builder: RunBuilder) -> dict[str, str]:
        labels: dict[str, str] = {}
        given = self._take("labels")
        for key, value in {**as_dict(given), **self._rest()}.items():
            if isinstance(value, str | int | Decimal) and len(as_text(value)) <= 200:
                labels[key] = as_text(value)
            elif value not in (None, "", [], {}):
                builder.note(
                    f'Not read: field "{key}" ({len(json_text(value))} characters of JSON).'
                )
        return labels

    def _rest(self) -> dict[str, Any]:
        return {key: value for key, value in self._value.items() if key not in self._used}


def run_of_messages(
    turns: list[Turn], default_run_id: str, around: dict[str, Any], tools: list[Tool], provider: str
) -> Iterator[Read]:
    """One run of a list of messages: each reply in it read all before it."""
    builder = RunBuilder()
    for turn in turns:
        builder.add(turn)
    fields = RunFields(around, used=_CONTENT)
    run_id = fields.run_id(default_run_id)
    yield builder.build(run_id, tools=tools_of(tools), provider=provider, **fields.read(builder))


def run_of_replies(replies: list[Reply], run_id: str, provider: str) -> Iterator[Read]:
    """One run of replies alone: what each of them read is not known."""
    builder = RunBuilder(growing=False)
    for reply in replies:
        builder.add(Turn("assistant", reply=reply))
    builder.note("This file holds replies alone: what the model read is not in it.")
    yield builder.build(run_id, provider=provider)


def importer_of(
    name: str,
    provider: Provider,
    *,
    priority: int = 0,
    inner: Callable[[Any], Any] = lambda value: value,
) -> Importer:
    """The importer of a provider's message lists, requests and replies.

    `inner` takes the object with the messages out of what a framework wraps around it.
    """

    def recognise(value: Any) -> bool:
        value = inner(value)
        if isinstance(value, list):
            return bool(value) and (
                provider.knows_messages(value) or all(provider.knows_reply(v) for v in value)
            )
        return provider.knows_reply(value) or provider.knows_request(value)

    def runs_of(value: Any, default_run_id: str) -> Iterator[Read]:
        value = inner(value)
        if isinstance(value, list):
            if provider.knows_messages(value):
                turns = provider.read_messages(value)
                return run_of_messages(turns, default_run_id, {}, [], provider.name)
            replies = [provider.read_reply(reply) for reply in value]
            return run_of_replies(replies, default_run_id, provider.name)
        if provider.knows_reply(value):
            return run_of_replies([provider.read_reply(value)], default_run_id, provider.name)
        request = provider.read_request(value)
        return run_of_messages(request.turns, default_run_id, value, request.tools, provider.name)

    title = provider.title
    return Importer(
        name=name,
        title=title,
        recognise=recognise,
        read=each_document(recognise, runs_of, title),
        priority=priority,
    )


def read_any_messages(messages: Any) -> tuple[list[Turn], str] | None:
    """A list of messages of whichever provider or framework wrote it, with its name."""
    if not isinstance(messages, list) or not messages:
        return None
    for provider in all_providers():
        if provider.knows_messages(messages):
            return provider.read_messages(messages), provider.name
    return None


def read_any_request(value: Any) -> tuple[Request, str] | None:
    """A request of whichever provider wrote it, with the provider's name."""
    for provider in all_providers():
        if provider.knows_request(value):
            return provider.read_request(value), provider.name
    return None


def read_any_reply(value: Any) -> tuple[Reply, str] | None:
    """A reply of whichever provider wrote it, with the provider's name."""
    for provider in all_providers():
        if provider.knows_reply(value):
            return provider.read_reply(value), provider.name
    return None
