from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.arguments import ArgumentCheck, placeholder_in
from analysis.detectors.reading.episodes import and_again, episodes, places, until
from analysis.detectors.reading.words import excerpt, quoted


@detector(version=1, severity=Severity.FAULT, odd=True, rank=6)
def invalid_arguments(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Invalid arguments.

    What the model passed to a tool is no JSON, breaks the tool's schema, or holds a placeholder
    where a value belongs.

    Why it matters: the tool refuses the call, or runs it with something nobody meant.
    Stays silent: where the arguments are whole and no schema is known; for a placeholder-like
    value that the ticket or an earlier result holds.
    Yields: one finding for each call, at the first; the same call again counts into it.
    Likely cause: the reply was cut off in mid-argument, the schema is unclear, or the model does
    not know the value and was not told how to get it.
    Fix in code: check arguments against the schema before the tool runs and return what is wrong
    with which field; say in the tool's description where each value comes from.
    Source: JSON Schema, Draft 2020-12; NousResearch/hermes-agent#7680.
    """
    check = ArgumentCheck(reading)
    wrong: dict[int, str] = {}
    for call in reading.calls:
        found = _what_is_wrong(call, check)
        if found:
            wrong[call.seq] = found

    for calls in episodes(reading.calls, lambda call: wrong.get(call.seq)):
        first = calls[0]
        why = wrong[first.seq]
        yield Draft(
            at=first.place,
            why=f"The arguments for {first.name} {why}{and_again(calls)}.",
            brief=f"the arguments for {first.name} are invalid",
            tool=first.name,
            to_round=until(calls),
            evidence=places(calls),
            values={"error": why, "arguments": excerpt(first.call.args), "times": len(calls)},
        )


def _what_is_wrong(call: CallReading, check: ArgumentCheck) -> str | None:
    if call.args is None:
        return f"are no JSON: {quoted(call.call.args, 90)}"
    broken = check.broken_schema(call)
    if broken:
        return f"break its schema: {broken}"
    found = placeholder_in(call.args)
    if found and not check.is_known_value(found[1], before=call):
        name, value = found
        return f"hold a placeholder for {name}: {quoted(value, 60)}"
    return None
