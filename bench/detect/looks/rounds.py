"""Calls that come again and again, and move on."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

from analysis.detectors.limits import Baseline
from bench.detect.looks import allow, look
from bench.detect.world import STRING_PAGES, World


@look()
def poll_that_moves(world: World) -> None:
    role = "poll" if world.has("poll") else "status"
    subject = world.new_id()
    name, _ = world.tool(role)
    for state in world.rng.choice(world.pool["results"]["polls"]):
        result = world.render(name, {"id": subject, "state": state, "at": world.moment()})
        world.add(world.call(role, subject, result), reply="")


@look()
def polled_on_purpose(world: World) -> None:
    """A state is asked for five times and stays the same: the project says that it may be."""
    subject = world.new_id()
    name, _ = world.tool("status")
    for _ in range(5):
        world.add(world.call("status", subject, f"state of {subject}: waiting"), reply="")
    settings = world.sketch.settings
    world.sketch.settings = replace(settings, polled=settings.polled | {name})


@look()
def five_of_a_kind(world: World) -> None:
    """One tool for five people, in a row or at once."""
    name, _ = world.tool("person")
    calls = []
    for person in world.rng.sample(world.pool["people"], 5):
        number = world.new_id()
        calls.append(
            world.call("person", number, world.render(name, world.person_record(number, person)))
        )
    if world.rng.random() < 0.5:
        world.add(*calls)
    else:
        for call in calls:
            world.add(call)


@look()
def many_searches(world: World) -> None:
    """Six searches for six things, each with hits of its own."""
    for thing in world.rng.sample(world.pool["things"], 6):
        world.add(world.call("search", f"{thing} {world.words['place']}", world.hits()))


@look("research", "ops")
def pages_with_an_end(world: World) -> None:
    _, arg = world.tool("page")
    pages = world.rng.choice((3, 5, 8, 11))
    for page in range(1, pages + 1):
        rows = [f"{world.new_id()} {world.rng.choice(world.pool['topics'])}" for _ in range(4)]
        more = page < pages
        token = f"c{page * 7919}" if arg in STRING_PAGES else page
        body = {"rows": rows, "has_more": more, "next": f"c{(page + 1) * 7919}" if more else None}
        world.add(world.call("page", token, json.dumps(body, ensure_ascii=False)), reply="")


@look()
def same_but_for_the_time(world: World) -> None:
    """A state is read twice and only the time of reading differs: two is not yet a repeat."""
    subject = world.new_id()
    for _ in range(2):
        body = {"id": subject, "state": world.before, "as_of": world.moment()}
        world.add(world.call("status", subject, json.dumps(body, ensure_ascii=False)))


@look()
def read_again_after_another_change(world: World) -> None:
    """A thing reads the same before and after something else was changed."""
    subject = world.new_id()
    name, _ = world.tool("device")
    result = world.render(name, world.device_record())
    world.add(world.call("device", subject, result))
    world.add(world.call("note", world.id, world.fill("Entry {number} written to {id}."), text="a"))
    world.add(world.call("device", subject, result))


@look("coding")
def edit_and_test(world: World) -> None:
    """Change and test by turns, with fewer failures each time: work, not a loop."""
    target = world.other_module()
    for left in (3, 2, 1):
        edit = world.call("change", target, "", state=f"step {left}")
        edit.result = f"{target}: replaced 1 block ({left})"
        world.add(edit)
        world.add(world.call("test", target, f"{left} failed, {12 - left} passed in 0.4s"))
        allow(world, "failed_result", "hidden_error", certain=False)
    world.add(world.call("change", target, f"{target}: replaced 1 block (0)", state="step 0"))
    world.add(world.call("test", target, world.rng.choice(world.pool["results"]["tests_green"])))


@look()
def at_once(world: World) -> None:
    name, _ = world.tool("device")
    device = world.call("device", world.new_id(), world.render(name, world.device_record()))
    world.add(device, world.call("search", world.words["thing"], world.hits()))


@look()
def too_few_to_learn_from(world: World) -> None:
    """What was learned from nineteen runs does not apply yet, small as it is."""
    if world.sketch.settings.baseline == Baseline():
        tools = dict.fromkeys((naming[0] for naming in world.naming.values()), 1.0)
        few = Baseline(19, 1.0, 1.0, Decimal("0.0000001"), tools)
        world.sketch.settings = replace(world.sketch.settings, baseline=few)
