from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.words import duration
from analysis.places import Place

# A run that takes three times as long as nearly all finished ones is not one of them.
TIMES_NORMAL = 3


@detector(version=1, severity=Severity.BREACH, odd=False, rank=84, recovers=False)
def time_limit_passed(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Time limit passed.

    The run takes longer than it should.

    Why it matters: somebody is waiting for it.
    Stays silent: up to the limit: as set, else as the run itself says, else three times what 95%
    of the agent's finished runs stay under (from 20 runs on); where the run does not say when its
    rounds were.
    Yields: one finding, at the round in which the limit passed.
    Likely cause: a slow tool, retries that wait, or more rounds than the task needs.
    Fix in code: give the loop a deadline, and hand off with what is known when it passes.
    Source: the deadlines of agent loops.
    """
    limit, basis = _limit(reading, limits)
    if limit is None:
        return
    passed: int | None = None
    total = 0.0
    for number, seconds in _clock(reading):
        total = max(total, seconds)
        if passed is None and seconds > limit:
            passed = number
    if passed is None:
        return
    last = reading.last_round
    yield Draft(
        at=Place(passed),
        to_round=last if last != passed else None,
        why=f"The run took {duration(total)}, past the limit of {duration(limit)} ({basis}).",
        brief=f"the run passed its limit of {duration(limit)}",
        values={"seconds": total, "limit": limit, "basis": basis, "error": "time limit"},
    )


def _limit(reading: Reading, limits: Limits) -> tuple[float | None, str]:
    if limits.seconds is not None:
        return limits.seconds, "as set"
    if reading.run.limits.seconds is not None:
        return reading.run.limits.seconds, "as the run says"
    normal = limits.baseline.seconds_p95
    if limits.baseline.known and normal is not None:
        basis = f"three times what 95% of {limits.baseline.runs:,} finished runs stay under"
        return normal * TIMES_NORMAL, basis
    return None, ""


def _clock(reading: Reading) -> Iterator[tuple[int, float]]:
    """Seconds from the run's start to the end of each round: wall clock where there are times,
    else the sum of the durations.
    """
    run = reading.run
    start = run.started_at or next((r.started_at for r in run.rounds if r.started_at), None)
    elapsed = 0.0
    for round_ in run.rounds:
        took = (round_.duration_ms or 0) / 1000
        if start is not None and round_.started_at is not None:
            elapsed = max(elapsed, (round_.started_at - start).total_seconds() + took)
        else:
            elapsed += took
        yield round_.number, elapsed
    if start is not None and run.ended_at is not None and run.rounds:
        yield reading.last_round, (run.ended_at - start).total_seconds()
