"""Faults that only what was learned from earlier runs can show."""

from __future__ import annotations

from decimal import Decimal

from analysis.detectors.limits import Baseline, Limits
from bench.detect.breaking import Break, Expected, fault
from bench.detect.sketch import record
from transcripts.record import RunLimits

RUNS = 40
"""Finished runs that the values were learned from: more than the least that counts."""
TOOL_P95 = 2_600.0


def _untroubled(broken: Break, least: int) -> bool:
    """Whether the run had no trouble and is at least so many rounds long; its own limits go."""
    sketch = broken.sketch
    sketch.limits = RunLimits(rounds=len(sketch.steps) + 5)
    sketch.settings = Limits(polled=sketch.settings.polled, silent=sketch.settings.silent)
    learned = {"silent_by_setting", "too_few_to_learn_from"}
    return not broken.has_trouble and len(sketch.steps) >= least and not learned & {*sketch.looks}


def _learn(broken: Break, baseline: Baseline) -> None:
    settings = broken.sketch.settings
    broken.sketch.settings = Limits(settings.rounds, polled=settings.polled, baseline=baseline)


@fault(keeps_limits=False)
def slow_tool_learned(broken: Break) -> Expected | None:
    """One call takes over three times as long as 95 in 100 calls of that tool."""
    place = broken.place("person", "device", "status", "doc", "change")
    if place is None or not _untroubled(broken, 3):
        return None
    broken.sketch.logs_times = True
    call = broken.at(place)
    call.duration_ms = 3 * TOOL_P95 + broken.rng.uniform(200, 9000)
    _learn(broken, Baseline(runs=RUNS, tool_ms_p95={call.name: TOOL_P95}))
    return Expected("slow_tool", (place,))


@fault(keeps_limits=False)
def cost_anomaly_learned(broken: Break) -> Expected | None:
    """The run costs over eight times what such runs cost."""
    sketch = broken.sketch
    if not _untroubled(broken, 4):
        return None
    sketch.logs_tokens = True
    number = broken.rng.randrange(3, len(sketch.steps) + 1)
    costs = [round_.cost or Decimal(0) for round_ in record(sketch).rounds]
    eightfold = sum(costs[:number], Decimal(0)) - costs[number - 1] / 2
    _learn(broken, Baseline(runs=RUNS, cost_median=eightfold / 8))
    return Expected("cost_anomaly", ((number, None),))


@fault(keeps_limits=False)
def round_limit_learned(broken: Break) -> Expected | None:
    """The run takes over twice as many rounds as 95 in 100 runs; nobody set a limit."""
    if not _untroubled(broken, 7):
        return None
    broken.sketch.limits = RunLimits()
    p95 = (len(broken.sketch.steps) - 1) // 2
    _learn(broken, Baseline(runs=RUNS, rounds_p95=float(p95)))
    return Expected("round_limit_passed", ((2 * p95 + 1, None),))


@fault(keeps_limits=False)
def time_limit_learned(broken: Break) -> Expected | None:
    """The run takes over three times as long as 95 in 100 runs."""
    sketch = broken.sketch
    if not _untroubled(broken, 4):
        return None
    sketch.logs_times = True
    number = broken.rng.randrange(2, len(sketch.steps))
    p95 = broken.rng.choice((200.0, 400.0))
    sketch.steps[number - 1].model_ms = 3 * p95 * 1000 + 5000
    _learn(broken, Baseline(runs=RUNS, seconds_p95=p95))
    return Expected("time_limit_passed", ((number, None),))
