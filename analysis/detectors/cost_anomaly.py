from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.places import Place

# A run this many times as dear as a normal one is not a normal one with bad luck.
TIMES_NORMAL = 8


@detector(version=1, severity=Severity.BREACH, odd=False, rank=86, recovers=False)
def cost_anomaly(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Cost out of line.

    The run costs more than its cap, or far more than normal runs.

    Why it matters: money is spent on a run that is most likely stuck.
    Stays silent: up to the cap: as set, or as the run itself says; where there is none, up to 8
    times the median of the agent's normal runs, and under 20 of them; where no cost can be known.
    Yields: one finding, at the round that passes it.
    Likely cause: repetition, or an input that grows with every round.
    Fix in code: add up cost in the loop and stop at the cap; cut what is sent again in every round.
    Source: the run's own cost, else tokens and the dated price list (said as computed, in US
    dollars).
    """
    limit, basis = _limit(reading, limits)
    if limit is None:
        return
    from analysis.detectors.reading.prices import CURRENCY, cost_of, round_cost

    cost = cost_of(reading.run)
    if cost is None or (cost.computed and reading.run.currency not in ("", CURRENCY)):
        # A cap in another currency cannot be held against a price in dollars.
        return
    if cost.amount <= limit:
        return
    total = Decimal(0)
    passed = reading.last_round
    for round_ in reading.rounds:
        each = round_cost(reading.run, round_) if cost.computed else round_.cost
        total += each or Decimal(0)
        if total > limit:
            passed = round_.number
            break
    unit = f" {cost.currency}" if cost.currency else ""
    computed = ", computed from tokens" if cost.computed else ""
    last = reading.last_round
    yield Draft(
        at=Place(passed),
        to_round=last if last != passed else None,
        why=f"The run cost {_shown(cost.amount)}{unit}{computed}, past {_shown(limit)} ({basis}).",
        brief=f"the run passed its cost limit of {_shown(limit)}{unit}",
        values={
            "cost": str(cost.amount),
            "limit": str(limit),
            "currency": cost.currency,
            "computed": cost.computed,
            "basis": basis,
            "error": "cost limit",
        },
    )


def _limit(reading: Reading, limits: Limits) -> tuple[Decimal | None, str]:
    if limits.cost is not None:
        return limits.cost, "as set"
    if reading.run.limits.cost is not None:
        return reading.run.limits.cost, "as the run says"
    normal = limits.baseline.cost_median
    if limits.baseline.known and normal is not None:
        return normal * TIMES_NORMAL, f"8 times the median of {limits.baseline.runs:,} normal runs"
    return None, ""


def _shown(amount: Decimal) -> str:
    """At least two places, and as many as it takes to show that it is not nothing."""
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.4f}"
