"""A run as a row of cells, for the run list's small map and the run page's map.

One cell a round, one character a cell:

    o  first odd round
    t  goal or ticket are gone from here
    x  a fault or a breach stands here
    l  a lead stands here
    r  a repeat: the round holds nothing but calls made before with the same answer
    f  finished
    c  cut off
    b  blocked
    e  error of the service
    u  unknown stop reason
    -  a gap: the round is missing
    .  wants a tool

Where there are more rounds than cells, each cell stands for a bin of rounds and shows the worst of
them, in the order above.
"""

from __future__ import annotations

from collections.abc import Iterable

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
    found = list(findings)
    for finding in found:
        if finding.detector in REPETITIONS and finding.to_round is not None:
            for number in range(finding.round, finding.to_round + 1):
                _mark(codes, number, "r")
    for finding in found:
        if finding.detector in REPETITIONS:
            continue
        worst = "l" if finding.severity == Severity.LEAD or finding.recovered_at else "x"
        _mark(codes, finding.round, "t" if finding.detector == "ticket_lost" else worst)
    if first_odd is not None:
        _mark(codes, first_odd.round, "o")
    return codes


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
