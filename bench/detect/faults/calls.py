"""Faults in what the model asked for, and in what came of it."""

from __future__ import annotations

from bench.detect.aftermath import aftermath
from bench.detect.breaking import Break, Expected, fault
from bench.detect.faults.results import SPEAKS_OF_FAILURE
from bench.detect.sketch import CallSketch
from transcripts.record import Orphan


def _refuse(broken: Break, call: CallSketch, text: str) -> None:
    call.result = text
    if broken.rng.random() < 0.5:
        call.is_error = True


@fault()
def unknown_tool(broken: Break) -> Expected | None:
    """The model makes a tool up. Where the offer is not logged, only the answer tells."""
    place = broken.place("person", "device", "search", "status")
    if place is None or broken.has_trouble:
        return None
    call = broken.at(place)
    call.name = broken.pick("errors", "invented")
    _refuse(broken, call, broken.pick("errors", "no_tool").replace("{name}", call.name))
    recovered = aftermath(broken, place, None)
    variant = "offer known" if broken.sketch.offers_tools else "offer unknown"
    also = SPEAKS_OF_FAILURE | {"claimed_success"}
    return Expected("unknown_tool", (place,), place[0], also, recovered, variant)


@fault()
def invalid_arguments(broken: Break) -> Expected | None:
    place = broken.place("change", "note", "person", "device", "search")
    if place is None:
        return None
    call = broken.at(place)
    if not call.fields:
        return None
    variants = ["cut JSON", "placeholder", "not JSON"]
    if broken.sketch.offers_tools:
        variants += ["missing", "wrong type", "unknown name"]
        variants += ["not in the list"] if "channel" in call.fields else []
    variant = broken.rng.choice(variants)
    good, right = call.result, call.fields
    if variant == "placeholder" and broken.has_trouble:
        broken.also.add("cascade")
    call.args = _spoil(broken, call, variant)
    _refuse(
        broken,
        call,
        broken.pick("errors", "bad_args").replace("{detail}", broken.pick("errors", "detail")),
    )
    recovered = aftermath(broken, place, good, right)
    return Expected("invalid_arguments", (place,), place[0], SPEAKS_OF_FAILURE, recovered, variant)


def _spoil(broken: Break, call: CallSketch, variant: str) -> dict[str, object] | str:
    args = call.fields
    first = next(iter(args))
    if variant == "cut JSON":
        return call.args_text[: -broken.rng.randrange(2, 6)]
    if variant == "not JSON":
        return f"{first}={args[first]}"
    if variant == "placeholder":
        args[first] = broken.pick("errors", "placeholders")
    elif variant == "missing":
        del args[first]
    elif variant == "wrong type":
        args[first] = [args[first]]
    elif variant == "unknown name":
        args["colour"] = "blue"
    else:
        args["channel"] = "pigeon"
    return args


@fault()
def placeholder_accepted(broken: Break) -> Expected | None:
    """A placeholder goes through and the tool answers as if it were a value."""
    place = broken.place("change", "note", "person")
    if place is None:
        return None
    call = broken.at(place)
    if not call.fields:
        return None
    call.args = _spoil(broken, call, "placeholder")
    call.pair = ""
    broken.end(place[0])
    return Expected("invalid_arguments", (place,), place[0], frozenset({"claimed_success"}))


@fault()
def unanswered_one_of_many(broken: Break) -> Expected | None:
    """One of the calls that were made at once gets no result."""
    place = broken.place("search", "person")
    if place is None:
        return None
    number, index = place
    call = broken.at(place)
    if not call.fields:
        return None
    arg = next(iter(call.fields))
    others = [
        CallSketch(
            call.name,
            {arg: f"{call.fields[arg]} {word}"},
            f"{word}: {call.result}",
            call.role,
            call.is_error,
        )
        for word in broken.rng.sample(broken.pool["places"], broken.rng.randrange(1, 4))
    ]
    calls = broken.sketch.steps[number - 1].calls
    calls += others
    missing = broken.rng.choice([index, *range(len(calls) - len(others), len(calls))])
    calls[missing].result, calls[missing].is_error, calls[missing].bad = None, None, True
    broken.end(number, "final")
    return Expected("unanswered_call", ((number, missing),), number)


@fault()
def unanswered_call(broken: Break) -> Expected | None:
    """A call in the middle of the run gets no result, and the run goes on."""
    place = broken.place("search", "person", "device", "note", "doc")
    if place is None or place[0] == len(broken.sketch.steps):
        return None
    call = broken.at(place)
    call.result, call.is_error, call.bad = None, None, True
    broken.end(place[0], "report")
    broken.also.add("claimed_success")
    return Expected("unanswered_call", (place,), place[0])


@fault()
def orphan_result(broken: Break) -> Expected | None:
    """A result comes that answers no call."""
    place = broken.place()
    if place is None or broken.has_trouble:
        return None
    orphan = Orphan(f"call_{broken.rng.randrange(10**6)}", broken.pick("results", "facts"))
    broken.sketch.steps[place[0] - 1].orphans = (orphan,)
    return Expected("unanswered_call", ((place[0], None),), place[0])
