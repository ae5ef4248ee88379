"""Troubles that the run gets over."""

from __future__ import annotations

from bench.detect.looks import allow, look
from bench.detect.sketch import CallSketch
from bench.detect.world import World


def failing(world: World, role: str, value: str, *, flagged: bool | None = None) -> CallSketch:
    """A call that fails for a while: with the error flag, or with a text that says so."""
    call = world.call(role, value, "")
    if world.flags_errors if flagged is None else flagged:
        call.is_error, call.result = True, world.rng.choice(world.pool["errors"]["flagged"])
    else:
        kind = world.rng.choice(("prefixed", "http", "json"))
        call.result = world.rng.choice(world.pool["errors"][kind])
    return call


@look()
def error_then_other_arguments(world: World) -> None:
    role = world.rng.choice(("person", "device", "search"))
    world.add(failing(world, role, world.new_id()))
    allow(world, "failed_result", "hidden_error")
    name, _ = world.tool(role)
    number = world.new_id()
    record = world.person_record(number, world.words["person"])
    result = world.hits() if role == "search" else world.render(name, record)
    world.add(world.call(role, number, result))


@look()
def back_off(world: World) -> None:
    """The same call fails twice, with growing waits, and then works."""
    subject = world.new_id()
    name, _ = world.tool("device")
    first = failing(world, "device", subject)
    for attempt in range(2):
        again = world.call("device", subject, first.result or "")
        again.is_error = first.is_error
        step = world.add(again, reply="")
        step.wait_ms = 1000.0 * 2**attempt
        allow(world, "failed_result", "hidden_error")
    world.add(
        world.call("device", subject, world.render(name, world.device_record()))
    ).wait_ms = 4e3


@look("booking", "helpdesk")
def told_and_answered(world: World) -> None:
    """A call fails, the agent says so and asks, and the person answers."""
    world.sketch.logs_inputs = True
    world.add(failing(world, "person", world.new_id()))
    allow(world, "failed_result", "hidden_error")
    world.add(reply=world.say("tell")).answer = world.say("answers")


@look()
def empty_then_other_words(world: World) -> None:
    """An empty answer, and the same search with other words finds something."""
    empty = world.rng.choice(("[]", '{"hits": []}', ""))
    world.add(world.call("search", f"{world.words['thing']} {world.new_id()}", empty))
    allow(world, "empty_result")
    world.add(world.call("search", world.words["thing"], world.hits()))


@look("coding")
def red_then_green(world: World) -> None:
    target = world.other_module()
    red, green = world.pool["results"]["tests_red"], world.pool["results"]["tests_green"]
    world.add(world.call("test", target, world.rng.choice(red)))
    allow(world, "failed_result", "hidden_error", certain=False)
    world.add(world.call("change", target, world.proof(), state="x = 1"))
    world.add(world.call("test", target, world.rng.choice(green)))
