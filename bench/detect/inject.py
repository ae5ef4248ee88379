"""Break one place of a clean run in a known way, and say what must be found there.

A fault is a function in `bench.detect.faults`: it changes a copy of a clean sketch and returns what
is expected, or None where the run has no place for it. What follows the break stays consistent with
it: the tool does not work again unless the case says that the run recovered.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from analysis.detectors.limits import DEFAULT, Limits
from bench.detect.clean import clean_sketch
from bench.detect.sketch import CallSketch, Sketch, StepSketch, record
from bench.detect.world import AGENTS, half_of, load_pool
from transcripts.record import Ending, RunLimits, RunRecord, Tool

At = tuple[int, int | None]
"""A round (from 1) and a call (from 0); None: any call or none."""

FIRST_INJECTED = 100_000
"""Indexes of the sketches that are broken start here, so that no clean control is among them."""
TRIES = 400
NOT_BROKEN = {"handed_off", "ends_by_submit", "sub_agent_in_the_same_log"}
"""For controls only: a hand-over makes up for any fault, and a helper's rounds stay whole."""
AFTERMATHS = ("press_on", "retry", "give_up", "recover", "hand_off", "tell")
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


def press_on(broken: Break, place: tuple[int, int], after: int) -> None:
    """From round `after` + 1 on the broken tool is not used again, and nothing has changed."""
    call = broken.at(place)
    steps = broken.sketch.steps
    readings = [c for s in steps[: place[0]] for c in s.calls if c.role == "status" and c.pair]
    for step in steps[after:]:
        step.calls = [c for c in step.calls if not related(c.name, call.name)]
        for later in step.calls:
            if call.role == "change" and later.pair == call.pair != "":
                later.result = readings[-1].result if readings else None
        step.calls = [c for c in step.calls if c.result is not None]
    keep = [s for s in steps[after:-1] if s.calls or s.reply]
    broken.sketch.steps = [*steps[:after], *keep, steps[-1]]
    if call.role in ("change", "note"):
        broken.also |= {"claimed_success", "no_effect"}


def aftermath(
    broken: Break,
    place: tuple[int, int],
    good: str | None,
    right: dict[str, Any] | None = None,
) -> int | None:
    """Let the run go on from a broken call; returns the round in which it recovered, or None.

    `good` is what the call would have answered, `right` the arguments that it should have had. Some
    runs get it from a second try, with the rest as it was; some hand over to a person, or tell the
    person, who answers. The others try again in vain, give up, or go on without it.
    """
    number, _ = place
    call = broken.at(place)
    call.bad = True
    how = broken.rng.choice(AFTERMATHS)
    if how == "recover" and good is not None:
        fixed = CallSketch(
            call.name,
            call.args if right is None else right,
            good,
            call.role,
            _unflagged(call),
            call.duration_ms,
            pair=call.pair,
        )
        broken.insert(number, broken.step(fixed))
        return number + 1
    if how == "retry":
        tries = broken.rng.randrange(1, 3)
        for _ in range(tries):
            again = CallSketch(
                call.name, call.args, call.result, call.role, call.is_error, bad=True
            )
            broken.insert(number, broken.step(again))
        press_on(broken, place, number + tries)
    elif how == "give_up":
        broken.end(number)
    elif how == "hand_off":
        _hand_off(broken, number)
        return number + 1
    elif how == "tell" and broken.sketch.logs_inputs:
        broken.insert(number, broken.step(reply=broken.pick("says", "tell")))
        broken.sketch.steps[number].answer = broken.pick("says", "answers").replace("{id}", "A-7")
        press_on(broken, place, number + 1)
        return number + 1
    else:
        press_on(broken, place, number)
    return None


def _hand_off(broken: Break, after: int) -> None:
    sketch = broken.sketch
    name, arg = sketch.handoff
    flag = False if broken.rng.random() < 0.5 else None
    case = f"Handed over as case {broken.rng.randrange(100, 9999)}."
    call = CallSketch(name, {arg: broken.pick("says", "handoff")}, case, "handoff", flag)
    broken.end(after, "handoff")
    broken.insert(after, broken.step(call))
    schema = {"type": "object", "properties": {arg: {"type": "string"}}, "required": [arg]}
    sketch.tools.setdefault(name, Tool(name, "Hand over to a person.", json.dumps(schema)))
    sketch.ending = Ending.HANDED_OFF


def _unflagged(call: CallSketch) -> bool | None:
    return None if call.is_error is None else False


def consequences(sketch: Sketch) -> set[str]:
    """The detectors that may rightly speak of the run as a whole, given which calls are broken."""
    calls = [call for _, _, call in sketch.places()]
    bad = [call.bad for call in calls]
    found = set()
    if len(calls) >= 4 and sum(bad) * 2 >= len(calls):
        found.add("high_error_rate")
    for i in range(len(calls) - 2):
        three = calls[i : i + 3]
        if len({c.result for c in three}) == 1:
            found.add("no_progress")
    for name in {call.name for call in calls}:
        own = [call for call in calls if call.name == name]
        keys = Counter((call.args_text, call.result) for call in own)
        if max(keys.values()) >= 3:
            found.add("repeated_call")
        if any(all(c.bad for c in own[i : i + 3]) for i in range(len(own) - 2)):
            found.add("retried_failure")
    return found


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
    number = FIRST_INJECTED + 1000 * sorted(FAULTS).index(kind) + attempt
    sketch = clean_sketch(seed, number, AGENTS[attempt % len(AGENTS)])
    if NOT_BROKEN & set(sketch.looks):
        return None
    broken = Break(
        sketch.copy(), random.Random(f"{seed}/{kind}/{attempt}"), load_pool(half_of(seed))
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
            _opening(expected, allowed),
            frozenset(also),
            expected.recovered_at,
            expected.variant,
        ),
        allowed,
        frozenset((n, i) for n, i, call in broken.sketch.places() if call.bad),
        f"{kind}/{expected.variant or '-'}/{sketch.run_id}",
        broken.sketch.settings,
    )


def _opening(expected: Expected, allowed: tuple[tuple[str, int], ...]) -> int | None:
    """Where all was recovered from, the run opens at its earliest trouble."""
    odd = expected.odd_round
    if odd is None or expected.recovered_at is None:
        return odd
    own = [number for detector, number in allowed if detector != "context_trimmed"]
    return min([odd, *own])
