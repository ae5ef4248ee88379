"""Faults in what a tool answered."""

from __future__ import annotations

import json

from bench.detect.aftermath import aftermath, press_on
from bench.detect.breaking import Break, Expected, fault, related
from bench.detect.sketch import CallSketch

HIDDEN = (
    "plain",
    "prefixed",
    "exceptions",
    "http",
    "json",
    "nested",
    "html",
    "foreign",
    "shell",
    "xml",
)
FETCHED = ("prefixed", "http", "html")
"""What a tool that fetches documents can answer and no document is."""
SPEAKS_OF_FAILURE = frozenset({"failed_result", "hidden_error"})


@fault()
def empty_result(broken: Break) -> Expected | None:
    place = broken.place()
    if place is None:
        return None
    call = broken.at(place)
    good = call.result
    call.result = broken.pick("errors", "empty")
    variant = call.result
    if call.role in ("change", "note"):
        broken.also.add("ok_without_proof")
    recovered = aftermath(broken, place, good)
    return Expected("empty_result", (place,), place[0], recovered_at=recovered, variant=variant)


@fault()
def failed_result(broken: Break) -> Expected | None:
    """The error flag is set; the text may say so, say nothing, or look like any other."""
    place = broken.place()
    if place is None:
        return None
    call = broken.at(place)
    good = call.result
    variant = broken.rng.choice(("says so", "says so", "says nothing", "as before"))
    call.is_error = True
    if variant == "says so":
        call.result = broken.pick("errors", "flagged")
    elif variant == "says nothing":
        call.result = ""
        broken.also.add("empty_result")
    else:
        broken.also.add("repeated_call")
    recovered = aftermath(broken, place, good)
    return Expected("failed_result", (place,), place[0], recovered_at=recovered, variant=variant)


def kinds_for(broken: Break, call: CallSketch) -> tuple[str, ...]:
    """The texts of failures that can be told from what the tool was asked for."""
    if call.role != "doc":
        return HIDDEN
    return ("html",) if broken.sketch.agent == "ops-agent" else FETCHED


def _hide(broken: Break, place: tuple[int, int]) -> str:
    call = broken.at(place)
    kind = broken.rng.choice(kinds_for(broken, call))
    call.result = broken.pick("errors", kind)
    call.is_error = False if call.is_error is not None else None
    return kind


@fault()
def hidden_error(broken: Break) -> Expected | None:
    """The text of a failure with no flag."""
    place = broken.place()
    if place is None:
        return None
    good = broken.at(place).result
    kind = _hide(broken, place)
    recovered = aftermath(broken, place, good)
    return Expected("hidden_error", (place,), place[0], recovered_at=recovered, variant=kind)


def _changes_again(broken: Break, place: tuple[int, int]) -> bool:
    """Whether the same tool changes something else later on, which counts as getting over it."""
    name = broken.at(place).name
    return any(n > place[0] and related(call.name, name) for n, _, call in broken.sketch.places())


def _readings(broken: Break, change: tuple[int, int]) -> list[CallSketch]:
    pair = broken.at(change).pair
    return [c for _, _, c in broken.sketch.places() if c.role == "status" and c.pair == pair != ""]


@fault()
def no_effect(broken: Break) -> Expected | None:
    """The state reads the same before and after a change that claims to have worked."""
    place = broken.place("change")
    if place is None:
        return None
    readings = _readings(broken, place)
    if len(readings) != 2 or _changes_again(broken, place):
        return None
    call = broken.at(place)
    variant = broken.rng.choice(("claims", "claims", "says ok", "says nothing", "other time"))
    readings[1].result = readings[0].result
    if variant == "says ok":
        call.result = broken.pick("results", "no_proof")
    elif variant == "says nothing":
        call.result, call.bad = "", True
    elif variant == "other time":
        state = {"id": readings[0].subject, "state": "as it was"}
        for minute, reading in zip((4, 9), readings, strict=True):
            reading.result = json.dumps({**state, "as_of": f"2026-03-02T10:{minute:02d}:11Z"})
    if variant in ("says ok", "says nothing"):
        broken.also |= {"ok_without_proof", "empty_result"}
    broken.also |= {"claimed_success"}
    if broken.rng.random() < 0.4:
        _again(broken, place, call, readings[1])
    return Expected("no_effect", (place,), place[0], variant=variant)


def _again(broken: Break, place: tuple[int, int], change: CallSketch, reading: CallSketch) -> None:
    """The agent tries once more after the second reading, and nothing moves."""
    after = next(n for n, _, c in broken.sketch.places() if c is reading)
    for original in (reading, change):
        again = CallSketch(
            original.name, original.args, original.result, original.role, original.is_error
        )
        broken.insert(after, broken.step(again))
    if len({change.name, reading.name}) == 2:
        broken.also |= {"repeated_call"}
    broken.end(after + 2)


@fault()
def no_effect_contradicted(broken: Break) -> Expected | None:
    """No reading before; the one after shows another state than the one that was set."""
    place = broken.place("change")
    if place is None:
        return None
    readings = _readings(broken, place)
    if len(readings) != 2 or not broken.at(place).fields or _changes_again(broken, place):
        return None
    before, after = readings
    number = next(n for n, _, c in broken.sketch.places() if c is before)
    if len(broken.sketch.steps[number - 1].calls) != 1:
        return None
    old = broken.pool["states"]
    wanted = broken.at(place).fields["state"]
    state = next(b for b, s in old if s == wanted)
    after.result = json.dumps({"id": after.subject, "state": state, "by": "system"})
    del broken.sketch.steps[number - 1]
    shifted = (place[0] - 1, place[1])
    broken.also |= {"claimed_success"}
    return Expected("no_effect", (shifted,), shifted[0])


@fault()
def ok_without_proof(broken: Break) -> Expected | None:
    place = broken.place("change", "note")
    if place is None:
        return None
    call = broken.at(place)
    if call.role == "change" and _readings(broken, place):
        return None
    call.result = broken.pick("results", "no_proof")
    return Expected("ok_without_proof", (place,), variant=call.result)


@fault()
def oversized_result(broken: Break) -> Expected | None:
    place = broken.place("person", "device", "search", "doc", "status")
    if place is None:
        return None
    small = broken.rng.random() < 0.4
    broken.sketch.window = 16_000 if small else broken.sketch.window
    lines = 330 if small else 2600
    facts = broken.pool["results"]["facts"]
    call = broken.at(place)
    call.result = "\n".join(f"{i}: {broken.rng.choice(facts)}" for i in range(lines))
    variant = "a third of a small window" if small else "over 20,000 tokens"
    return Expected("oversized_result", (place,), variant=variant)


@fault()
def slow_tool(broken: Break) -> Expected | None:
    """Nothing came back, and it took just as long as a time-out."""
    place = broken.place("person", "device", "search", "status", "doc")
    if place is None:
        return None
    broken.sketch.logs_times = True
    call = broken.at(place)
    good = call.result
    seconds = broken.rng.choice((10, 30, 60))
    call.result, call.duration_ms = "", seconds * 1000 + broken.rng.uniform(0, 150)
    broken.also.add("empty_result")
    recovered = aftermath(broken, place, good)
    return Expected("slow_tool", (place,), place[0], recovered_at=recovered, variant=f"{seconds} s")


@fault()
def cascade(broken: Break) -> Expected | None:
    """A call fails, and the next one is made with what the failure left."""
    place = broken.place("person", "search", "status")
    if place is None or broken.has_trouble:
        return None
    call = broken.at(place)
    call.bad = True
    variant = broken.rng.choice(("null passed on", "reference of the error passed on"))
    reference = f"req-{broken.rng.randrange(10**7, 10**8)}"
    if variant == "null passed on":
        call.result, passed = broken.rng.choice((("null", None), ("None", "None"), ("", "")))
    else:
        call.result, passed = json.dumps({"error": "look-up failed", "ref": reference}), reference
    name, arg = next(
        (c.name, next(iter(c.fields))) for _, _, c in broken.sketch.places() if c.fields
    )
    failing = CallSketch(
        f"{name}_details", {arg: passed}, broken.pick("errors", "json"), "device", call.is_error
    )
    failing.bad = True
    if failing.is_error is not None:
        failing.is_error = True
    broken.sketch.offers_tools = False
    broken.insert(place[0], broken.step(failing))
    broken.end(place[0] + 1)
    broken.also |= SPEAKS_OF_FAILURE | {"empty_result", "invalid_arguments"}
    return Expected("cascade", ((place[0] + 1, 0), place), place[0], variant=variant)


@fault()
def claimed_success(broken: Break) -> Expected | None:
    """The change fails, and the last reply says that it is done."""
    place = broken.place("change")
    if place is None:
        return None
    call = broken.at(place)
    call.bad = True
    if broken.rng.random() < 0.5:
        call.is_error, call.result = True, broken.pick("errors", "flagged")
        variant = "flagged"
    else:
        variant = _hide(broken, place)
    press_on(broken, place, place[0])
    broken.end(len(broken.sketch.steps) - 1, "final")
    last = len(broken.sketch.steps)
    return Expected(
        "claimed_success", ((last, None), place), place[0], SPEAKS_OF_FAILURE, variant=variant
    )
