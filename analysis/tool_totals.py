"""What each tool did in one run, as figures: made from what the detectors read. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.detectors.base import Finding
from analysis.detectors.reading import CallReading, Reading

# Times are kept in steps of a fourth of a doubling, so that percentiles over many runs are within
# a tenth of the truth, and each takes two bytes.
STEPS_PER_DOUBLING = 4
LAST_STEP = 160
# Of more timed calls in one run every n-th is kept.
MOST_TIMES = 400


@dataclass(frozen=True, slots=True)
class ToolTotals:
    """One tool in one run. Counts of calls: `failed` with an error flag or in the result's words,
    `hidden` of these without a flag, `empty` where an answer was due, `unanswered`. `findings` are
    those about it. `steps` are the times of its calls (see `ms_step`), ascending.
    """

    tool: str
    calls: int
    failed: int
    hidden: int
    empty: int
    unanswered: int
    findings: int
    steps: tuple[int, ...]


def tool_totals(reading: Reading, findings: Iterable[Finding]) -> tuple[ToolTotals, ...]:
    """The totals of every tool that the run asked for, by name."""
    about = Counter(finding.tool for finding in findings if finding.tool)
    by_tool: dict[str, list[CallReading]] = {}
    for call in reading.calls:
        by_tool.setdefault(call.name, []).append(call)
    return tuple(
        _totals(tool, calls, about.get(tool, 0)) for tool, calls in sorted(by_tool.items())
    )


def _totals(tool: str, calls: Sequence[CallReading], findings: int) -> ToolTotals:
    times = [each.call.duration_ms for each in calls]
    steps = [ms_step(time) for time in times if time is not None and time >= 0]
    every = math.ceil(len(steps) / MOST_TIMES) or 1
    return ToolTotals(
        tool=tool,
        calls=len(calls),
        failed=sum(each.failed for each in calls),
        hidden=sum(each.failed and not each.flagged for each in calls),
        empty=sum(each.empty is not None and not each.silent for each in calls),
        unanswered=sum(not each.answered for each in calls),
        findings=findings,
        steps=tuple(sorted(steps[::every])),
    )


def ms_step(milliseconds: float) -> int:
    """The step of a duration; 0 for a millisecond and less."""
    if milliseconds <= 1:
        return 0
    if not math.isfinite(milliseconds):
        return LAST_STEP
    return min(round(STEPS_PER_DOUBLING * math.log2(milliseconds)), LAST_STEP)


def step_ms(step: int) -> float:
    """The duration in milliseconds that a step stands for."""
    return float(2 ** (step / STEPS_PER_DOUBLING)) if step else 1.0


def percentile(counts: Iterable[tuple[int, int]], share: float) -> float | None:
    """Milliseconds that `share` (0 to 1) of the calls took at most, of (step, calls) pairs."""
    rows = sorted(counts)
    total = sum(count for _, count in rows)
    wanted, before = share * total, 0
    for step, count in rows:
        before += count
        if before >= wanted:
            return step_ms(step)
    return None
