from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.words import count
from analysis.places import Place

# Rounds. What the field's loops stop at where nobody set a limit.
DEFAULT_LIMIT = 12
# A run of twice the length of nearly all finished ones is not one of them.
TIMES_NORMAL = 2


@detector(version=1, severity=Severity.BREACH, odd=False, rank=80, recovers=False)
def round_limit_passed(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Round limit passed.

    The run has more rounds than its agent should need.

    Why it matters: code should have stopped here; every further round costs time and money.
    Stays silent: up to the limit: as set, else as the run itself says, else twice what 95% of the
    agent's finished runs stay under (from 20 runs on), else 12. Past that last one, which nobody
    chose, it is a lead.
    Yields: one finding, at the first round past the limit.
    Likely cause: the task is too large for one run, or the run is stuck on something earlier.
    Fix in code: count rounds in the loop, and at the limit hand off with what is known so far;
    split the task.
    Source: the round budgets of agent loops.
    """
    limit, basis, chosen = _limit(reading, limits)
    past = next((round_ for round_ in reading.rounds if round_.number > limit), None)
    if past is None:
        return
    last = reading.last_round
    yield Draft(
        at=Place(past.number),
        to_round=last if last != past.number else None,
        why=f"The run has {count(last, 'round')}, past the limit of {limit:,} ({basis}).",
        brief=f"the run passed its limit of {count(limit, 'round')}",
        values={"rounds": last, "limit": limit, "basis": basis, "error": "round limit"},
        severity=None if chosen else Severity.LEAD,
    )


def _limit(reading: Reading, limits: Limits) -> tuple[int, str, bool]:
    """The limit, where it is from, and whether it is more than the default."""
    if limits.rounds is not None:
        return limits.rounds, "as set", True
    if reading.run.limits.rounds is not None:
        return reading.run.limits.rounds, "as the run says", True
    normal = limits.baseline.rounds_p95
    if limits.baseline.known and normal is not None:
        basis = f"twice what 95% of {limits.baseline.runs:,} finished runs stay under"
        return max(1, round(normal * TIMES_NORMAL)), basis, True
    return DEFAULT_LIMIT, "the default", False
