"""Helpers, summaries and persons: inputs that change, and ways to end."""

from __future__ import annotations

from bench.detect.looks import allow, look
from bench.detect.sketch import CallSketch
from bench.detect.world import World
from transcripts.record import Ending, Message


@look("research")
def sub_agent(world: World) -> None:
    call = world.call("sub", world.fill("Read up on {topic} in {place}"), world.say("sub_reports"))
    call.sub_run, call.duration_ms = f"{world.sketch.run_id}-sub", 45_000
    world.add(call)


@look("research", "ops")
def sub_agent_in_the_same_log(world: World) -> None:
    """The sender logs a helper's rounds in between, with messages of the helper's own."""
    world.sketch.logs_inputs = True
    opening = (
        Message("sub-system", "system", "You are a helper. Answer the question, nothing else."),
        Message("sub-task", "user", world.fill("What is known about {topic}? Two sentences.")),
    )
    first = world.add(world.call("search", world.words["topic"], world.hits()))
    first.own_context = opening
    second = world.add(reply=world.say("sub_reports"))
    second.own_context = (Message("sub-note", "user", "Two sentences, please."),)


@look()
def summary_keeps_the_ticket(world: World) -> None:
    """Old messages give way to a summary that holds goal and ticket word for word."""
    sketch = world.sketch
    if not sketch.logs_inputs or len(sketch.steps) < 3 or any(s.drops for s in sketch.steps):
        return
    text = f"Summary so far. Goal: {sketch.system}\nTicket: {sketch.ticket}\nThe account was read."
    step = world.add(world.call("search", world.words["thing"], world.hits()))
    step.drops = ("system", "ticket", "reply-1", "result-1-0")
    step.inserts = (Message("summary", "user", text),)
    allow(world, "context_trimmed")


@look("booking", "helpdesk")
def asked_again(world: World) -> None:
    """The person has one more question after the answer."""
    world.sketch.logs_inputs = True
    world.add(reply=world.say("final")).answer = world.say("follow_ups")
    name, _ = world.tool("device")
    world.add(world.call("device", world.new_id(), world.render(name, world.device_record())))


@look("coding")
def ends_by_submit(world: World) -> None:
    """The work is over with a call that says so, and the sender says that the run finished."""
    name = world.silent_tool("submit", "")
    world.add(CallSketch(name, {}, "", "silent"))
    world.sketch.ending = Ending.FINISHED


@look()
def handed_off(world: World) -> None:
    """Nothing goes wrong, but the matter is not the agent's: it hands over and the run ends."""
    name, arg = world.tool("handoff")
    world.add(
        CallSketch(
            name,
            {arg: world.say("handoff")},
            world.fill("Handed over as case {number}."),
            "handoff",
        )
    )
    world.add(reply=world.say("handoff"))
    world.sketch.ending = Ending.HANDED_OFF
    world.sketch.flagged = True
