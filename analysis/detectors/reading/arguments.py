"""Whether arguments are what their tool takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.keys import parse_json
from analysis.detectors.reading.patterns import Pattern

if TYPE_CHECKING:
    from analysis.detectors.reading.schema import SchemaCheck

# Characters. Larger schemas and arguments are not checked: they would cost more than they tell.
LARGEST_SCHEMA = 100_000
LARGEST_ARGS = 200_000
# Placeholder-like values whose origin is looked for in a run.
MOST_LOOKED_UP = 20
MOST_VALUES = 100

_A_VALUE = (
    r"(?:key|id|ids|token|name|email|e-mail|password|secret|number|value|username|address|url"
    r"|path|code|"
    r"account|date|phone|uuid|ref|reference|identifier|query|text)"
)
_PLACEHOLDER = Pattern(
    r"(?i)^\s*(?:"
    r"<<?\s*(?:your|my|the|insert|enter|actual"
    r"|real)?[ _-]?[a-z][a-z0-9]*(?:[ _'.-][a-z0-9]+){0,6}\s*>>?|"
    r"\{\{?\s*[a-z][\w. -]{0,40}\s*\}?\}|\$\{[a-z][\w.]*\}|\$[A-Z][A-Z_]{2,30}|%[a-z_]{2,30}%"
    r"|__[a-z][a-z_]{1,30}__|"
    r"#[a-z_]{2,30}#|\[(?:your|insert|enter|the|actual|add|put)[ _-][^\]]{1,60}\]"
    r"|\[[a-z]+[ _]" + _A_VALUE + r"\]|"
    r"(?:your|my|insert|enter|replace|put|add|fill"
    r"|actual)[ _-](?:\w+[ _-]){0,4}(?:" + _A_VALUE + r"|here|this|me|in|"
    r"it)(?:[ _-](?:here|goes[ _-]here))?|(?:\w+[ _-]){1,4}(?:goes[ _-])?here|"
    r"(?:the|actual|real|correct|some|any|a)[ _](?:\w+[ _]){0,3}" + _A_VALUE + r"|"
    r"(?:dummy|sample|fake|example|placeholder|mock|test)[ _-]" + _A_VALUE + r"|"
    r"[<{\[(%$#@*~_:|]{1,3}\s?(?:\w+[ _-]){0,4}" + _A_VALUE + r"\s?[>}\])%$#@*~_:|]{1,3}|"
    r"\w{0,30}placeholder\w{0,30}|undefined|unset|not[_ ](?:set|provided|known|specified)"
    r"|unspecified|tba|to_be_\w+|"
    r"(?:placeholder|todo|to be (?:determined|filled|provided|defined)|tbd|fixme|change_?me"
    r"|replace_?me|fill_?me|"
    r"xxx+(?:[ -]x+)*|\?{2,}|\.{3,}|…|lorem ipsum.*|unknown_id|some_id|string|n/a|value_here"
    r"|id_here)|"
    r"(?:user|you|name|email|your[._]?(?:email|name)|someone|john\.?doe|jane\.?doe|test"
    r"|customer|employee)@(?:example|domain|"
    r"company|email|yourcompany|yourdomain)\.(?:com|org|net)|"
    r"https?://(?:www\.)?(?:example\.(?:com|org|net)|your[\w-]*\.\w+)(?:/[\w./-]*)?"
    r")\s*$"
)
# Names that need one of these to be a placeholder: `<title>` may be a tag that is searched for.
_NAMES_A_VALUE = Pattern(
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
            if value.strip().lower() not in _FREE_WORDS:
                return name, value
        if 3 <= len(value) <= 60 and _letters(value) == _letters(name) and "_" in name + value:
            return name, value
    return None


# Placeholders that are also said on purpose.
_FREE_WORDS = frozenset({"string", "n/a", "tbd", "todo", "..."})


def _letters(text: str) -> str:
    """`employee_id`, `EMPLOYEE_ID` and `employeeId` are one."""
    return text.rsplit(".", 1)[-1].replace("_", "").replace("-", "").replace(" ", "").lower()


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
