"""What healthy runs hold that looks odd and is not: each function adds it to a run in the making.

A trouble that the run gets over is told to the sketch as `allowed`: a finding there is right, and
only there. A module of this folder registers its look-alikes by being imported.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module

from bench.detect.sketch import Allowed
from bench.detect.world import AGENTS, World

Look = Callable[[World], None]
LOOKS: dict[str, tuple[Look, tuple[str, ...]]] = {}
"""By name: what adds it, and the agents in whose runs it occurs."""


def look(*agents: str) -> Callable[[Look], Look]:
    """Register a look-alike of these agents (none named: of all)."""

    def register(add: Look) -> Look:
        LOOKS[add.__name__] = (add, agents or AGENTS)
        return add

    return register


def looks_for(agent: str) -> list[str]:
    return [name for name, (_, agents) in LOOKS.items() if agent in agents]


def allow(world: World, *detectors: str, certain: bool = True) -> None:
    """A finding of these at the last round is right."""
    number = len(world.sketch.steps)
    world.sketch.allowed += [Allowed(detector, number, certain) for detector in detectors]


for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
