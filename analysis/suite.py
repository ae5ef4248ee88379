"""All detectors over one run: findings in order, the first odd round, the verdict."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from analysis.detectors import all_detectors
from analysis.detectors.base import Detector, Draft, Finding
from analysis.detectors.limits import DEFAULT, Limits
from analysis.detectors.reading import Reading
from analysis.folding import told_once
from analysis.recovery import Recovered, Recovery
from analysis.strip import strip_of
from analysis.tool_totals import ToolTotals, tool_totals
from analysis.verdict import VerdictResult, verdict_of
from analysis.wasted import Wasted, wasted_by, wasted_of
from transcripts.record import RunRecord

CELLS = 64
# Detectors from this rank on speak of the run as a whole.
ABOUT_THE_RUN = 80
AFTER_ALL_CALLS = 1 << 31


@dataclass(frozen=True)
class Analysis:
    """What the suite says of a run.

    `findings` are in order of round, call and directness. `errors` maps a detector that raised to
    the error's type: it said nothing, the others did. `strip` is the run's small map
    (`analysis.strip`). `wasted` is what all repetitions took, `wasted_each` what each took, by its
    place in `findings`. `tools` is what each tool did.
    """

    findings: tuple[Finding, ...]
    verdict: VerdictResult
    errors: dict[str, str]
    strip: str
    wasted: Wasted
    wasted_each: Mapping[int, Wasted]
    tools: tuple[ToolTotals, ...]


def suite_version() -> str:
    """A short name for the detectors and their versions, so that old and new findings can be told
    apart.
    """
    names = " ".join(f"{detector.name}:{detector.version}" for detector in all_detectors())
    return hashlib.sha256(names.encode()).hexdigest()[:12]


def analyse(
    run: RunRecord,
    limits: Limits = DEFAULT,
    *,
    detectors: Sequence[Detector] | None = None,
) -> Analysis:
    """Read `run` with every detector. The same run and limits always give the same analysis."""
    with _uncollected():
        return _analyse(run, limits, all_detectors() if detectors is None else detectors)


def _analyse(run: RunRecord, limits: Limits, detectors: Sequence[Detector]) -> Analysis:
    reading = Reading(run, limits)
    found: list[tuple[Finding, int]] = []
    errors: dict[str, str] = {}
    recovery = Recovery(reading)
    for detector in detectors:
        try:
            found.extend((finding, detector.rank) for finding in _run(detector, reading, recovery))
        except Exception as error:  # one rule that fails must not take the others with it
            errors[detector.name] = type(error).__name__
    found.sort(key=lambda pair: _order(*pair))
    findings = tuple(told_once(reading, [finding for finding, _ in found]))
    verdict = verdict_of(reading, findings)
    return Analysis(
        findings=findings,
        verdict=verdict,
        errors=errors,
        strip=strip_of(reading, findings, verdict.first_odd, cells=CELLS),
        wasted=wasted_by(reading, findings),
        wasted_each={
            at: wasted
            for at, finding in enumerate(findings)
            if (wasted := wasted_of(reading, finding)).rounds
        },
        tools=tool_totals(reading, findings),
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """No collection of cycles meanwhile: what a pass makes it keeps to its end, and to walk over
    all of it again and again makes each round of a long run cost more than the one before.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _order(finding: Finding, rank: int) -> tuple[int, int, int, str]:
    call = finding.call
    if call is None:
        # What is said of the input or the reply stands before the calls, what is said of the run
        # after.
        call = -1 if rank < ABOUT_THE_RUN else AFTER_ALL_CALLS
    return finding.round, call, rank, finding.detector


def _run(detector: Detector, reading: Reading, recovery: Recovery) -> Iterator[Finding]:
    # Drafts first: a detector that fails half-way says nothing, rather than half of it.
    drafts = list(detector.find(reading, reading.limits))
    for draft in drafts:
        yield _finding(detector, draft, recovery.of(detector, draft))


def _finding(detector: Detector, draft: Draft, recovered: Recovered | None) -> Finding:
    values = draft.values
    if recovered is not None and recovered.handed_off:
        values = {**values, "handed_off": True}
    return Finding(
        detector=detector.name,
        version=detector.version,
        title=detector.title,
        severity=draft.severity or detector.severity,
        odd=detector.odd if draft.odd is None else draft.odd,
        round=draft.at.round,
        to_round=draft.to_round,
        call=draft.at.call,
        tool=draft.tool,
        why=draft.why,
        cause=draft.cause or detector.cause,
        fix=draft.fix or detector.fix,
        evidence=draft.evidence,
        values=values,
        recovered_at=recovered.round if recovered else None,
        brief=draft.brief or detector.title.lower(),
    )
