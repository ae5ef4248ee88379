"""What a detector is, and what it yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.choices import Severity
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading


@dataclass(frozen=True, slots=True)
class Place:
    """A round (number from 1) and, where one call is meant, its index (from 0) in the round."""

    round: int
    call: int | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """One claim of a detector, at a place.

    `why` is one plain sentence with the values compared. `cause` and `fix` default to the
    detector's own (from its docstring); `severity` and `odd` likewise. `values` are the compared
    values by name, for people and for grouping: `values["error"]` is the error text a group is made
    by.
    """

    at: Place
    why: str
    tool: str = ""
    to_round: int | None = None
    evidence: tuple[Place, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity | None = None
    odd: bool | None = None
    cause: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Detector:
    """One rule. `name` is that of its module and function; the texts are parts of its docstring,
    which is its page.
    """

    name: str
    version: int
    severity: Severity
    odd: bool
    title: str
    find: Callable[[Reading, Limits], Iterable[Draft]]
    why_it_matters: str
    stays_silent: str
    cause: str
    fix: str
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A draft with its detector and the round where the run recovered from it, or None."""

    detector: str
    version: int
    title: str
    severity: Severity
    odd: bool
    round: int
    to_round: int | None
    call: int | None
    tool: str
    why: str
    cause: str
    fix: str
    evidence: tuple[Place, ...]
    values: Mapping[str, Any]
    recovered_at: int | None = None
