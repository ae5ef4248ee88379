from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.arguments import placeholder_in
from analysis.detectors.reading.words import excerpt, quoted

# Failures that are looked back at from one that follows.
MOST_EARLIER = 20
# Characters. Shorter values ("id", "7") stand in any text.
SHORTEST_VALUE = 5
# Rounds. What was filled in for want of an answer is filled in soon after it.
NEAR = 2
NOTHING = frozenset({"none", "null", "undefined", "nan", "n/a", "unknown", "not found", "error"})


@detector(version=1, severity=Severity.LEAD, odd=False, rank=36)
def cascade(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Failure passed on.

    A call fails, and what it was called with came from an earlier call that had failed or was
    empty.

    Why it matters: the second failure is only a sign of the first: start reading there.
    Stays silent: where the values came from somewhere else too.
    Yields: one finding for each such call; its evidence is the first failure.
    Likely cause: the model fills in what it did not get.
    Fix in code: refuse empty and made-up values in the tool; after a failure, tell the model what
    not to do.
    Source: error propagation in TRAIL and MAST.
    """
    earlier: list[CallReading] = []
    given: set[str] = set()
    for call in reading.calls:
        if call.failed or not call.answered:
            root = _root_of(call, earlier, given)
            if root is not None:
                source, value = root
                shown = quoted(value, 40) if value.strip() else "an empty value"
                yield Draft(
                    at=call.place,
                    why=(
                        f"{call.name} was called with {shown} and failed; {source.name} in round "
                        f"{source.round} had {'failed' if source.failed else 'returned nothing'}."
                    ),
                    brief=f"{call.name} fails after {source.name} did",
                    tool=call.name,
                    evidence=(source.place,),
                    values={
                        "value": excerpt(value, 60),
                        "from_round": source.round,
                        "error": "cascade",
                    },
                )
        if call.came_to_nothing:
            earlier = [*earlier[-MOST_EARLIER:], call]
        given |= call.values


def _root_of(
    call: CallReading, earlier: list[CallReading], given: set[str]
) -> tuple[CallReading, str] | None:
    """The earlier failure that a value of `call` comes from, and the value."""
    before = [each for each in earlier if each.round < call.round and each.key != call.key]
    if not before or not isinstance(call.args, dict):
        return None
    fresh = call.values - given
    nearest = before[-1]
    if nearest.name != call.name and call.round - nearest.round <= NEAR:
        for name, value in call.args.items():
            if value is None or (value == "" and nearest.empty is not None):
                return nearest, ""
            if not isinstance(value, str) or value.strip().lower() not in fresh:
                continue
            if _is_nothing(name, value):
                return nearest, value
    for value in fresh:
        if len(value) < SHORTEST_VALUE:
            continue
        for source in reversed(before):
            if source.name != call.name and value in (source.call.result or "").lower()[:4_000]:
                return source, value
    return None


def _is_nothing(name: str, value: str) -> bool:
    return value.strip().lower() in NOTHING or placeholder_in({name: value}) is not None
