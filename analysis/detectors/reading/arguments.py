"""Whether arguments are what their tool takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import re2

from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.keys import parse_json

if TYPE_CHECKING:
    from analysis.detectors.reading.schema import SchemaCheck

# Characters. Larger schemas and arguments are not checked: they would cost more than they tell.
LARGEST_SCHEMA = 100_000
LARGEST_ARGS = 200_000
# Placeholder-like values whose origin is looked for in a run.
MOST_LOOKED_UP = 20
MOST_VALUES = 100

_PLACEHOLDER = re2.compile(
    r"(?i)^\s*(?:"
    r"<(?:your|my|the|insert|enter|actual|real)?[ _-]?[a-z][a-z0-9]*(?:[ _-][a-z0-9]+){0,5}>|"
    r"\{\{?\s*[a-z][\w.]*\s*\}?\}|\$\{[a-z][\w.]*\}|"
    r"\[(?:your|insert|enter|the|actual)[ _-][^\]]{1,60}\]|"
    r"(?:your|my|insert|enter|replace|actual)[ _-](?:\w+[ _-]){0,4}(?:key|id|token|name|email"
    r"|password|secret|number|value|"
    r"username|address|url|path|here|code|account|date)(?:[ _-]here)?|"
    r"(?:placeholder|todo|tbd|fixme|changeme|change_me|xxx+|unknown_id|some_id|string|n/a"
    r"|value_here|"
    r"id_here|api[_ -]?key|user_?id|employee_?id|order_?id|customer_?id)|"
    r"(?:user|you|name|email|your\.?email|someone|john\.?doe|jane\.?doe|test|customer"
    r"|employee)@(?:example|domain|"
    r"company|email|yourcompany)\.(?:com|org|net)|"
    r"https?://(?:www\.)?(?:example\.(?:com|org|net)|your[\w-]*\.\w+)(?:/[\w./-]*)?"
    r")\s*$"
)
# Names that need one of these to be a placeholder: `<title>` may be a tag that is searched for.
_NAMES_A_VALUE = re2.compile(
    r"(?i)id\b|_|key|token|name|email|number|value|here|date|path|url|code|your|insert|enter"
    r"|actual|account|password"
)


def placeholder_in(args: Any) -> tuple[str, str] | None:
    """The first field whose value is a placeholder, and the value."""
    if not isinstance(args, dict):
        return None
    for name, value in _texts(args):
        if 3 <= len(value) <= 100 and _PLACEHOLDER.search(value) is not None:
            if value.lstrip()[:1] == "<" and _NAMES_A_VALUE.search(value) is None:
                continue
            if value.strip().lower() == name.lower() or not _is_free_word(value):
                return name, value
    return None


def _is_free_word(value: str) -> bool:
    """`string` and `n/a` are placeholders only where they repeat a field's name."""
    return value.strip().lower() in (
        "string",
        "n/a",
        "tbd",
        "todo",
        "placeholder",
        "user_id",
        "api_key",
        "api key",
    )


def _texts(args: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    waiting: list[tuple[str, Any]] = [
        (str(name), each) for name, each in list(args.items())[:MOST_VALUES]
    ]
    seen = 0
    while waiting and seen < MOST_VALUES:
        name, value = waiting.pop(0)
        seen += 1
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict):
            waiting.extend(
                (f"{name}.{inner}", each) for inner, each in list(value.items())[:MOST_VALUES]
            )
        elif isinstance(value, list):
            waiting.extend((name, each) for each in value[:MOST_VALUES])


class ArgumentCheck:
    """Checks the calls of one run against the schemas of its tools, each schema read once."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._schemas = {tool.name: tool.schema for tool in reading.run.tools if tool.schema}
        self._validators: dict[str, SchemaCheck | None] = {}
        self._answers: dict[tuple[str, str], str | None] = {}
        self._looked_up: dict[str, bool] = {}

    def broken_schema(self, call: CallReading) -> str | None:
        """What of the tool's schema the arguments break; None where nothing, or no schema is
        known.
        """
        if call.name not in self._schemas or len(call.call.args) > LARGEST_ARGS:
            return None
        about = (call.name, call.call.args)
        if about not in self._answers:
            self._answers[about] = self._check(call)
        return self._answers[about]

    def is_known_value(self, value: str, *, before: CallReading) -> bool:
        """Whether the value was given to the model: by a message, or by an earlier result."""
        if value not in self._looked_up:
            if len(self._looked_up) >= MOST_LOOKED_UP:
                return True
            run = self._reading.run
            self._looked_up[value] = any(
                value in message.content for message in run.messages
            ) or any(
                value in (call.call.result or "") for call in self._reading.calls[: before.seq]
            )
        return self._looked_up[value]

    def _check(self, call: CallReading) -> str | None:
        validator = self._validator(call.name)
        if validator is None:
            return None
        return validator.first_error(call.args)

    def _validator(self, tool: str) -> SchemaCheck | None:
        if tool not in self._validators:
            self._validators[tool] = None
            text = self._schemas[tool]
            if len(text) <= LARGEST_SCHEMA:
                from analysis.detectors.reading.schema import SchemaCheck

                with suppress(ValueError):
                    self._validators[tool] = SchemaCheck(parse_json(text))
        return self._validators[tool]
