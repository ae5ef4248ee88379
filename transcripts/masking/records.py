"""A run record with a function applied to every text in it, field by field of its dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Final, cast

from transcripts.masking.types import MaskedText
from transcripts.record import Call, Opaque, RunRecord, Tool

Mask = Callable[[str], MaskedText]

# Fields that hold JSON text. Every other string is text, and may hold JSON all the same.
JSON_FIELDS: Final = frozenset({(Call, "args"), (Opaque, "body"), (Tool, "schema")})


def mapped(record: RunRecord, text: Mask, json_text: Mask) -> RunRecord:
    """`record` with `json_text` applied to JSON fields and `text` to all other strings."""
    return cast(RunRecord, _mapped(record, text, json_text))


def _mapped(value: Any, text: Mask, json_text: Mask) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return text(value)
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        return kind(
            **{
                name: _mapped(getattr(value, name), json_text if is_json else text, json_text)
                for name, is_json in _fields(kind)
            }
        )
    if isinstance(value, tuple):
        return tuple(_mapped(item, text, json_text) for item in value)
    if isinstance(value, Mapping):
        return {_mapped(k, text, json_text): _mapped(v, text, json_text) for k, v in value.items()}
    return value


@cache
def _fields(kind: type) -> tuple[tuple[str, bool], ...]:
    """The fields of a record's dataclass, and whether each holds JSON text."""
    return tuple((field.name, (kind, field.name) in JSON_FIELDS) for field in fields(kind))
