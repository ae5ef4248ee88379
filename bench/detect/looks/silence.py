"""Answers that are empty or one word long, and rightly so."""

from __future__ import annotations

from dataclasses import replace

from analysis.detectors.limits import Baseline
from bench.detect.looks import look
from bench.detect.sketch import CallSketch
from bench.detect.world import World


@look()
def think(world: World) -> None:
    """A scratch pad answers nothing."""
    for _ in range(world.rng.randrange(1, 4)):
        text = world.rng.choice(world.pool["results"]["facts"])
        name = world.silent_tool("think", "thought")
        world.add(CallSketch(name, {"thought": f"{text} {world.new_id()}"}, "", "silent"), reply="")


@look("coding")
def quiet_shell(world: World) -> None:
    """Shell commands that say nothing when they work."""
    path = f"tmp_{world.rng.randrange(100)}"
    commands = [f"rm -f {path}.py", f"mkdir -p {path}", f"git add {path}.py", f"touch {path}.txt"]
    for command in world.rng.sample(commands, 2):
        world.add(world.call("shell", command, ""))


@look("coding")
def rm(world: World) -> None:
    name = world.silent_tool("rm", "path")
    world.add(CallSketch(name, {"path": f"scratch_{world.rng.randrange(99)}.py"}, "", "silent"))


@look("coding")
def submit(world: World) -> None:
    name = world.silent_tool("submit", "")
    world.add(CallSketch(name, {}, "", "silent"))


@look()
def plain_answers(world: World) -> None:
    """A question that is rightly answered with one word."""
    world.add(world.call("device", world.new_id(), world.rng.choice(("false", "0", "no", "42"))))


@look()
def silent_by_setting(world: World) -> None:
    """A tool answers nothing by nature, as the project has said or as its runs have shown."""
    name, _ = world.tool("device")
    world.add(world.call("device", world.new_id(), ""))
    settings = world.sketch.settings
    if world.rng.random() < 0.5:
        world.sketch.settings = replace(settings, silent=settings.silent | {name})
    else:
        learned = Baseline(runs=30, silent_tools=frozenset({name}))
        world.sketch.settings = replace(settings, baseline=learned)
