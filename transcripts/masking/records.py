"""A run record with a function applied to every text in it, field by field of its dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Final, cast

from transcripts.masking.errors import MaskingError
from transcripts.masking.types import MaskedText
from transcripts.record import Call, Ending, Opaque, RunRecord, Stop, Tool

Mask = Callable[[str], str]

# Fields that hold JSON text. Every other string is text, and may hold JSON all the same.
JSON_FIELDS: Final = frozenset({(Call, "args"), (Opaque, "body"), (Tool, "schema")})

AS_THEY_ARE: Final = frozenset({type(None), bool, int, float, Decimal, datetime, Stop, Ending})


def mapped(record: RunRecord, text: Mask, json_text: Mask) -> RunRecord:
    """`record` with `json_text` applied to JSON fields and `text` to all other strings."""
    return cast(RunRecord, _mapped(record, text, json_text))


def each_text(value: Any, text: Mask, json_text: Mask) -> None:
    """Call what `mapped` would call with the texts of `value`, and make nothing of the answers."""
    kind = type(value)
    if kind is str or kind is MaskedText:
        text(value)
    elif kind is tuple:
        for item in value:
            each_text(item, text, json_text)
    elif kind not in AS_THEY_ARE and is_dataclass(kind):
        for name, is_json in _fields(kind):
            part = getattr(value, name)
            if type(part) not in AS_THEY_ARE:
                each_text(part, json_text if is_json else text, json_text)
    else:
        _mapped(value, text, json_text)


def _mapped(value: Any, text: Mask, json_text: Mask) -> Any:
    kind = type(value)
    if kind in AS_THEY_ARE:
        return value
    if kind is str or kind is MaskedText:
        return text(value)
    if kind is tuple:
        return tuple([_mapped(item, text, json_text) for item in value])
    if is_dataclass(kind):
        parts = {}
        for name, is_json in _fields(kind):
            part = getattr(value, name)
            if type(part) not in AS_THEY_ARE:
                part = _mapped(part, json_text if is_json else text, json_text)
            parts[name] = part
        return kind(**parts)
    if isinstance(value, Mapping):
        return {_mapped(k, text, json_text): _mapped(v, text, json_text) for k, v in value.items()}
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return text(str.__str__(value))
    raise MaskingError(f"a run record holds a {kind.__name__}, which masking does not know")


@cache
def _fields(kind: type) -> tuple[tuple[str, bool], ...]:
    """The fields of a record's dataclass, and whether each holds JSON text."""
    return tuple((field.name, (kind, field.name) in JSON_FIELDS) for field in fields(kind))
