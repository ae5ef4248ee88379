from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.relation import about_the_same, is_read
from analysis.detectors.reading.tools import Effect
from analysis.detectors.reading.words import quoted

# Changes that are looked back at from one read. In a run that changes more than this between two
# reads of one thing, the oldest are not held against it.
MOST_CHANGES_BETWEEN = 40


@dataclass(slots=True)
class _Watched:
    """A read with the answer it got last, and the changes made since."""

    read: CallReading
    changes: list[CallReading] = field(default_factory=list)


@detector(version=1, severity=Severity.FAULT, odd=True, rank=20)
def no_effect(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Change without effect.

    A tool that changes something claimed success or said nothing, and what was read before and
    after it is the same.

    Why it matters: the model goes on as if the step was done, or does it again and again.
    Stays silent: when the read is another one, is about another thing, or its answer changed;
    when the change failed openly.
    Yields: one finding for each change, at the first call that had no effect; its repeats count
    into it.
    Likely cause: the change was refused or not carried out and the tool does not say so, or it
    takes effect later than the agent looks.
    Fix in code: let the tool read back what it changed and return the new state, or an error;
    where a change takes time, return a handle to wait on.
    Source: the VPN run; tools that answer 200 before the work is done.
    """
    watched: dict[tuple[str, str], _Watched] = {}
    recent: list[CallReading] = []
    found: dict[tuple[str, str], tuple[CallReading, CallReading, CallReading, int]] = {}
    settled: dict[tuple[str, str], int] = {}
    for call in reading.calls:
        if call.effect == Effect.CHANGES:
            if call.answered and not call.failed:
                recent.append(call)
            continue
        if not is_read(call) or call.came_to_nothing:
            continue
        before = watched.get(call.key)
        if before is not None:
            since = [
                change
                for change in recent[-MOST_CHANGES_BETWEEN:]
                if change.seq > before.read.seq and about_the_same(change, call)
            ]
            if since and call.result_key == before.read.result_key:
                change = since[0]
                settled.pop(change.key, None)
                known = found.get(change.key)
                found[change.key] = (
                    (*known[:3], known[3] + 1) if known else (change, before.read, call, 1)
                )
            elif since:
                for change in since:
                    if change.key in found:
                        settled.setdefault(change.key, call.round)
        watched[call.key] = _Watched(call)
    for key, (change, earlier, later, times_seen) in found.items():
        brief = f"{change.name} changed nothing that {later.name} shows"
        yield Draft(
            at=change.place,
            why=(
                f"{change.name} did not fail, but {later.name} says the same before it (round "
                f"{earlier.round}) and after it (round {later.round}): "
                f"{quoted(later.call.result or '', 90)}."
            ),
            brief=brief,
            tool=change.name,
            evidence=(earlier.place, later.place),
            values={
                "read": later.name,
                "before": earlier.round,
                "after": later.round,
                "times": times_seen,
                "error": f"no effect on {later.name}",
            },
            made_up_at=settled.get(key),
        )
