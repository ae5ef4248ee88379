"""Healthy runs of five agents, seeded: the same seed gives the same runs on every machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.detect.looks import LOOKS, looks_for
from bench.detect.sketch import Sketch, record
from bench.detect.world import AGENTS, World
from transcripts.record import RunLimits, RunRecord

LOOKS_PER_RUN = (0, 1, 2, 2, 3, 4)
LAST_LOOKS = ("handed_off", "ends_by_submit")
DEFAULT_ROUNDS = 12

Piece = Callable[[], None]


def clean_runs(seed: int, count: int) -> Iterator[RunRecord]:
    return (record(sketch) for sketch in clean_sketches(seed, count))


def clean_sketches(seed: int, count: int) -> Iterator[Sketch]:
    """`count` runs, the agents in turn; each with none to three of the look-alikes."""
    for index in range(count):
        yield clean_sketch(seed, index, AGENTS[index % len(AGENTS)])


def clean_sketch(seed: int, index: int, agent: str, looks: list[str] | None = None) -> Sketch:
    """One run; `looks` names the look-alikes that it must hold, None leaves them to chance."""
    world = World(seed, index, agent)
    if looks is None:
        looks = world.rng.sample(looks_for(agent), world.rng.choice(LOOKS_PER_RUN))
    if set(LAST_LOOKS) <= set(looks):
        looks.remove(LAST_LOOKS[-1])
    world.sketch.looks = sorted(looks)
    middle = [name for name in looks if name not in LAST_LOOKS]
    pieces = FLOWS[agent](world)
    for piece in pieces:
        piece()
        if middle and world.rng.random() < 0.5:
            LOOKS[middle.pop()][0](world)
    for name in middle:
        LOOKS[name][0](world)
    _close(world, looks)
    return world.sketch


def _close(world: World, looks: list[str]) -> None:
    sketch = world.sketch
    last = [name for name in LAST_LOOKS if name in looks]
    if last:
        LOOKS[last[0]][0](world)
    else:
        world.add(reply=world.say("report" if world.agent == "research" else "final"))
    if len(sketch.steps) > DEFAULT_ROUNDS or world.rng.random() < 0.3:
        sketch.limits = RunLimits(rounds=len(sketch.steps) + world.rng.randrange(1, 20))


class _Flow:
    """The plain course of one agent's work, piece by piece."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.verifies = world.rng.random() < 0.7

    def who(self) -> None:
        world = self.world
        name, _ = world.tool("person")
        number = world.new_id()
        person = world.call(
            "person", number, world.render(name, world.person_record(number, world.words["person"]))
        )
        if world.rng.random() < 0.3:
            device, _ = world.tool("device")
            world.add(
                person, world.call("device", number, world.render(device, world.device_record()))
            )
        else:
            world.add(person)

    def search(self) -> None:
        world = self.world
        subject = world.words["topic" if world.agent == "research" else "thing"]
        more = {"limit": world.rng.randrange(3, 20)} if world.rng.random() < 0.4 else {}
        world.add(world.call("search", f"{subject} {world.words['place']}", world.hits(), **more))

    def change(self) -> None:
        """Read, change, read again: the second reading shows the new state."""
        world = self.world
        if self.verifies:
            self._status(world.before)
        subject = self._subject()
        call = world.call("change", subject, world.proof(), state=world.state)
        call.pair = "change"
        world.add(call)
        if self.verifies:
            self._status(world.state)

    def _status(self, state: str) -> None:
        world = self.world
        name, _ = world.tool("status")
        subject = self._subject()
        result = world.render(name, {"id": subject, "state": state, "by": "system"})
        call = world.call("status", subject, result)
        call.pair = "change"
        world.add(call)

    def _subject(self) -> str:
        return self.world.words["module"] if self.world.agent == "coding" else self.world.id

    def note(self) -> None:
        world = self.world
        text = world.fill("{thing}: {before} to {state}.")
        result = world.fill("Entry {number} written to {id}.")
        channel = world.rng.choice(("mail", "portal", "phone"))
        world.add(world.call("note", world.id, result, text=text, channel=channel))

    def document(self) -> None:
        world = self.world
        kind = {"coding": "code", "research": "articles", "ops": "logs"}[world.agent]
        value = {
            "coding": world.words["module"],
            "research": f"https://sources.test/{world.rng.randrange(10_000)}",
            "ops": world.words["service"],
        }[world.agent]
        text = world.rng.choice(world.pool["documents"][kind]).strip()
        world.add(world.call("doc", value, f"{text}\n-- {world.new_id()}"))

    def tests(self) -> None:
        world = self.world
        green = world.rng.choice(world.pool["results"]["tests_green"])
        world.add(world.call("test", world.words["module"], green))


def _office(world: World) -> list[Piece]:
    flow = _Flow(world)
    pieces = [flow.who, flow.search, flow.change]
    return pieces + ([flow.note] if world.rng.random() < 0.6 else [])


def _coding(world: World) -> list[Piece]:
    flow = _Flow(world)
    return [flow.who, flow.document, flow.search, flow.change, flow.tests]


def _research(world: World) -> list[Piece]:
    flow = _Flow(world)
    return [flow.who, flow.search, flow.document, flow.change, flow.note]


def _ops(world: World) -> list[Piece]:
    flow = _Flow(world)
    return [flow.who, flow.document, flow.search, flow.change, flow.note]


FLOWS = {
    "helpdesk": _office,
    "booking": _office,
    "coding": _coding,
    "research": _research,
    "ops": _ops,
}
