"""Break one place of a clean run in a known way, and say what must be found there.

A fault is a function in `bench.detect.faults`: it changes a copy of a clean sketch and returns what
is expected, or None where the run has no place for it. What follows the break stays consistent with
it: the tool does not work again unless the case says that the run recovered.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.detectors.limits import DEFAULT, Limits
from bench.detect.aftermath import consequences
from bench.detect.breaking import FAULTS, KEEPS_LIMITS, Break, Expected, Fault
from bench.detect.clean import clean_sketch
from bench.detect.sketch import Sketch, record
from bench.detect.world import AGENTS, load_pool, part_of
from transcripts.record import RunLimits, RunRecord

FIRST_INJECTED = 100_000
"""Indexes of the sketches that are broken start here, so that no clean control is among them."""
TRIES = 400
NOT_BROKEN = {
    "handed_off",
    "ends_by_submit",
    "sub_agent_in_the_same_log",
    "silent_by_setting",
    "polled_on_purpose",
}
"""For controls only: a hand-off makes up for any fault, a helper's rounds stay whole, and a tool
that may be silent or polled cannot be broken by that."""


@dataclass(frozen=True)
class Case:
    kind: str
    run: RunRecord
    expected: Expected
    allowed: tuple[tuple[str, int], ...]
    """(detector, round) that were right on the clean run already."""
    bad: frozenset[tuple[int, int]] = frozenset()
    """Rounds and calls whose results are broken or missing."""
    name: str = ""
    settings: Limits = DEFAULT


def load_faults() -> dict[str, Fault]:
    package = importlib.import_module("bench.detect.faults")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"bench.detect.faults.{module.name}")
    return FAULTS


def cases(seed: int, per_kind: int) -> Iterator[Case]:
    """`per_kind` broken runs of every kind of fault, over all agents."""
    for kind in sorted(load_faults()):
        made = 0
        for attempt in range(TRIES):
            case = make_case(seed, kind, attempt)
            if case is not None:
                yield case
                made += 1
            if made == per_kind:
                break
        if made < per_kind:
            raise ValueError(f"only {made} of {per_kind} runs had a place for the fault {kind}")


def make_case(seed: int, kind: str, attempt: int) -> Case | None:
    """The `attempt`-th clean run of this kind, broken; None where it has no place for the fault."""
    number = FIRST_INJECTED + 1000 * (zlib.crc32(kind.encode()) % 9000) + attempt
    sketch = clean_sketch(seed, number, AGENTS[attempt % len(AGENTS)])
    if NOT_BROKEN & set(sketch.looks):
        return None
    broken = Break(
        sketch.copy(), random.Random(f"{seed}/{kind}/{attempt}"), load_pool(part_of(seed))
    )
    expected = FAULTS[kind](broken)
    if expected is None:
        return None
    if kind in KEEPS_LIMITS:
        limits = broken.sketch.limits
        rounds = max(limits.rounds or 0, len(broken.sketch.steps) + 3)
        broken.sketch.limits = RunLimits(rounds, limits.seconds, limits.cost)
    allowed = tuple((a.detector, a.round) for a in sketch.allowed)
    also = expected.also | broken.also | consequences(broken.sketch)
    return Case(
        kind,
        record(broken.sketch),
        Expected(
            expected.detector,
            expected.places,
            _opening(expected, sketch),
            frozenset(also),
            expected.recovered_at,
            expected.variant,
        ),
        allowed,
        frozenset((n, i) for n, i, call in broken.sketch.places() if call.bad),
        f"{kind}/{expected.variant or '-'}/{sketch.run_id}",
        broken.sketch.settings,
    )


def _opening(expected: Expected, sketch: Sketch) -> int | None:
    """Where all was recovered from, the run opens at its earliest trouble."""
    odd = expected.odd_round
    if odd is None or expected.recovered_at is None:
        return odd
    own = [a.round for a in sketch.allowed if a.certain and a.detector != "context_trimmed"]
    return min([odd, *own])
