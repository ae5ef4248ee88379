from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.words import quoted


@detector(version=2, severity=Severity.FAULT, odd=True, rank=20)
def no_effect(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Change without effect.

    A tool that changes something claimed success or said nothing, and what was read before and
    after it is the same.

    Why it matters: the model goes on as if the step was done, or does it again and again.
    Stays silent: when the read is another one, is about another thing, or its answer changed;
    when the change failed openly.
    Yields: one finding for each tool and the read that shows it, at the first call that had no
    effect; later ones count into it.
    Likely cause: the change was refused or not carried out and the tool does not say so, or it
    takes effect later than the agent looks.
    Fix in code: let the tool read back what it changed and return the new state, or an error;
    where a change takes time, return a handle to wait on.
    Source: the VPN run; tools that answer 200 before the work is done.
    """
    for found in reading.no_effects:
        change, before, after = found.change, found.before, found.after
        if before is not None:
            shown = (
                f"{after.name} says the same before it (round {before.round}) and after it "
                f"(round {after.round})"
            )
        else:
            shown = f"{after.name} then says the opposite (round {after.round})"
        yield Draft(
            at=change.place,
            why=f"{change.name} did not fail, but {shown}: {quoted(found.told, 90)}.",
            brief=f"{change.name} changed nothing that {after.name} shows",
            tool=change.name,
            evidence=tuple(each.place for each in (before, after) if each is not None),
            values={
                "read": after.name,
                "before": before.round if before is not None else None,
                "after": after.round,
                "times": found.times,
                "error": f"no effect on {after.name}",
            },
            made_up_at=found.settled_at,
        )
