from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.words import count, listing

MIN_CALLS = 4
RATE = 0.5


@detector(version=1, severity=Severity.FAULT, odd=False, rank=88, recovers=False)
def high_error_rate(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """High error rate.

    Half of the run's calls or more fail.

    Why it matters: the agent works with tools that do not work, or does not know how to use them.
    Stays silent: under 4 calls; where fewer than half fail.
    Yields: one finding, at the first failed call.
    Likely cause: a service is down, a permission is missing, or the tools are described badly.
    Fix in code: check the tools before the run starts; stop early when most calls fail, and say so.
    Source: health monitors of the field, with an error rate of a half.
    """
    failed = [call for call in reading.calls if call.failed]
    total = len(reading.calls)
    if total < MIN_CALLS or len(failed) < total * RATE:
        return
    names = list(dict.fromkeys(call.name for call in failed))
    later = [call for call in reading.calls[failed[-1].seq + 1 :] if not call.came_to_nothing]
    yield Draft(
        at=failed[0].place,
        why=(
            f"{len(failed)} of {count(total, 'call')} failed ({len(failed) / total:.0%}): "
            f"{listing(names[:4])}{' and others' if len(names) > 4 else ''}."
        ),
        brief=f"{len(failed) / total:.0%} of the calls failed",
        tool=failed[0].name,
        evidence=places(failed),
        values={"failed": len(failed), "calls": total, "error": "high error rate"},
        made_up_at=later[0].round if later and reading.ended_by_itself else None,
    )
