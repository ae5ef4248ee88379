"""Faults that code should have stopped: rounds, time, cost, failing calls."""

from __future__ import annotations

from decimal import Decimal

from bench.detect.breaking import Break, Expected, fault
from bench.detect.faults.results import SPEAKS_OF_FAILURE
from bench.detect.sketch import record
from transcripts.record import RunLimits

USUAL_LIMIT = 12
"""Rounds that a run may take where nobody set a limit."""


@fault(keeps_limits=False)
def round_limit_passed(broken: Break) -> Expected | None:
    sketch = broken.sketch
    rounds = len(sketch.steps)
    if broken.has_trouble or rounds < 6:
        return None
    if rounds > USUAL_LIMIT and broken.rng.random() < 0.7:
        sketch.limits = RunLimits()
        return Expected("round_limit_passed", ((USUAL_LIMIT + 1, None),), variant="usual limit")
    limit = rounds - broken.rng.randrange(1, 4)
    sketch.limits = RunLimits(rounds=limit)
    return Expected("round_limit_passed", ((limit + 1, None),), variant="limit of the run")


@fault()
def time_limit_passed(broken: Break) -> Expected | None:
    """One round takes so long that the limit of the run passes in it."""
    sketch = broken.sketch
    if broken.has_trouble or len(sketch.steps) < 4:
        return None
    sketch.logs_times = True
    number = broken.rng.randrange(2, len(sketch.steps))
    seconds = broken.rng.choice((600.0, 1800.0, 3600.0))
    sketch.steps[number - 1].model_ms = seconds * 1000 + 5000
    sketch.limits = RunLimits(rounds=len(sketch.steps) + 5, seconds=seconds)
    return Expected("time_limit_passed", ((number, None),))


@fault()
def cost_anomaly(broken: Break) -> Expected | None:
    """The costs add up to more than the cap of the run."""
    sketch = broken.sketch
    if broken.has_trouble or len(sketch.steps) < 4:
        return None
    sketch.logs_tokens = True
    number = broken.rng.randrange(3, len(sketch.steps) + 1)
    costs = [round_.cost or Decimal(0) for round_ in record(sketch).rounds]
    cap = sum(costs[:number], Decimal(0)) - costs[number - 1] / 2
    sketch.limits = RunLimits(rounds=len(sketch.steps) + 5, cost=cap)
    return Expected("cost_anomaly", ((number, None),))


@fault()
def high_error_rate(broken: Break) -> Expected | None:
    """All calls but the first fail, each in its own way."""
    calls = list(broken.sketch.places())
    if broken.has_trouble or not 4 <= len(calls) <= 12 or broken.sketch.looks:
        return None
    kinds = ("flagged", "prefixed", "json", "http")
    for _, _, call in calls[1:]:
        kind = "flagged" if call.role == "doc" else broken.rng.choice(kinds)
        call.result, call.bad = broken.pick("errors", kind), True
        if kind == "flagged":
            call.is_error = True
    broken.end(calls[-1][0])
    number = calls[1][0]
    also = SPEAKS_OF_FAILURE | {"retried_failure", "claimed_success"}
    return Expected("high_error_rate", odd_round=number, also=also)
