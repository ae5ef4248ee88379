"""Faults in why the model stopped writing."""

from __future__ import annotations

from bench.detect.breaking import Break, Expected, fault
from bench.detect.faults.results import SPEAKS_OF_FAILURE
from bench.detect.sketch import END_LABELS, TOOL_LABELS, CallSketch
from transcripts.record import Ending, Stop

HAS_TOOL_LABEL = ("openai", "anthropic")


def _middle(broken: Break) -> int | None:
    """A round with calls, past the first and before the last, in a run that had no trouble."""
    found = broken.places()
    numbers = sorted({n for n, _ in found if 1 < n < len(broken.sketch.steps)})
    return broken.rng.choice(numbers) if numbers and not broken.has_trouble else None


@fault()
def cut_off_reply(broken: Break) -> Expected | None:
    number = _middle(broken)
    if number is None:
        return None
    steps = broken.sketch.steps
    variant = broken.rng.choice(("last reply", "text in between", "request run half-written"))
    if variant == "last reply":
        number = len(steps)
        steps[-1].reply = steps[-1].reply[: len(steps[-1].reply) * 2 // 3]
        steps[-1].stop = Stop.CUT_OFF
    elif variant == "text in between":
        text = broken.pick("says", "report")
        cut = broken.step(reply=text[: len(text) // 2])
        cut.stop = Stop.CUT_OFF
        broken.insert(number - 1, cut)
    else:
        call = steps[number - 1].calls[0]
        call.args = call.args_text[: -broken.rng.randrange(2, 9)]
        call.result, call.bad = broken.pick("errors", "bad_args"), True
        call.result = call.result.replace("{detail}", broken.pick("errors", "detail"))
        call.is_error = True if call.is_error is not None else None
        steps[number - 1].stop = Stop.CUT_OFF
        broken.end(number)
        broken.also |= SPEAKS_OF_FAILURE | {"invalid_arguments"}
    if variant != "text in between":
        broken.also.add("never_finished")
    return Expected("cut_off_reply", ((number, None),), number, variant=variant)


@fault()
def blocked_reply(broken: Break) -> Expected | None:
    number = _middle(broken)
    if number is None:
        return None
    variant = broken.rng.choice(("last reply", "in between", "instead of going on"))
    blocked = broken.step(reply="" if broken.rng.random() < 0.5 else "I can't help with that.")
    blocked.stop = Stop.BLOCKED
    if variant == "last reply":
        number = len(broken.sketch.steps)
        broken.sketch.steps[-1] = blocked
    elif variant == "in between":
        broken.insert(number - 1, blocked)
    else:
        del broken.sketch.steps[number:]
        broken.sketch.steps.append(blocked)
        number += 1
    broken.also.add("never_finished")
    return Expected("blocked_reply", ((number, None),), number, variant=variant)


@fault()
def unknown_stop(broken: Break) -> Expected | None:
    number = _middle(broken)
    if number is None:
        return None
    step = broken.sketch.steps[number - 1]
    step.stop, step.stop_raw = Stop.UNKNOWN, broken.pick("errors", "labels")
    return Expected("unknown_stop", ((number, None),), variant=step.stop_raw)


@fault()
def stop_mismatch_not_run(broken: Break) -> Expected | None:
    """The label says finished, the loop believed it, and the calls of the reply were never run."""
    number = _middle(broken)
    sketch = broken.sketch
    if number is None or sketch.provider not in HAS_TOOL_LABEL:
        return None
    del sketch.steps[number:]
    step = sketch.steps[number - 1]
    step.stop_raw, sketch.logs_labels = END_LABELS[sketch.provider], True
    for call in step.calls:
        call.result, call.is_error, call.bad = None, None, True
    sketch.ending = Ending.FINISHED
    also = frozenset({"unanswered_call", "never_finished", "claimed_success"})
    return Expected("stop_mismatch", ((number, None),), number, also)


@fault()
def stop_mismatch_no_request(broken: Break) -> Expected | None:
    """The label says that a tool is wanted, and the reply asks for none."""
    number = _middle(broken)
    sketch = broken.sketch
    if number is None or sketch.provider not in HAS_TOOL_LABEL:
        return None
    lost = broken.step(reply=broken.pick("says", "thoughts"))
    lost.stop, lost.stop_raw = Stop.WANTS_TOOL, TOOL_LABELS[sketch.provider]
    sketch.logs_labels = True
    variant = broken.rng.choice(("in between", "last reply"))
    if variant == "in between":
        broken.insert(number - 1, lost)
    else:
        del sketch.steps[number:]
        sketch.steps.append(lost)
        number += 1
        broken.also.add("never_finished")
    return Expected("stop_mismatch", ((number, None),), number, variant=variant)


@fault()
def never_finished(broken: Break) -> Expected | None:
    """The run is over in the middle of its work."""
    number = _middle(broken)
    if number is None or number < 3 or any(not s.calls for s in broken.sketch.steps[:number]):
        return None
    del broken.sketch.steps[number:]
    broken.sketch.ending = broken.rng.choice((Ending.STOPPED, Ending.ROUND_LIMIT, None))
    return Expected("never_finished", variant=str(broken.sketch.ending))


@fault()
def empty_replies(broken: Break) -> Expected | None:
    number = _middle(broken)
    if number is None:
        return None
    variant = broken.rng.choice(("in between", "at the end"))
    count = broken.rng.randrange(2, 5)
    silent = [broken.step() for _ in range(count)]
    if variant == "in between":
        broken.insert(number, *silent)
        first = number + 1
    else:
        first = len(broken.sketch.steps)
        broken.sketch.steps[-1:] = silent
    return Expected("empty_replies", ((first, None), (first + 1, None)), variant=variant)


@fault()
def repeated_reply(broken: Break) -> Expected | None:
    """The same long words three times or more, beside other calls or none."""
    number = _middle(broken)
    if number is None:
        return None
    text = broken.pick("says", "repeated")
    variant = broken.rng.choice(("word for word", "nearly", "beside calls"))
    count = broken.rng.randrange(3, 6)
    steps = []
    for i in range(count):
        reply = text if variant != "nearly" else f"{text} ({i + 1})"
        calls = []
        if variant == "beside calls":
            calls = [_other_call(broken, i)]
        steps.append(broken.step(*calls, reply=reply))
    broken.insert(number, *steps)
    return Expected("repeated_reply", ((number + 1, None), (number + 3, None)), variant=variant)


def _other_call(broken: Break, i: int) -> CallSketch:
    place = next((n, k) for n, k, c in broken.sketch.places() if c.fields)
    model = broken.at(place)
    arg = next(iter(model.fields))
    return CallSketch(
        model.name,
        {arg: f"X-{broken.rng.randrange(10**5)}"},
        f"{i}: {broken.rng.choice(broken.pool['results']['facts'])}",
        "device",
        model.is_error,
    )
