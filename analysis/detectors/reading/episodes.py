"""One claim for one thing that happened several times."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from analysis.detectors.reading import CallReading
from analysis.places import Place

# Places that a finding lists; how many there are in all is in its values.
MOST_EVIDENCE = 50


def episodes(
    calls: Iterable[CallReading], kind_of: Callable[[CallReading], str | None]
) -> list[list[CallReading]]:
    """Calls that `kind_of` names, one list for the same call with the same kind, in order of the
    first.

    An episode ends when the same call (tool and arguments) gets something else.
    """
    found: list[list[CallReading]] = []
    running: dict[tuple[str, str], tuple[str, list[CallReading]]] = {}
    for each in calls:
        kind = kind_of(each)
        known = running.get(each.key)
        if kind is None:
            if known is not None:
                del running[each.key]
        elif known is not None and known[0] == kind:
            known[1].append(each)
        else:
            running[each.key] = (kind, [each])
            found.append(running[each.key][1])
    return found


def places(calls: Iterable[CallReading]) -> tuple[Place, ...]:
    """The first places of `calls`, as evidence."""
    return tuple(each.place for _, each in zip(range(MOST_EVIDENCE), calls, strict=False))


def and_again(calls: list[CallReading]) -> str:
    """The end of a sentence: empty for one call, else how often the same call got the same."""
    more = len(calls) - 1
    if not more:
        return ""
    return (
        f", and {more:,} more {'time' if more == 1 else 'times'} for the same arguments, "
        f"up to round {calls[-1].place.round}"
    )


def until(calls: list[CallReading]) -> int | None:
    """The last round of an episode; None where it is the first."""
    last = calls[-1].place.round
    return last if last != calls[0].place.round else None
