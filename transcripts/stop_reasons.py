"""Raw stop labels of the services, and the plain one each of them means.

The table (`stop_reasons.json`) was read from the enumerations of the services' own packages; each
row says which package, version and file. A run-level label (provider `run:…`) says why a whole run
ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from transcripts.record import Stop

_TABLE = Path(__file__).with_name("stop_reasons.json")

# `FinishReason.STOP`, `genai.types.FinishReason.STOP`: how Python enums print themselves.
_ENUM_PREFIX = re.compile(r"^(?:[A-Za-z_]\w*\.)+(?=\w)")
# `FINISH_REASON_MAX_TOKENS`: how older proto libraries write the label of the same name.
_PROTO_PREFIX = "FINISH_REASON_"
_QUOTES = "\"'` \t\r\n"

# Names that senders use for a service, and the table's name for it.
_ALIASES: Mapping[str, str] = {
    "openai": "openai.chat",
    "azure": "openai.chat",
    "azure_openai": "openai.chat",
    "azure.ai.openai": "openai.chat",
    "google": "google.generate_content",
    "google_genai": "google.generate_content",
    "gemini": "google.generate_content",
    "gcp.gemini": "google.generate_content",
    "gcp.vertex_ai": "google.generate_content",
    "vertex_ai": "google.generate_content",
    "vertexai": "google.generate_content",
    "google.gemini_api": "google.generate_content",
    "google.vertex": "google.generate_content",
    "bedrock": "aws.bedrock.converse",
    "aws.bedrock": "aws.bedrock.converse",
    "aws_bedrock": "aws.bedrock.converse",
    "mistral_ai": "mistral",
    "mistralai": "mistral",
    "cohere": "cohere.v2",
    "claude": "anthropic",
}

# The two Google services number their enumerations differently from 6 on.
_NUMERIC: Mapping[str, str] = {
    "google.gemini_api": "google.gemini_api.numeric",
    "gcp.gemini": "google.gemini_api.numeric",
    "gemini": "google.gemini_api.numeric",
    "google.vertex": "google.vertex.numeric",
    "gcp.vertex_ai": "google.vertex.numeric",
    "vertex_ai": "google.vertex.numeric",
    "vertexai": "google.vertex.numeric",
}
_AGREED_NUMBERS = frozenset("012345")


@dataclass(frozen=True, slots=True)
class StopLabel:
    """One row of the table: the `label` that `provider` writes into `field`, and what it means."""

    provider: str
    field: str
    label: str
    plain: Stop
    note: str
    source: str


@dataclass(frozen=True, slots=True)
class _Table:
    labels: tuple[StopLabel, ...]
    exact: Mapping[tuple[str, str], Stop]
    any_provider: Mapping[str, Stop]


def stop_labels() -> tuple[StopLabel, ...]:
    """The table in its own order: by provider, then by field."""
    return _table().labels


def decide(raw: str | None, *, provider: str = "", wants_tool: bool, refused: bool = False) -> Stop:
    """Why a reply stopped, from its raw label and what it holds.

    `wants_tool`: the reply holds a tool request that the caller must run. `refused`: the service
    blocked the prompt, or the reply is marked as a refusal. Cut off, blocked, error and unknown
    labels win over tool requests, which may be half-written then. `raw` None or blank: the format
    carries no label.
    """
    if refused:
        return Stop.BLOCKED
    plain = plain_label(raw, provider=provider) if raw and raw.strip() else Stop.FINISHED
    if plain in (Stop.FINISHED, Stop.WANTS_TOOL) and wants_tool:
        return Stop.WANTS_TOOL
    return plain


def plain_label(raw: str, *, provider: str = "") -> Stop:
    """The plain label of a raw one: the provider's own table first, then what all providers agree
    on.
    """
    table = _table()
    label = _ENUM_PREFIX.sub("", raw.strip(_QUOTES)).strip(_QUOTES)
    for candidate in (label, _undoubled(label), label.removeprefix(_PROTO_PREFIX)):
        found = _look_up(table, candidate, provider.strip().casefold())
        if found is not None:
            return found
    return Stop.UNKNOWN


def _look_up(table: _Table, label: str, provider: str) -> Stop | None:
    if label.isdecimal():
        return _numbered(table, label, provider)
    for name in (provider, _ALIASES.get(provider, "")):
        found = table.exact.get((name, label))
        if found is not None:
            return found
    return table.any_provider.get(label.casefold().replace("-", "_").replace(" ", "_"))


def _numbered(table: _Table, label: str, provider: str) -> Stop | None:
    numeric = _NUMERIC.get(provider, provider)
    if not numeric.endswith(".numeric"):
        google = _ALIASES.get(provider, provider) == "google.generate_content"
        if not google or label not in _AGREED_NUMBERS:
            return None
        numeric = "google.vertex.numeric"
    return table.exact.get((numeric, label))


def _undoubled(label: str) -> str:
    """One copy of a label that chunk merging wrote several times (`STOPSTOP`); else the label
    itself.
    """
    at = (label + label).find(label, 1)
    return label[:at] if 0 < at < len(label) else label


@cache
def _table() -> _Table:
    content = json.loads(_TABLE.read_text(encoding="utf-8"))
    labels = tuple(
        StopLabel(
            provider=row["provider"],
            field=row["field"],
            label=row["label"],
            plain=Stop(row["plain"]),
            note=row.get("note", ""),
            source=row["source"],
        )
        for row in content["rows"]
    )
    exact: dict[tuple[str, str], Stop] = {}
    for row in labels:
        exact.setdefault((row.provider, row.label), row.plain)
    any_provider = {label: Stop(plain) for label, plain in content["any_provider"].items()}
    # The plain labels themselves, which the native format and the minimal log carry.
    any_provider.update({stop.value: stop for stop in Stop})
    return _Table(labels, exact, any_provider)
