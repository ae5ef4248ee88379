"""Compare what the suite says of a run with what was done to it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from analysis.detectors.base import Finding
from analysis.suite import Analysis, analyse
from bench.detect.breaking import Expected
from bench.detect.inject import Case
from bench.detect.sketch import Sketch, record

RESULT_DETECTORS = frozenset({"empty_result", "failed_result", "hidden_error"})
"""These speak of one call each: elsewhere they are right only at another broken call."""


@dataclass(frozen=True)
class Share:
    """`hits` of `total`, with the 95% interval of Wilson."""

    hits: int
    total: int

    @property
    def rate(self) -> float:
        return self.hits / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        if not self.total:
            return 0.0, 1.0
        z, n, p = 1.96, self.total, self.rate
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Outcome:
    """One broken run judged.

    `opened`: the run opens at the right round (None: the fault is no dropped stitch). `placed`: the
    first odd round is right where there is one, else the place of the detector's own first finding.
    `named`: the right detector speaks at the place. `recovery`: recovered or not, as it was made.
    """

    case: Case
    analysis: Analysis
    found: bool
    opened: bool | None
    placed: bool
    named: bool
    recovery: bool | None
    right: tuple[Finding, ...]
    wrong: tuple[Finding, ...]


@dataclass
class Control:
    """One clean run judged: `wrong` findings, and whether it was flagged as it should not be."""

    sketch: Sketch
    analysis: Analysis
    wrong: list[Finding] = field(default_factory=list)
    flagged: bool = False

    @property
    def alarm(self) -> bool:
        return bool(self.wrong) or self.flagged


def at_place(finding: Finding, expected: Expected) -> bool:
    """Whether a finding sits at one of the places; a finding of a whole round covers its calls."""
    if not expected.places:
        return True
    return any(
        finding.round == number and (index is None or finding.call in (None, index))
        for number, index in expected.places
    )


def judge(case: Case) -> Outcome:
    analysis = analyse(case.run, case.settings)
    expected = case.expected
    own = [f for f in analysis.findings if f.detector == expected.detector]
    named = any(at_place(finding, expected) for finding in own)
    opened = None
    if expected.odd_round is not None:
        opened = first_odd(analysis) in _openings(case)
    first = min(own, key=lambda f: (f.round, f.call or 0), default=None)
    placed = bool(first and at_place(first, expected)) if opened is None else opened
    right: list[Finding] = []
    wrong: list[Finding] = []
    for finding in analysis.findings:
        (right if is_right(finding, case) else wrong).append(finding)
    return Outcome(
        case,
        analysis,
        bool(own),
        opened,
        placed,
        named,
        _recovery(own, expected),
        tuple(right),
        tuple(wrong),
    )


def _openings(case: Case) -> set[int | None]:
    """The round where the run must open; an older trouble that may be left unsaid counts too."""
    expected = case.expected
    if expected.recovered_at is None:
        return {expected.odd_round}
    return {expected.odd_round, *(number for _, number in case.allowed)}


def _recovery(own: list[Finding], expected: Expected) -> bool | None:
    """Whether the finding at an odd place says rightly that the run recovered or did not."""
    here = [finding for finding in own if at_place(finding, expected)]
    if expected.odd_round is None or not here:
        return None
    return (here[0].recovered_at is not None) == (expected.recovered_at is not None)


def is_right(finding: Finding, case: Case) -> bool:
    """Whether a finding speaks of the fault, of what followed from it, or of an older trouble."""
    expected = case.expected
    if (finding.detector, finding.round) in case.allowed:
        return True
    if finding.detector == expected.detector and at_place(finding, expected):
        return True
    if finding.detector in RESULT_DETECTORS:
        return _speaks_of_a_broken_call(finding, case)
    if finding.detector in expected.also:
        return True
    first = min((number for number, _ in expected.places), default=1)
    return finding.detector == expected.detector and finding.round >= first


def _speaks_of_a_broken_call(finding: Finding, case: Case) -> bool:
    wanted = finding.detector in {case.expected.detector, *case.expected.also}
    broken = {place for place in case.bad if place[0] == finding.round}
    if finding.call is not None:
        broken = {place for place in broken if place[1] == finding.call}
    return wanted and bool(broken)


def first_odd(analysis: Analysis) -> int | None:
    odd = analysis.verdict.first_odd
    return None if odd is None else odd.round


def control(sketch: Sketch) -> Control:
    analysis = analyse(record(sketch), sketch.settings)
    allowed = {(a.detector, a.round) for a in sketch.allowed}
    wrong = [f for f in analysis.findings if (f.detector, f.round) not in allowed]
    return Control(sketch, analysis, wrong, analysis.verdict.flagged and not sketch.flagged)


@dataclass
class DetectorRow:
    """One detector over all runs: of its faults, and of its findings."""

    faults: int = 0
    found: int = 0
    placed: int = 0
    right: int = 0
    wrong: int = 0

    @property
    def recall(self) -> Share:
        return Share(self.found, self.faults)

    @property
    def precision(self) -> Share:
        return Share(self.right, self.right + self.wrong)


def by_detector(outcomes: Iterable[Outcome], controls: Iterable[Control]) -> dict[str, DetectorRow]:
    rows: dict[str, DetectorRow] = {}
    for outcome in outcomes:
        row = rows.setdefault(outcome.case.expected.detector, DetectorRow())
        row.faults += 1
        row.found += outcome.named
        row.placed += outcome.placed
        for finding in outcome.right:
            rows.setdefault(finding.detector, DetectorRow()).right += 1
        for finding in outcome.wrong:
            rows.setdefault(finding.detector, DetectorRow()).wrong += 1
    for one in controls:
        for finding in one.analysis.findings:
            row = rows.setdefault(finding.detector, DetectorRow())
            if finding in one.wrong:
                row.wrong += 1
            else:
                row.right += 1
    return dict(sorted(rows.items()))
