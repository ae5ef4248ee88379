"""What follows from a broken call, and what may rightly be said of the run as a whole."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from bench.detect.breaking import Break, related
from bench.detect.sketch import CallSketch, Sketch
from transcripts.record import Ending, Tool

AFTERMATHS = ("press_on", "retry", "give_up", "recover", "hand_off", "tell")


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
    troubled = {a.round for a in sketch.allowed if a.detector in ("failed_result", "hidden_error")}
    bad = [call.bad or number in troubled for number, _, call in sketch.places()]
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
