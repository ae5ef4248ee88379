"""Changes that changed nothing, as later reads show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.detectors.reading import CallReading
from analysis.detectors.reading.patterns import Pattern, encodable
from analysis.detectors.reading.relation import about_the_same, fields_of, is_read
from analysis.detectors.reading.tools import Effect

# Changes that are looked back at from one read. In a run that changes more than this between two
# reads of one thing, the oldest are not held against it.
MOST_CHANGES_BETWEEN = 16

_STATUS = (
    r"(?i)\b(?:status|state|account|profile|access|booking|order|ticket|service)[\"']?"
    r"\s*(?:[:=]|is)\s*[\"']?"
)
# What a read says of a thing that a change by this verb cannot have reached.
_OPPOSITES = {
    verb: Pattern(
        rf"{_STATUS}(?:{words})\b|(?i:[\"']?\b(?:{fields})[\"']?\s*[:=]\s*[\"']?(?:false|no"
        rf"|never|0)\b)"
    )
    for verbs, words, fields in (
        (
            "close resolve complete",
            "open|reopened|new|pending|unresolved|in progress",
            "closed|resolved|completed",
        ),
        ("cancel", "active|confirmed|booked|scheduled|open", "cancell?ed"),
        ("enable activate", "disabled|inactive|deactivated|off", "enabled|active|activated"),
        ("disable deactivate", "enabled|active|on", "disabled|deactivated"),
        ("unlock", "locked|blocked", "unlocked"),
        ("lock", "unlocked", "locked"),
        ("start restart", "stopped|not running|down|offline|exited", "running|started"),
        ("stop kill", "running|started|online", "stopped"),
        ("approve", "pending|rejected|waiting|unapproved", "approved"),
        ("grant", "denied|none|no access|revoked|not granted", "granted"),
        ("revoke", "granted", "revoked"),
        ("assign", "unassigned", "assigned"),
        ("pay", "unpaid|due|overdue", "paid"),
        ("send email mail", "draft|unsent|not sent|queued", "sent"),
        ("publish", "draft|unpublished", "published"),
        ("reset", "not reset|expired", "reset"),
        ("install deploy", "not installed|missing|not deployed", "installed|deployed"),
    )
    for verb in verbs.split()
}


# Characters of a read's answer that are looked through, and the longest value that is a state.
MOST_READ = 4_000
LONGEST_STATE = 60


@dataclass(slots=True)
class NoEffect:
    """`change` did not show in `after`: it is as `before`, or says the opposite (`before` None).

    `told` is what the read says, `times` how often the same tool had no effect on it, `settled_at`
    the round in which the read did change at last.
    """

    change: CallReading
    before: CallReading | None
    after: CallReading
    told: str
    times: int = 1
    settled_at: int | None = None


@dataclass(slots=True)
class _Search:
    last_read: dict[tuple[str, str], CallReading] = field(default_factory=dict)
    changes: list[CallReading] = field(default_factory=list)
    unproven: list[CallReading] = field(default_factory=list)
    # By the changing tool and the key of the read: the same knot, whatever else was tried.
    found: dict[tuple[str, tuple[str, str]], NoEffect] = field(default_factory=dict)


def find_no_effects(calls: Sequence[CallReading]) -> list[NoEffect]:
    """One entry for each tool that had no effect on what one read shows, at its first call
    without one.
    """
    search = _Search()
    for call in calls:
        if call.effect == Effect.CHANGES:
            if call.answered and not call.failed:
                search.changes.append(call)
                search.unproven = [*search.unproven[-MOST_CHANGES_BETWEEN:], call]
        elif is_read(call) and not call.came_to_nothing:
            _compare(search, call)
            _contradict(search, call)
            search.last_read[call.key] = call
    return list(search.found.values())


def _compare(search: _Search, read: CallReading) -> None:
    before = search.last_read.get(read.key)
    if before is None:
        return
    since = [
        change
        for change in search.changes[-MOST_CHANGES_BETWEEN:]
        if change.seq > before.seq and about_the_same(change, read)
    ]
    if not since:
        return
    if read.result_key != before.result_key:
        for change in since:
            known = search.found.get((change.name, read.key))
            if known is not None and known.settled_at is None:
                known.settled_at = read.round
        return
    _add(search, NoEffect(since[0], before, read, read.call.result or ""))


def _contradict(search: _Search, read: CallReading) -> None:
    """The first related read after a change is its proof, or the proof of the opposite."""
    open_: list[CallReading] = []
    for change in search.unproven:
        if not about_the_same(change, read):
            open_.append(change)
            continue
        told = _opposite_told(change, read)
        if told and (change.name, read.key) not in search.found:
            _add(search, NoEffect(change, None, read, told))
    search.unproven = open_


def _opposite_told(change: CallReading, read: CallReading) -> str | None:
    """The words in which the read says that the change is not so."""
    text = encodable((read.call.result or "")[:MOST_READ])
    if isinstance(change.args, dict):
        shown = fields_of(text)
        own = fields_of(encodable((change.call.result or "")[:MOST_READ]))
        for name, wanted in change.args.items():
            if _differs(wanted, own.get(str(name).lower(), "")):
                # The tool itself shows the field otherwise: it is not the same field.
                continue
            if str(name).lower() in shown and _differs(wanted, shown[str(name).lower()]):
                return f"{name}: {shown[str(name).lower()]}"
    verb = next((word for word in change.nature.words if word in _OPPOSITES), "")
    told = _OPPOSITES[verb].search(text) if verb else None
    return str(told.group()) if told is not None else None


def _differs(wanted: Any, shown: str) -> bool:
    """Whether a field that was to be set to `wanted` shows something else."""
    if isinstance(wanted, bool):
        wanted = str(wanted)
    if not isinstance(wanted, str | int | float) or len(str(wanted)) > LONGEST_STATE:
        return False
    mine, its = str(wanted).strip().casefold(), shown.strip().casefold()
    return bool(mine and its) and len(its) <= LONGEST_STATE and mine not in its and its not in mine


def _add(search: _Search, found: NoEffect) -> None:
    about = found.change.name, found.after.key
    known = search.found.get(about)
    if known is None:
        search.found[about] = found
    else:
        known.times += 1
        known.settled_at = None
