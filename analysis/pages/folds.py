"""Stretches of a run that only repeat, from its findings, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

# The findings that say "the same again" about rounds in a row, the most telling first. Others of
# their
# kind leave room for other calls in between, which a fold must not hide.
FOLDING = ("alternating_calls", "repeated_call", "no_progress")
SHORTEST = 4


class Spanning(Protocol):
    """What a fold needs of a finding."""

    detector: str
    round: int
    to_round: int | None
    tool: str
    values: dict[str, object]


@dataclass(frozen=True)
class Fold:
    """Rounds `first` to `last` repeat: `tools` is what takes turns, `detector` says how."""

    first: int
    last: int
    detector: str
    tools: tuple[str, ...]

    def words(self, first: int, last: int) -> str:
        """What rounds `first` to `last` of it do: "reset_vpn_profile and check_vpn_status take
        turns".
        """
        names = " and ".join(filter(None, [", ".join(self.tools[:-1]), *self.tools[-1:]]))
        rounds = last - first + 1
        if self.detector == "alternating_calls":
            turns = max(1, rounds // max(1, len(self.tools)))
            return f"{names} take turns, {turns} more time{'s' if turns > 1 else ''}"
        if self.detector == "repeated_call":
            return f"{names} again with the same arguments and answer, {rounds} more times"
        return f"the same answer whatever is asked, {rounds} more times"


def folds_of(findings: Iterable[Spanning]) -> list[Fold]:
    """The folds of a run, none inside another. Where two overlap the longer wins, then the more
    telling.
    """
    found = [fold for finding in findings if (fold := _fold(finding)) is not None]
    found.sort(key=lambda fold: (fold.first - fold.last, FOLDING.index(fold.detector)))
    kept: list[Fold] = []
    for fold in found:
        if not any(fold.first <= other.last and other.first <= fold.last for other in kept):
            kept.append(fold)
    return sorted(kept, key=lambda fold: fold.first)


def _fold(finding: Spanning) -> Fold | None:
    if finding.detector not in FOLDING or finding.to_round is None:
        return None
    tools = finding.values.get("tools")
    names = tuple(map(str, tools)) if isinstance(tools, list) and tools else (finding.tool,)
    if finding.detector == "alternating_calls":
        # The first turn stays in sight: what comes after it is the same again.
        first = finding.round + len(names)
    elif finding.detector == "repeated_call":
        if finding.values.get("in_a_row") != finding.values.get("same_answer"):
            return None
        first = finding.round + 1
    else:
        first = finding.round + 1
    if finding.to_round - first + 1 < SHORTEST:
        return None
    return Fold(first, finding.to_round, finding.detector, names)
