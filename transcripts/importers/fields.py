"""Careful reading of values whose shape nobody has checked."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from transcripts.record import Opaque

# What an integer column holds; a larger count is damage, not a count.
MAX_COUNT = 2**31 - 1
# What the cost column holds before the point: twelve digits.
MAX_COST = Decimal(10) ** 12
# 2100-01-01, in seconds: larger numbers are milli-, micro- or nanoseconds.
_LAST_SECOND = 4_102_444_800


def _plain_text(value: Any) -> str:
    """Masked text is a kind of `str`, which msgspec takes for a type that it does not know."""
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"cannot write a {type(value).__name__} as JSON")


_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=_plain_text)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_UNSTORABLE_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class FieldError(ValueError):
    """A value that makes a run unreadable; `field` is its JSON path within the document."""

    def __init__(self, field: str, error: str, run_id: str = "") -> None:
        super().__init__(f"{field}: {error}")
        self.field = field
        self.error = error
        self.run_id = run_id


def as_dict(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The value where it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """The value as text: strings as they are, null as nothing, all else as JSON text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json_text(value)


def as_name(value: Any) -> str:
    """A string or number as a name or id; anything else is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return str(value)
    return ""


def as_count(value: Any) -> int | None:
    """A count of tokens or the like; None for what is no count (negative, a fraction, beyond
    MAX_COUNT).
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    if not 0 <= value <= MAX_COUNT or value != (whole := int(value)):
        return None
    return whole


def as_number(value: Any) -> float | None:
    """A number that is not negative, as a float."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return float(value) if 0 <= value < 1e15 else None


def as_cost(value: Any) -> Decimal | None:
    """An amount of money that the cost column can hold."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return Decimal(value) if 0 <= value < MAX_COST else None


def as_flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def as_moment(value: Any) -> datetime | None:
    """A moment from ISO 8601 text or from a number of seconds, milli-, micro- or nanoseconds since
    1970.

    Text without a zone is taken as UTC.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        try:
            return moment.astimezone(UTC)
        except OverflowError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 < value < 10**19:
        return None
    seconds = float(value)
    while seconds > _LAST_SECOND:
        seconds /= 1000
    return datetime.fromtimestamp(seconds, UTC)


def json_text(value: Any) -> str:
    """JSON text as records keep it: compact, UTF-8 characters, key order and digits kept."""
    return _ENCODER.encode(value).decode()


def args_text(value: Any) -> str:
    """A call's arguments as JSON text; text as the model wrote it, which may be broken; null is no
    arguments.

    Escapes of NUL and of half characters in the text are replaced like the characters themselves,
    since they come back to life when the text is parsed.
    """
    if value is None:
        return "{}"
    text = value if isinstance(value, str) else json_text(value)
    return _ESCAPE.sub(_storable, text) if _UNSTORABLE_ESCAPE.search(text) else text


def _storable(match: re.Match[str]) -> str:
    digits = match[1]
    if digits is None:
        return match[0]
    code = int(digits, 16)
    if code == 0:
        return "\u2400"
    if 0xD800 <= code <= 0xDBFF:
        low = _ESCAPE.match(match.string, match.end())
        paired = low and low[1] and 0xDC00 <= int(low[1], 16) <= 0xDFFF
        return match[0] if paired else "\ufffd"
    if 0xDC00 <= code <= 0xDFFF:
        before = match.string[max(0, match.start() - 6) : match.start()]
        high = _ESCAPE.fullmatch(before)
        paired = high and high[1] and 0xD800 <= int(high[1], 16) <= 0xDBFF
        return match[0] if paired else "\ufffd"
    return match[0]


def same_args(left: str, right: str) -> bool:
    """Whether two argument texts say the same, whatever their spaces and order of keys."""
    if left == right:
        return True
    try:
        return bool(json.loads(left) == json.loads(right))
    except (ValueError, RecursionError):
        return False


def opaque(kind: str, value: Any) -> Opaque:
    """A part that is kept without being understood."""
    return Opaque(kind, value if isinstance(value, str) else json_text(value))


def value_of(recorded: Any) -> Any:
    """A recorded value; JSON text of an object or a list becomes what it holds."""
    if isinstance(recorded, str) and recorded[:1] in ("{", "["):
        try:
            return json.loads(recorded, parse_float=Decimal)
        except (ValueError, RecursionError, ArithmeticError):
            return recorded
    return recorded
