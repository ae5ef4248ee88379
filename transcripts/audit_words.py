"""The details of an audit line in words: what was seen, and what changed from what to what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from transcripts.export import all_exporters

# What the code notes under short names, as people say it. `{}` is the value.
PHRASES = {
    "address": "address {}",
    "alert_message": "message {}",
    "audit_log": "the audit log",
    "annotations": "its annotations",
    "case": "{}",
    "compare": "beside another run",
    "incident": "INC-{}",
    "joined": "{} joined",
    "link for": "a link for a new password of {}",
    "invited": "{}",
    "withdrawn": "the invitation of {} withdrawn",
    "at": "opened at round {}",
    "round": "round {}",
    "saw": "what the model saw in round {}",
    "part": "its {}",
    "findings": "its findings",
    "texts": "found in {} texts",
    "by": "by {}",
    "rounds": "{} rounds",
    "calls": "{} tool calls",
    "runs": "{} runs",
    "transcripts": "{} transcripts",
    "receipts": "{} receipts of deliveries",
    "retried": "tried delivery {} again",
    "discarded": "discarded delivery {}",
    "lines": "{} lines of the audit log",
}
# Where a line speaks of several, what holds more comes first; a call is counted from 0 in a round.
FIRST = ("case", "incident", "round", "call")
EXPORTS = {"case": "a test case", "suite": "test cases in one file"}
MISSING = "nothing"
LISTED = 20


@dataclass(frozen=True, slots=True)
class Changed:
    """One thing that changed; `name` is empty where the line is about that thing alone."""

    name: str
    before: str
    after: str


def detail_words(detail: Mapping[str, Any]) -> str:
    """What a line says beside what changed: "rounds 1 to 12", "as markdown"."""
    left = {name: value for name, value in detail.items() if name not in ("before", "after")}
    words = []
    if {"first", "last"} <= left.keys():
        words.append(f"rounds {_told(left.pop('first'))} to {_told(left.pop('last'))}")
    order = [name for name in FIRST if name in left]
    order += [name for name in left if name not in FIRST]
    words += [_phrase(name, left[name]) for name in order]
    return ", ".join(word for word in words if word)


def detail_changes(detail: Mapping[str, Any]) -> list[Changed]:
    """What changed, one by one; what stayed as it was is left out."""
    if "before" not in detail and "after" not in detail:
        return []
    found = list(_differences("", detail.get("before"), detail.get("after")))
    if len(found) > LISTED:
        more = f"{len(found) - LISTED} more"
        found = [*found[:LISTED], Changed(more, "", "")]
    return found


def _differences(name: str, before: Any, after: Any) -> Iterator[Changed]:
    if before == after:
        return
    if isinstance(before, Mapping) or isinstance(after, Mapping):
        old = before if isinstance(before, Mapping) else {}
        new = after if isinstance(after, Mapping) else {}
        for key in dict.fromkeys([*old, *new]):
            inner = f"{name}, {_named(key)}" if name else _named(key)
            yield from _differences(inner, old.get(key), new.get(key))
        return
    if isinstance(before, list) and isinstance(after, list):
        for gone in (item for item in before if item not in after):
            yield Changed(name, _told(gone), MISSING)
        for come in (item for item in after if item not in before):
            yield Changed(name, MISSING, _told(come))
        return
    yield Changed(name, _told(before), _told(after))


def _format(name: Any) -> str:
    """What an export is called on pages."""
    titles = {exporter.name: exporter.title for exporter in all_exporters()}
    return titles.get(name) or EXPORTS.get(name) or str(name)


def _phrase(name: str, value: Any) -> str:
    if name == "as":
        formats = value if isinstance(value, list) else [value]
        return f"as {', '.join(map(_format, formats))}"
    if isinstance(value, Mapping):
        inner = ", ".join(
            _phrase(key, part) for key, part in value.items() if part not in ("", None)
        )
        return f"{_named(name)}: {inner}" if inner else _named(name)
    if value is True:
        return PHRASES.get(name, _named(name))
    if name == "call" and isinstance(value, int):
        return f"call {value + 1}"
    if name == "incident" and not isinstance(value, int):
        return str(value)
    if value is False or value is None or value == "":
        return ""
    phrase = PHRASES.get(name, f"{_named(name)} {{}}")
    return phrase.replace("{}", _told(value))


def _named(name: Any) -> str:
    return str(name).replace("_", " ")


def _told(value: Any) -> str:
    if value is None or value == "" or value == []:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_told(part) for part in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{_named(key)} {_told(part)}" for key, part in value.items())
    return str(value)
