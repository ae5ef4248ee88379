"""Incidents in words: their states, and what happened to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from analysis.models import IncidentEvent, IncidentState, Priority, VersionKind
from analysis.services.incident_states import EventKind

# State: label and tone.
STATES: dict[str, tuple[str, str]] = {
    IncidentState.NEW: ("New", "bad"),
    IncidentState.ONGOING: ("Ongoing", "warn"),
    IncidentState.ESCALATING: ("Escalating", "breach"),
    IncidentState.REGRESSED: ("Came back", "breach"),
    IncidentState.RESOLVED: ("Resolved", "good"),
    IncidentState.IGNORED: ("Ignored", "quiet"),
}
PRIORITIES: dict[int, str] = {
    Priority.HIGH: "High",
    Priority.MEDIUM: "Medium",
    Priority.LOW: "Low",
}
KINDS = {VersionKind.PROMPT.value: "prompt", VersionKind.CODE.value: "code"}


@dataclass(frozen=True, slots=True)
class EventLine:
    """A line of the timeline as people read it. `run`: a run to link to, by its sender's id."""

    event: IncidentEvent
    who: str
    words: str
    run: int | None = None
    run_id: str = ""
    incident: int | None = None


def event_line(event: IncidentEvent, people: Mapping[int, str]) -> EventLine:
    """`people` are names by id, of those that lines speak of."""
    said: Mapping[str, Any] = event.detail
    run_id = str(said.get("run_id", ""))
    who = event.user.short_name if event.user else ""
    return EventLine(
        event, who, _words(event.kind, said, people), said.get("run"), run_id,
        said.get("incident"),
    )  # fmt: skip


def _words(kind: str, said: Mapping[str, Any], people: Mapping[int, str]) -> str:
    simple = {
        EventKind.OPENED: f"First seen{_in_version(said)}, in run",
        EventKind.REGRESSED: f"Came back{_in_version(said)}, in run",
        EventKind.SEEN_AGAIN: "Seen again, in run",
        EventKind.RUN_LEFT: "Read again, and has it no longer: run",
        EventKind.EMPTIED: "No run has it any more.",
        EventKind.AGED: "New for a week, now ongoing.",
        EventKind.CALMED: "Calmed down.",
        EventKind.MERGED: "took over",
        EventKind.HELD: "put its runs on legal hold.",
        EventKind.RELEASED: "ended the legal hold.",
        EventKind.UNDONE: "took the last change back.",
        EventKind.COMMENTED: "commented.",
        EventKind.NAMED_CAUSE: "named the root cause.",
    }
    if kind in simple:
        return simple[EventKind(kind)]
    if kind == EventKind.ASSIGNED:
        return _assigned(said, people)
    told = _TOLD.get(kind)
    return told(said) if told else kind.replace("_", " ")


def _in_version(said: Mapping[str, Any]) -> str:
    version = said.get("version")
    return f" in {KINDS.get(said.get('version_kind', ''), '')} {version}" if version else ""


def _escalated(said: Mapping[str, Any]) -> str:
    usual = said.get("usual") or 0
    return f"Escalating: {said.get('day')} runs in a day, {usual:g} on a usual one."


def _ignore_ended(said: Mapping[str, Any]) -> str:
    return "To be looked at again, with run" if said.get("run") else "To be looked at again."


def _resolved(said: Mapping[str, Any]) -> str:
    by = f" by test case {said['case']}" if said.get("case") else ""
    return f"resolved it{_in_version(said) or ' from now on'}{by}."


def _reopened(said: Mapping[str, Any]) -> str:
    if said.get("case"):
        return f"Came back: test case {said['case']} fails again."
    return "took it up again."


def _ignored(said: Mapping[str, Any]) -> str:
    parts = []
    if said.get("until"):
        at = datetime.fromtimestamp(said["until"] / 1_000_000, UTC)
        parts.append(f"until {timezone.localtime(at):%-d %b %Y, %H:%M}")
    if said.get("runs"):
        more = said["runs"]
        parts.append(
            "until one more run has it" if more == 1 else f"until {more:,} more runs have it"
        )
    return f"ignored it {' or '.join(parts) or 'for good'}."


def _assigned(said: Mapping[str, Any], people: Mapping[int, str]) -> str:
    person = said.get("person")
    if person is None:
        return "took it from its owner."
    return f"gave it to {people.get(person, 'somebody who is gone')}."


def _priority(said: Mapping[str, Any]) -> str:
    before, after = (PRIORITIES.get(said.get(name) or 0, "?").lower() for name in
                     ("before", "after"))  # fmt: skip
    return f"changed its priority from {before} to {after}."


def _split(said: Mapping[str, Any]) -> str:
    moved = said.get("fingerprints")
    if not moved:
        return "made it of a part of"
    return f"split {moved} fingerprint{'' if moved == 1 else 's'} off into"


_TOLD: dict[str, Callable[[Mapping[str, Any]], str]] = {
    EventKind.ESCALATED: _escalated,
    EventKind.IGNORE_ENDED: _ignore_ended,
    EventKind.RESOLVED: _resolved,
    EventKind.REOPENED: _reopened,
    EventKind.IGNORED: _ignored,
    EventKind.PRIORITY: _priority,
    EventKind.SPLIT: _split,
}
