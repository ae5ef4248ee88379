"""Faults in which a run goes round and round."""

from __future__ import annotations

import json
import uuid
from typing import Any

from bench.detect.aftermath import press_on
from bench.detect.breaking import Break, Expected, fault, related
from bench.detect.faults.results import HIDDEN, SPEAKS_OF_FAILURE
from bench.detect.sketch import CallSketch, StepSketch
from bench.detect.world import STRING_PAGES

READS = ("person", "device", "search", "status")


def _read(broken: Break) -> tuple[int, int] | None:
    """A reading call whose tool is used with these arguments only here."""
    found = []
    for place in broken.places(*READS):
        call = broken.at(place)
        twins = sum(
            other.name == call.name and other.args == call.args
            for _, _, other in broken.sketch.places()
        )
        if twins == 1 and call.fields and not broken.has_trouble:
            found.append(place)
    return broken.rng.choice(found) if found else None


def _same(broken: Break, call: CallSketch, args: dict[str, Any] | None = None) -> CallSketch:
    """Another call as this one."""
    return CallSketch(
        call.name,
        call.fields if args is None else args,
        call.result,
        call.role,
        call.is_error,
    )


@fault()
def repeated_call(broken: Break) -> Expected | None:
    place = _read(broken)
    if place is None:
        return None
    number, _ = place
    call = broken.at(place)
    variants = ("in a row", "others between", "keys in another order", "other time", "other id")
    variant = broken.rng.choice(variants)
    count = broken.rng.randrange(3, 6)
    if variant == "keys in another order":
        call.args = {**call.fields, "options": {"a": 1, "b": {"c": 2, "d": [1, 2]}}}
        broken.sketch.offers_tools = False
    repeats = [_same(broken, call) for _ in range(count - 1)]
    for i, again in enumerate([call, *repeats]):
        _vary(broken, again, variant, i)
    if variant == "others between":
        third = _spread(broken, number, repeats)
    else:
        broken.insert(number, *(broken.step(again) for again in repeats))
        third = number + 2
        broken.also.add("no_progress")
    return Expected("repeated_call", ((third, 0),), variant=variant)


def _vary(broken: Break, call: CallSketch, variant: str, i: int) -> None:
    if variant == "keys in another order" and call.fields and i % 2:
        options = {"b": {"d": [1, 2], "c": 2}, "a": 1}
        call.args = dict(reversed(list({**call.fields, "options": options}.items())))
    elif variant == "other time":
        at = f"2026-03-02T10:{i:02d}:{broken.rng.randrange(60):02d}Z"
        call.result = json.dumps({"state": "as it was", "checked_at": at, "owner": "A. Keller"})
    elif variant == "other id":
        ident = str(uuid.UUID(int=broken.rng.getrandbits(128), version=4))
        call.result = json.dumps({"request_id": ident, "state": "as it was", "seats": 4})


def _spread(broken: Break, number: int, repeats: list[CallSketch]) -> int:
    """Put the repeats into the run each after one other call; returns the third's round."""
    at = number
    for i, again in enumerate(repeats):
        other = _other(broken, i)
        broken.insert(at, broken.step(other), broken.step(again))
        at += 2
    return number + 4


def _other(broken: Break, i: int) -> CallSketch:
    fact = broken.pool["results"]["facts"][i % len(broken.pool["results"]["facts"])]
    models = {c.name: c for _, _, c in broken.sketch.places() if c.fields and c.role in READS}
    model = list(models.values())[i % len(models)]
    arg = next(iter(model.fields))
    value = f"Z-{broken.rng.randrange(10**5)}"
    return CallSketch(model.name, {arg: value}, f"{value}: {fact}", "device", model.is_error)


@fault()
def repeated_call_random_id(broken: Break) -> Expected | None:
    """The arguments differ in nothing but an id that is made up anew each time."""
    place = _read(broken)
    if place is None:
        return None
    number, _ = place
    call = broken.at(place)
    name = broken.rng.choice(("request_id", "nonce", "idempotency_key", "trace_id"))
    if name != "request_id":
        broken.sketch.offers_tools = False
    count = broken.rng.randrange(3, 6)
    steps: list[StepSketch] = []
    for i in range(count):
        ident = str(uuid.UUID(int=broken.rng.getrandbits(128), version=4))
        args = {**call.fields, name: ident}
        if i:
            steps.append(broken.step(_same(broken, call, args)))
        else:
            first_args = args
    call.args = first_args
    broken.insert(number, *steps)
    broken.also |= {"no_progress", "near_repeat"}
    return Expected("repeated_call", ((number + 2, 0),), variant=name)


@fault()
def alternating_calls(broken: Break) -> Expected | None:
    """Two to five calls take turns."""
    place = _read(broken)
    if place is None:
        return None
    number, _ = place
    length = broken.rng.randrange(2, 6)
    times = broken.rng.randrange(3, 6)
    pattern = [_other(broken, i) for i in range(length)]
    if len({call.name for call in pattern}) < length:
        broken.also.add("near_repeat")
    rounds = [broken.step(_same(broken, c)) for _ in range(times) for c in pattern]
    broken.insert(number, *rounds)
    variant = f"{length} calls, {times} times"
    first, third = number + 1, number + 3 * length
    broken.also |= {"repeated_call"}
    return Expected("alternating_calls", ((first, None), (third, None)), variant=variant)


@fault()
def near_repeat(broken: Break) -> Expected | None:
    """One search after the other with slightly different words, and nothing comes of it."""
    place = broken.place("search")
    if place is None or broken.has_trouble:
        return None
    number, _ = place
    call = broken.at(place)
    if not call.fields:
        return None
    arg = next(iter(call.fields))
    variant = broken.rng.choice(("one vague answer", "two vague answers", "none in words"))
    kind = "zero" if variant == "none in words" else "vague"
    answers = broken.rng.sample(broken.pool["results"][kind], 2)
    count = broken.rng.randrange(5, 9)
    endings = broken.rng.sample(
        ["s", " help", " guide", " how to", " problem", " fix", " 2", " new"], count
    )
    calls = []
    for i, ending in enumerate(endings):
        answer = answers[i % 2] if variant == "two vague answers" else answers[0]
        args = {arg: f"{call.fields[arg]}{ending}"}
        calls.append(CallSketch(call.name, args, answer, "search", call.is_error))
    first = number + 1
    broken.insert(number, *(broken.step(c) for c in calls))
    press_on_without(broken, number + count, call.name)
    broken.also |= {"no_progress"}
    # The search that they all vary may be counted as the first of them.
    places = tuple((at, None) for at in (number, first, first + 3, first + 4))
    return Expected("near_repeat", places, variant=variant)


def press_on_without(broken: Break, after: int, tool: str) -> None:
    """From round `after` + 1 on, no more calls of this tool."""
    steps = broken.sketch.steps
    for step in steps[after:]:
        step.calls = [c for c in step.calls if not related(c.name, tool)]
    keep = [s for s in steps[after:-1] if s.calls or s.reply]
    broken.sketch.steps = [*steps[:after], *keep, steps[-1]]


@fault()
def unbounded_paging(broken: Break) -> Expected | None:
    """Page after page, and no page says that it was the last."""
    sketch = broken.sketch
    place = broken.place("search", "person")
    if place is None or broken.has_trouble or "pages_with_an_end" in sketch.looks:
        return None
    arg = broken.rng.choice(("page", "offset", "cursor", "page_token", "start"))
    sketch.offers_tools = False
    count = broken.rng.randrange(10, 16)
    steps = []
    for i in range(1, count + 1):
        value: Any = i
        if arg in STRING_PAGES:
            value = f"c{i * 7919}" if arg == "cursor" else uuid.UUID(int=i * 7919**5).hex[:16]
        elif arg in ("offset", "start"):
            value = i * 50
        rows = [f"{broken.rng.randrange(10**6)} {broken.pick('topics')}" for _ in range(3)]
        result = json.dumps({"rows": rows, "has_more": True}, ensure_ascii=False)
        call = CallSketch("list_records", {arg: value, "size": 50}, result, "page", None)
        steps.append(broken.step(call))
    first = place[0] + 1
    broken.insert(place[0], *steps)
    broken.end(place[0] + count)
    return Expected("unbounded_paging", ((first, None), (first + 9, None)), variant=arg)


@fault()
def no_progress(broken: Break) -> Expected | None:
    """Whatever is called, the same comes back."""
    place = _read(broken)
    if place is None:
        return None
    number, _ = place
    text = broken.pick("results", "vague")
    roles = {c.role: c for _, _, c in broken.sketch.places() if c.fields}
    models = [c for role, c in roles.items() if role in (*READS, "doc")]
    if len(models) < 2:
        return None
    count = broken.rng.randrange(4, 7)
    steps = []
    for i in range(count):
        model = models[i % len(models)]
        arg = next(iter(model.fields))
        value = f"{broken.pick('things')} {broken.rng.randrange(10**4)}"
        steps.append(
            broken.step(CallSketch(model.name, {arg: value}, text, model.role, model.is_error))
        )
    broken.insert(number, *steps)
    places = tuple((number + i, None) for i in (1, 3, 4))
    return Expected("no_progress", places)


@fault()
def retried_failure(broken: Break) -> Expected | None:
    """The same tool fails three times or more, with the same arguments or with others."""
    place = _read(broken)
    if place is None:
        return None
    number, _ = place
    call = broken.at(place)
    variant = broken.rng.choice(("flagged", *HIDDEN))
    call.result = broken.pick("errors", variant)
    call.is_error = True if variant == "flagged" else call.is_error
    call.bad = True
    count = broken.rng.randrange(3, 6)
    varied = broken.rng.random() < 0.5
    arg = next(iter(call.fields))
    for _ in range(count - 1):
        again = _same(broken, call)
        again.bad = True
        if varied and isinstance(again.args, dict):
            again.args[arg] = f"{again.args[arg]}-{broken.rng.randrange(100)}"
        broken.insert(number, broken.step(again))
    press_on(broken, place, number + count - 1)
    also = SPEAKS_OF_FAILURE | {"repeated_call", "no_progress", "near_repeat"}
    return Expected(
        "retried_failure", ((number, None), (number + 2, None)), number, also, variant=variant
    )
