"""JSON read as one flat text with a map back, so that rules see values beside their names.

Each member becomes a line `name="value"`, each item of a list a line of its own, strings decoded.
JSON inside strings is read in turn. What is found is put back on the JSON text itself, inside its
strings, so that it stays the same JSON but for the secrets.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from transcripts.masking import names
from transcripts.masking.budget import Budget
from transcripts.masking.jsonstrings import Under, decoded_string
from transcripts.masking.names import Strength
from transcripts.masking.options import DEFAULT, Options
from transcripts.masking.spans import Hit, Rank
from transcripts.masking.values import is_secret
from transcripts.masking.views import Segment, View

# Shorter numbers are secrets only by their names.
CARD_DIGITS: Final = 13
# After how many pieces of JSON the time is looked at.
CHECKED_EVERY: Final = 1024
# JSON inside strings inside JSON is read this many levels deep; below that, as text.
DEPTH: Final = 4
LEXEME: Final = re.compile(
    r'"(?P<string>[^"\\]*(?:\\.[^"\\]*)*)"|(?P<mark>[{}\[\]:,])|(?P<number>-?[0-9][0-9.eE+-]*)|[^\s"{}\[\]:,]+',
    re.DOTALL,
)
# Models write raw line ends into strings; that is no reason to lose the names beside the values.
DECODER: Final = json.JSONDecoder(strict=False)
# Members that hold the value of the name that is said outside: {"password": {"value": "…"}}.
VALUE_NAMES: Final = frozenset(
    {"value", "val", "plain", "plaintext", "text", "content", "data", "new", "old", "current"}
)
# Members that say the name of the value beside them: {"name": "DB_PASSWORD", "value": "…"}.
NAME_NAMES: Final = frozenset(
    {
        "name",
        "key",
        "field",
        "label",
        "id",
        "variable",
        "header",
        "parameter",
        "attribute",
        "path",
        "k",
        "n",
    }
)
PAIR_VALUES: Final = frozenset(
    {
        "value",
        "val",
        "text",
        "content",
        "data",
        "v",
        "newvalue",
        "new_value",
        "stringvalue",
        "string_value",
    }
)
# A list whose items may be one cut-up text is joined up to this many characters.
JOINED_AT_MOST: Final = 65536
# A token goes on across items when this many of its characters stand on both sides of the cut.
JUNCTION: Final = re.compile(r"[A-Za-z0-9_\-+/=.]{2}$")
JUNCTION_START: Final = re.compile(r"[A-Za-z0-9_\-+/=.]{2}")


@dataclass(frozen=True, slots=True)
class Number:
    """A number in the JSON text, at `[start, end)`; `depth` levels of strings around it."""

    start: int
    end: int
    depth: int


class JsonView(View):
    """The flat text of a JSON text. `named` are secrets that their names give away, in its
    characters.

    `joined` are places where items of a list stand as one text; only what crosses `cuts` counts
    there.
    """

    __slots__ = ("cuts", "joined", "named", "numbers")

    def __init__(self, flat: _Flat) -> None:
        super().__init__("".join(flat.pieces), flat.segments, bridging=False)
        self.named = flat.named
        self.numbers = flat.numbers
        self.joined = flat.joined
        self.cuts = flat.cuts

    def counts(self, start: int, end: int) -> bool:
        """Whether a find at `[start, end)` counts: in a joined list only if it crosses a cut."""
        index = bisect_right(self.joined, (start, 1 << 60)) - 1
        if index < 0 or self.joined[index][1] <= start:
            return True
        cut = bisect_right(self.cuts, start)
        return cut < len(self.cuts) and self.cuts[cut] < end


@dataclass(slots=True)
class _Flat:
    """The flat text while it grows."""

    options: Options
    budget: Budget
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    segments: list[Segment] = field(default_factory=list)
    named: list[Hit] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)
    joined: list[tuple[int, int]] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)

    def write(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def copy(self, text: str, segments: list[Segment]) -> tuple[int, int]:
        """Append `text`, whose segments start at 0; answers its place."""
        start = self.length
        self.segments += [Segment(start + s.start, s.length, s.raw, s.raw_length) for s in segments]
        self.write(text)
        return start, self.length


class _Value(NamedTuple):
    """A string or number that was written to the flat text at `[start, end)`."""

    name: str
    text: str
    start: int
    end: int
    segments: list[Segment]
    is_string: bool


@dataclass(slots=True)
class _Frame:
    """An open object or list: the name it stands under, and what it held so far.

    `passed` counts numbers that were not looked at.
    """

    is_object: bool
    outer: str
    values: list[_Value] = field(default_factory=list)
    member: str | None = None
    passed: int = 0


def json_view(text: str, budget: Budget, options: Options = DEFAULT) -> JsonView | None:
    """The flat text of `text` if it is a JSON object, list or string; None if it is not."""
    if not _is_json(text):
        return None
    flat = _Flat(options, budget)
    _flatten(text, [Segment(0, len(text), 0, len(text))], flat, depth=0, outer="")
    return JsonView(flat)


def _is_json(text: str) -> bool:
    bare = text.strip()
    if len(bare) < 2 or bare[0] + bare[-1] not in ("{}", "[]", '""'):
        return False
    try:
        DECODER.decode(bare)
    except (ValueError, RecursionError):
        return False
    return True


def _flatten(text: str, down: list[Segment], flat: _Flat, *, depth: int, outer: str) -> None:
    """Write the JSON `text` to `flat`; `down` maps its characters to the outermost text."""
    under = Under(down)
    frames = [_Frame(False, outer)]
    for count, lexeme in enumerate(LEXEME.finditer(text)):
        if count % CHECKED_EVERY == 0:
            flat.budget.check()
        frame = frames[-1]
        kind = lexeme.lastgroup
        if kind == "mark":
            mark = lexeme.group()
            if mark in "{[":
                frames.append(_Frame(mark == "{", _name_for(frame, flat)))
                flat.write("\n")
            elif mark in "}]" and len(frames) > 1:
                _close(frames.pop(), flat)
                frames[-1].member = None
            elif mark == ",":
                frame.member = None
        elif kind == "string":
            plain, segments = decoded_string(lexeme.group("string"), lexeme.start("string"), under)
            if frame.is_object and frame.member is None:
                frame.member = plain
                flat.copy(plain, segments)
                flat.write("=")
            elif (
                depth < DEPTH
                and len(plain) > 1
                and plain.lstrip()[:1] in ("{", "[")
                and _is_json(plain)
            ):
                flat.write("\n")
                _flatten(plain, segments, flat, depth=depth + 1, outer=_name_for(frame, flat))
            else:
                _value(plain, segments, frame, flat, is_string=True)
        elif kind == "number":
            _number(lexeme, under, frame, flat, depth)
        else:
            flat.write("-\n")


def _number(lexeme: re.Match[str], under: Under, frame: _Frame, flat: _Flat, depth: int) -> None:
    """Write a number so that it can be masked, unless nothing can make it a secret."""
    text = lexeme.group()
    name = _name_for(frame, flat)
    paired = (
        name.lower() in PAIR_VALUES if frame.is_object else len(frame.values) + frame.passed < 2
    )
    plain = len(text) < CARD_DIGITS and not flat.options.own_rule_may_hit(f"{name}={text}")
    if plain and not paired and not flat.options.strength(name):
        # Vectors and counts: most of the pieces of large JSON.
        frame.passed += 1
        flat.write("0\n")
        return
    segments = under.put([Segment(0, len(text), lexeme.start(), len(text))])
    first, last = segments[0], segments[-1]
    flat.numbers.append(Number(first.raw, last.raw + last.raw_length, depth))
    _value(text, segments, frame, flat, is_string=False)


def _name_for(frame: _Frame, flat: _Flat) -> str:
    """The name that the next value of `frame` stands under."""
    if frame.is_object and frame.member is not None:
        if frame.member.lower() in VALUE_NAMES and flat.options.strength(frame.outer):
            return frame.outer
        return frame.member
    return frame.outer


def _value(
    text: str, segments: list[Segment], frame: _Frame, flat: _Flat, *, is_string: bool
) -> None:
    quote = '"' if is_string and frame.is_object else ""
    flat.write(quote)
    start, end = flat.copy(text, segments)
    flat.write(f"{quote}\n")
    value = _Value(_name_for(frame, flat), text, start, end, segments, is_string)
    frame.values.append(value)
    _judge(value, value.name, flat)


def _judge(value: _Value, name: str, flat: _Flat) -> None:
    """Note `value` as named if `name` makes it a secret."""
    strength = flat.options.strength(name)
    if strength == Strength.NONE:
        return
    numeric = names.family_of(name) in ("code", "password")
    if not value.is_string and not (numeric and len(value.text) >= 3):
        return
    if is_secret(value.text, strength, quoted=True, numeric_ok=numeric):
        family = names.family_of(name)
        flat.named.append(Hit(value.start, value.end, "sensitive-name", family, Rank.NAME))


def _close(frame: _Frame, flat: _Flat) -> None:
    """Judge what shows once an object or list is whole: pairs of name and value, cut-up text."""
    values = frame.values
    if frame.is_object:
        said = [v.text for v in values if v.name.lower() in NAME_NAMES and v.is_string]
        for value in values:
            if value.name.lower() in PAIR_VALUES:
                for name in said:
                    _judge(value, name, flat)
        return
    if len(values) == 2 and not frame.passed and values[0].is_string:
        _judge(values[1], values[0].text, flat)
    _join(values, flat)


def _join(values: list[_Value], flat: _Flat) -> None:
    """Write strings of a list once more as one text, where a token seems to go on in the next."""
    if sum(len(value.text) for value in values) > JOINED_AT_MOST:
        return
    run: list[_Value] = []
    for value in values:
        goes_on = (
            run
            and value.is_string
            and JUNCTION.search(run[-1].text)
            and JUNCTION_START.match(value.text)
        )
        if not goes_on:
            _write_joined(run, flat)
            run = []
        if value.is_string:
            run.append(value)
    _write_joined(run, flat)


def _write_joined(run: list[_Value], flat: _Flat) -> None:
    if len(run) < 2:
        return
    start = flat.length
    for value in run:
        if flat.length > start:
            flat.cuts.append(flat.length)
        flat.copy(value.text, value.segments)
    flat.joined.append((start, flat.length))
    flat.write("\n")
