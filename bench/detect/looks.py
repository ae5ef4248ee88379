"""What healthy runs hold that looks odd and is not: each function adds it to a run in the making.

A trouble that the run gets over is told to the sketch as `allowed`: a finding there is right, and
only there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from analysis.detectors.limits import Baseline
from bench.detect.sketch import Allowed, CallSketch
from bench.detect.world import AGENTS, STRING_PAGES, World
from transcripts.record import Ending, Message

Look = Callable[[World], None]
LOOKS: dict[str, tuple[Look, tuple[str, ...]]] = {}


def look(*agents: str) -> Callable[[Look], Look]:
    def register(add: Look) -> Look:
        LOOKS[add.__name__] = (add, agents or AGENTS)
        return add

    return register


def looks_for(agent: str) -> list[str]:
    return [name for name, (_, agents) in LOOKS.items() if agent in agents]


def _allow(world: World, *detectors: str) -> None:
    """A finding of these at the last round is right."""
    number = len(world.sketch.steps)
    world.sketch.allowed += [Allowed(detector, number) for detector in detectors]


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


@look("coding")
def source_code(world: World) -> None:
    """Code that raises errors is read, not run."""
    for text in world.rng.sample(world.pool["documents"]["code"], 2):
        world.add(world.call("doc", world.rng.choice(world.pool["modules"]), text.strip()))


@look("research")
def article_on_errors(world: World) -> None:
    for text in world.rng.sample(world.pool["documents"]["articles"], 2):
        link = f"https://library.test/{world.rng.randrange(10_000)}"
        world.add(world.call("doc", link, text.strip()))


@look("ops")
def log_with_errors(world: World) -> None:
    for text in world.pool["documents"]["logs"]:
        world.add(world.call("doc", world.words["service"], text.strip()))


@look()
def zero_in_words(world: World) -> None:
    """A search that says in words that there is nothing, then one with other words."""
    zero = world.rng.choice(world.pool["results"]["zero"])
    world.add(world.call("search", f"{world.words['thing']} {world.new_id()}", zero))
    world.add(world.call("search", world.words["thing"], world.hits()))


@look()
def poll_that_moves(world: World) -> None:
    role = "poll" if world.has("poll") else "status"
    subject = world.new_id()
    name, _ = world.tool(role)
    for state in world.rng.choice(world.pool["results"]["polls"]):
        result = world.render(name, {"id": subject, "state": state, "at": world.moment()})
        world.add(world.call(role, subject, result), reply="")


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
def at_once(world: World) -> None:
    name, _ = world.tool("device")
    device = world.call("device", world.new_id(), world.render(name, world.device_record()))
    world.add(device, world.call("search", world.words["thing"], world.hits()))


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
def error_then_other_arguments(world: World) -> None:
    role = world.rng.choice(("person", "device", "search"))
    world.add(failing(world, role, world.new_id()))
    _allow(world, "failed_result", "hidden_error")
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
        _allow(world, "failed_result", "hidden_error")
    world.add(
        world.call("device", subject, world.render(name, world.device_record()))
    ).wait_ms = 4e3


@look("booking", "helpdesk")
def told_and_answered(world: World) -> None:
    """A call fails, the agent says so and asks, and the person answers."""
    world.sketch.logs_inputs = True
    world.add(failing(world, "person", world.new_id()))
    _allow(world, "failed_result", "hidden_error")
    world.add(reply=world.say("tell")).answer = world.say("answers")


@look()
def empty_then_other_words(world: World) -> None:
    """An empty answer, and the same search with other words finds something."""
    empty = world.rng.choice(("[]", '{"hits": []}', ""))
    world.add(world.call("search", f"{world.words['thing']} {world.new_id()}", empty))
    _allow(world, "empty_result")
    world.add(world.call("search", world.words["thing"], world.hits()))


@look()
def speaks_of_no_error(world: World) -> None:
    """Good news in the words of bad news, and numbers that look like status codes."""
    for text in world.rng.sample(world.pool["results"]["no_errors"], 2):
        world.add(world.call("device", world.new_id(), text))


@look("helpdesk", "ops")
def hits_on_errors(world: World) -> None:
    """Help articles about errors are what was searched for."""
    hits = world.shuffled(world.pool["results"]["error_hits"])
    world.add(world.call("search", f"{world.words['thing']} message", "\n\n".join(hits)))


@look("helpdesk", "booking")
def record_about_an_error(world: World) -> None:
    """A ticket that tells of an error is read, and reading it went well."""
    text = world.rng.choice(world.pool["results"]["error_records"])
    world.add(world.call("person", world.new_id(), text))


@look()
def read_again_after_another_change(world: World) -> None:
    """A thing reads the same before and after something else was changed."""
    subject = world.new_id()
    name, _ = world.tool("device")
    result = world.render(name, world.device_record())
    world.add(world.call("device", subject, result))
    world.add(world.call("note", world.id, world.fill("Entry {number} written to {id}."), text="a"))
    world.add(world.call("device", subject, result))


@look()
def many_searches(world: World) -> None:
    """Six searches for six things, each with hits of its own."""
    for thing in world.rng.sample(world.pool["things"], 6):
        world.add(world.call("search", f"{thing} {world.words['place']}", world.hits()))


@look("coding")
def edit_and_test(world: World) -> None:
    """Change and test by turns, with fewer failures each time: work, not a loop."""
    target = world.words["module"]
    for left in (3, 2, 1):
        edit = world.call("change", target, "", state=f"step {left}")
        edit.result = f"{target}: replaced 1 block ({left})"
        world.add(edit)
        world.add(world.call("test", target, f"{left} failed, {12 - left} passed in 0.4s"))
        _allow(world, "failed_result", "hidden_error")
    world.add(world.call("change", target, f"{target}: replaced 1 block (0)", state="step 0"))
    world.add(world.call("test", target, world.rng.choice(world.pool["results"]["tests_green"])))


@look("coding")
def red_then_green(world: World) -> None:
    target = world.words["module"]
    red, green = world.pool["results"]["tests_red"], world.pool["results"]["tests_green"]
    world.add(world.call("test", target, world.rng.choice(red)))
    _allow(world, "failed_result", "hidden_error")
    world.add(world.call("change", target, world.proof(), state="x = 1"))
    world.add(world.call("test", target, world.rng.choice(green)))


@look()
def failures_as_data(world: World) -> None:
    """A list in which one entry failed: the call itself went well."""
    rows = [
        {"job": world.new_id(), "status": status, "error_count": count}
        for status, count in (("passed", 0), ("failed", 3), ("passed", 0))
    ]
    body = json.dumps({"jobs": rows, "error": None}, ensure_ascii=False)
    world.add(world.call("device", world.new_id(), body))


@look()
def plain_answers(world: World) -> None:
    """A question that is rightly answered with one word."""
    world.add(world.call("device", world.new_id(), world.rng.choice(("false", "0", "no", "42"))))


@look()
def long_but_bearable(world: World) -> None:
    facts = world.pool["results"]["facts"]
    text = "\n".join(f"{i}. {world.rng.choice(facts)}" for i in range(150))
    call = world.call("search", world.words["topic"], text)
    call.duration_ms = 25_000
    world.add(call)


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
    _allow(world, "context_trimmed")


@look("booking", "helpdesk")
def asked_again(world: World) -> None:
    """The person has one more question after the answer."""
    world.sketch.logs_inputs = True
    world.add(reply=world.say("final")).answer = world.say("follow_ups")
    name, _ = world.tool("device")
    world.add(world.call("device", world.new_id(), world.render(name, world.device_record())))


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


@look()
def too_few_to_learn_from(world: World) -> None:
    """What was learned from nineteen runs does not apply yet, small as it is."""
    if world.sketch.settings.baseline == Baseline():
        tools = dict.fromkeys((naming[0] for naming in world.naming.values()), 1.0)
        few = Baseline(19, 1.0, 1.0, Decimal("0.0000001"), tools)
        world.sketch.settings = replace(world.sketch.settings, baseline=few)


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
