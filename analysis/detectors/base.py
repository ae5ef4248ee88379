"""What a detector is, and what it yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.choices import Severity
from analysis.places import Place

if TYPE_CHECKING:
    from analysis.detectors.limits import Limits
    from analysis.detectors.reading import Reading

Find = Callable[["Reading", "Limits"], Iterable["Draft"]]

# The labelled parts of a detector's docstring, by field of `Detector`.
PARTS = {
    "why_it_matters": "Why it matters",
    "stays_silent": "Stays silent",
    "yields": "Yields",
    "cause": "Likely cause",
    "fix": "Fix in code",
    "source": "Source",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """One claim of a detector, at a place.

    `why` is one plain sentence with the values compared. `cause` and `fix` default to the
    detector's own (from its docstring); `severity` and `odd` likewise. `values` are the compared
    values by name, for people and for grouping: `values["error"]` is the error text a group is
    made by. `brief` is the claim as a clause for the verdict ("reset_vpn_profile returned
    nothing"). `made_up_at` is the round that made up for it, where the detector itself can tell
    and the rules of `analysis.recovery` cannot: the ticket is back, the status did change.
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
    brief: str = ""
    made_up_at: int | None = None


@dataclass(frozen=True, slots=True)
class Detector:
    """One rule: `name` is its module's and function's name; the texts are the parts of its
    docstring, which is its page.

    `rank` orders findings at one place: the lower speaks more directly of what happened there.
    `recovers` is false for what nothing that follows can make up for (a limit is passed for good).
    """

    name: str
    version: int
    severity: Severity
    odd: bool
    rank: int
    recovers: bool
    title: str
    summary: str
    find: Find
    why_it_matters: str
    stays_silent: str
    yields: str
    cause: str
    fix: str
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A draft with its detector, and the round in which the run recovered from it, or None.
    `values` has "handed_off" where it recovered only by handing the task off.
    """

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
    brief: str = ""

    @property
    def handed_off(self) -> bool:
        return bool(self.values.get("handed_off"))


def detector(
    *,
    version: int,
    severity: Severity,
    odd: bool,
    rank: int = 50,
    recovers: bool = True,
) -> Callable[[Find], Detector]:
    """Make a `Detector` of a function; name and texts come from the function.

    Raises ValueError when a part of the docstring is missing: it is the page that users read.
    """

    def make(find: Find) -> Detector:
        name = find.__name__
        title, summary, parts = _split_docstring(name, find.__doc__ or "")
        return Detector(
            name=name,
            version=version,
            severity=severity,
            odd=odd,
            rank=rank,
            recovers=recovers,
            title=title,
            summary=summary,
            find=find,
            **parts,
        )

    return make


def _split_docstring(name: str, text: str) -> tuple[str, str, dict[str, str]]:
    field_of = {label: part for part, label in PARTS.items()}
    found: dict[str, list[str]] = {"": []}
    current = ""
    for line in text.strip().splitlines():
        label, colon, rest = line.strip().partition(":")
        if colon and label in field_of:
            current = field_of[label]
            found[current] = [rest.strip()]
        else:
            found[current].append(line.strip())
    title, *summary = found.pop("")
    parts = {part: " ".join(lines).strip() for part, lines in found.items()}
    missing = [label for part, label in PARTS.items() if not parts.get(part)]
    if missing or not title:
        raise ValueError(f"docstring of detector {name} lacks: {', '.join(missing) or 'a title'}")
    return title.rstrip("."), " ".join(" ".join(summary).split()), parts
