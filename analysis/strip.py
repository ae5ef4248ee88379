"""A run as a row of cells, for the run list's small map and the run page's map.

One cell a round, one character a cell:

    o  first odd round, of what the run did not recover from
    t  goal or ticket are gone from here
    x  an odd fault or breach stands here
    l  an odd fault or breach, or the first odd round, that the run made up for
    r  a repeat, from the third time on
    f  finished
    c  cut off
    b  blocked
    e  error of the service
    u  unknown stop reason
    -  a gap: the round is missing
    .  wants a tool

Leads, and what is said of the run as a whole, have no cell: they would cover the first odd round.
Where there are more rounds than cells, each cell stands for a bin of rounds and shows the worst of
them, in the order above.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from analysis.choices import Severity
from analysis.detectors.base import Finding
from analysis.detectors.reading import Reading
from analysis.verdict import FirstOdd
from transcripts.record import Stop

WORST_FIRST = "otxceubl-rf."
REPETITIONS = frozenset({"repeated_call", "alternating_calls", "near_repeat", "no_progress"})
_STOPS = {
    Stop.FINISHED: "f",
    Stop.WANTS_TOOL: ".",
    Stop.CUT_OFF: "c",
    Stop.BLOCKED: "b",
    Stop.ERROR: "e",
    Stop.UNKNOWN: "u",
}
_RANK = {code: rank for rank, code in enumerate(WORST_FIRST)}


def strip_of(
    reading: Reading, findings: Iterable[Finding], first_odd: FirstOdd | None, *, cells: int
) -> str:
    """The run in at most `cells` characters."""
    return merged(codes_of(reading, findings, first_odd), cells)


def codes_of(
    reading: Reading, findings: Iterable[Finding], first_odd: FirstOdd | None
) -> dict[int, str]:
    """One code for each round that there is, by its number, ascending."""
    codes = {round_.number: _STOPS[round_.stop] for round_ in reading.rounds}
    repeats: list[tuple[int, int]] = []
    for finding in findings:
        span = repeat_span(finding)
        if span is not None:
            repeats.append(span)
        elif finding.odd and finding.severity != Severity.LEAD:
            standing = "t" if finding.detector == "ticket_lost" else "x"
            _mark(codes, finding.round, "l" if finding.recovered_at else standing)
    _mark_repeats(codes, repeats)
    if first_odd is not None:
        _mark(codes, first_odd.round, "l" if first_odd.recovered_at else "o")
    return codes


def _mark_repeats(codes: dict[int, str], spans: list[tuple[int, int]]) -> None:
    """Marks each round once, however many repetitions lie over it."""
    open_until = 0
    spans = sorted(spans)
    at = 0
    for number in codes:
        while at < len(spans) and spans[at][0] <= number:
            open_until = max(open_until, spans[at][1])
            at += 1
        if number <= open_until:
            _mark(codes, number, "r")


class Spanning(Protocol):
    """What of a finding says where its repeats are."""

    @property
    def detector(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def round(self) -> int: ...
    @property
    def to_round(self) -> int | None: ...
    @property
    def values(self) -> Mapping[str, Any]: ...


def repeat_span(finding: Spanning) -> tuple[int, int] | None:
    """First and last round of what a repetition repeats, from its third time on; None for leads
    and for findings of another kind.
    """
    if finding.detector not in REPETITIONS or finding.severity == Severity.LEAD:
        return None
    first = int(finding.values.get("third_time", finding.round))
    return first, max(first, finding.to_round or first)


def merged(codes: dict[int, str], cells: int) -> str:
    """The codes of rounds 1 to the last in at most `cells` characters, the worst of each bin."""
    if not codes:
        return ""
    last = max(codes)
    first = min(codes)
    if last - first + 1 <= cells:
        return "".join(codes.get(number, "-") for number in range(first, last + 1))
    numbers = sorted(codes)
    size = -(-len(numbers) // cells)
    bins = [numbers[at : at + size] for at in range(0, len(numbers), size)]
    return "".join(min((codes[number] for number in each), key=_RANK.__getitem__) for each in bins)


def _mark(codes: dict[int, str], number: int, code: str) -> None:
    if number in codes and _RANK[code] < _RANK[codes[number]]:
        codes[number] = code
