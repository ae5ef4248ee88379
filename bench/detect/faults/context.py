"""Faults in what the model could still read."""

from __future__ import annotations

from bench.detect.breaking import Break, Expected, fault
from transcripts.record import Ending, Message, Stop


def _late_round(broken: Break) -> int | None:
    """A round from the fifth on, in a run whose messages were never touched."""
    steps = broken.sketch.steps
    touched = any(s.own_context or s.drops for s in steps)
    if broken.has_trouble or touched or len(steps) < 5:
        return None
    return broken.rng.randrange(5, len(steps) + 1)


def _early_keys(broken: Break, until: int) -> tuple[str, ...]:
    """The replies and results of the rounds 1 to `until`."""
    keys = []
    for number, step in enumerate(broken.sketch.steps[:until], 1):
        keys.append(f"reply-{number}")
        keys += [f"result-{number}-{index}" for index in range(len(step.calls))]
    return tuple(keys)


@fault()
def ticket_lost(broken: Break) -> Expected | None:
    number = _late_round(broken)
    if number is None:
        return None
    broken.sketch.logs_inputs = True
    step = broken.sketch.steps[number - 1]
    variant = broken.rng.choice(("ticket", "goal", "all that is old", "summary without it"))
    if variant == "ticket":
        step.drops = ("ticket",)
    elif variant == "goal":
        step.drops = ("system",)
    else:
        step.drops = ("ticket", *_early_keys(broken, number - 3))
    if variant == "summary without it":
        step.inserts = (Message("summary", "user", "Earlier messages were about an account."),)
    also = frozenset({"context_trimmed"})
    return Expected("ticket_lost", ((number, None),), number, also, variant=variant)


@fault()
def context_trimmed(broken: Break) -> Expected | None:
    """Old replies and results go, goal and ticket stay."""
    number = _late_round(broken)
    if number is None:
        return None
    broken.sketch.logs_inputs = True
    broken.sketch.steps[number - 1].drops = _early_keys(broken, number - 3)
    return Expected("context_trimmed", ((number, None),))


@fault()
def context_trimmed_inferred(broken: Break) -> Expected | None:
    """The inputs are not logged, and the input tokens fall by half."""
    number = _late_round(broken)
    if number is None:
        return None
    broken.sketch.logs_inputs, broken.sketch.logs_tokens = False, True
    tokens = 6000
    for i, step in enumerate(broken.sketch.steps, 1):
        tokens = tokens // 2 if i == number else tokens + broken.rng.randrange(100, 900)
        step.tokens_in = tokens
    return Expected("context_trimmed", ((number, None),))


@fault()
def context_pressure(broken: Break) -> Expected | None:
    number = _late_round(broken)
    if number is None:
        return None
    sketch = broken.sketch
    sketch.logs_tokens = True
    variant = broken.rng.choice(("80 percent", "past the window", "rejected"))
    if variant == "rejected":
        rejected = broken.step()
        rejected.stop, rejected.error = Stop.ERROR, broken.pick("errors", "too_long")
        sketch.steps[number - 1 :] = [rejected]
        sketch.ending = Ending.ERROR
        broken.also.add("never_finished")
        return Expected("context_pressure", ((number, None),), variant=variant)
    window = sketch.window = broken.rng.choice((32_000, 128_000, 200_000))
    tokens = window // 2
    for i, step in enumerate(sketch.steps, 1):
        if i == number:
            tokens = int(window * (0.84 if variant == "80 percent" else 1.02))
        step.tokens_in = tokens
        tokens += 10
    return Expected("context_pressure", ((number, None),), variant=variant)
