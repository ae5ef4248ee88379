"""What every fault is made of: a copy of a clean run to break, and what must be found."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.detect.sketch import CallSketch, Sketch, StepSketch

At = tuple[int, int | None]
"""A round (from 1) and a call (from 0); None: any call or none."""

SETTLED_AFTER = 2
"""Rounds after the last trouble of a clean run before something is broken: its recovery stays."""


@dataclass(frozen=True)
class Expected:
    """What must be found: a finding of `detector` at one of `places` (none: anywhere in the run).

    `odd_round` is where the run must open, None where the fault is no dropped stitch. `also` are
    the detectors that may rightly speak of the same fault or of what followed from it.
    """

    detector: str
    places: tuple[At, ...] = ()
    odd_round: int | None = None
    also: frozenset[str] = frozenset()
    recovered_at: int | None = None
    variant: str = ""


@dataclass
class Break:
    """A clean sketch's copy being broken, with the words and the random numbers to do it."""

    sketch: Sketch
    rng: random.Random
    pool: dict[str, Any]
    also: set[str] = field(default_factory=set)

    def pick(self, *path: str) -> str:
        found: Any = self.pool
        for key in path:
            found = found[key]
        return str(self.rng.choice(found))

    @property
    def earliest(self) -> int:
        """The first round at which something may be broken."""
        return max((a.round for a in self.sketch.allowed), default=0) + SETTLED_AFTER

    @property
    def has_trouble(self) -> bool:
        return bool(self.sketch.allowed)

    def places(self, *roles: str) -> list[tuple[int, int]]:
        """Calls that may be broken: not silent, alone of their tool in the round."""
        found = []
        last_answer = max(
            (number for number, step in enumerate(self.sketch.steps, 1) if step.answer), default=0
        )
        first = max(self.earliest, last_answer + 1)
        for number, index, call in self.sketch.places():
            step = self.sketch.steps[number - 1]
            twins = sum(related(call.name, other.name) for other in step.calls)
            usual = call.role not in ("silent", "handoff", "shell") and not step.own_context
            if number >= first and usual and twins == 1 and (not roles or call.role in roles):
                found.append((number, index))
        return found

    def place(self, *roles: str) -> tuple[int, int] | None:
        found = self.places(*roles)
        return self.rng.choice(found) if found else None

    def at(self, place: tuple[int, int]) -> CallSketch:
        return self.sketch.steps[place[0] - 1].calls[place[1]]

    def insert(self, after: int, *steps: StepSketch) -> None:
        """Put rounds after round `after` (0: at the start)."""
        self.sketch.steps[after:after] = list(steps)

    def step(self, *calls: CallSketch, reply: str = "") -> StepSketch:
        return StepSketch(reply=reply, calls=list(calls), model_ms=self.rng.uniform(700, 4500))

    def end(self, after: int, kind: str = "give_up") -> None:
        """Cut the run after round `after` and close it with a reply of this kind."""
        reply = self.pick("says", kind)
        del self.sketch.steps[after:]
        self.sketch.steps.append(self.step(reply=reply))


def words_of(name: str) -> list[str]:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]


def related(a: str, b: str) -> bool:
    """Whether one tool may count as another try at what the other was for."""
    if a == b:
        return True
    left, right = words_of(a), words_of(b)
    if min(len(left), len(right)) < 2:
        return False
    same = left[:2] == right[:2]
    if left[0] == right[0] == "mcp" and min(len(left), len(right)) > 3:
        same = same or left[2:4] == right[2:4]
    return same


Fault = Callable[[Break], Expected | None]
FAULTS: dict[str, Fault] = {}
KEEPS_LIMITS: set[str] = set()


def fault(*, keeps_limits: bool = True) -> Callable[[Fault], Fault]:
    """Register a fault under its name. `keeps_limits` False: it is about the limits."""

    def register(function: Fault) -> Fault:
        FAULTS[function.__name__] = function
        if keeps_limits:
            KEEPS_LIMITS.add(function.__name__)
        return function

    return register
