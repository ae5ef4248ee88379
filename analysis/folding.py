"""One loop, told once: what only says again that the run goes in a circle is folded into the
finding that shows the circle, or becomes a lead that names it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from analysis.choices import Severity
from analysis.detectors.base import Finding
from analysis.detectors.reading import Reading

# The findings that show a circle, the most telling first.
LOOPS = ("alternating_calls", "repeated_call")


def told_once(reading: Reading, findings: Sequence[Finding]) -> list[Finding]:
    """`findings`, in their order, without those that say the same thing again."""
    loops = _Loops(reading, findings)
    told = list(findings)
    folded: set[int] = set()
    for at, finding in enumerate(findings):
        if finding.detector == "repeated_reply":
            loop = loops.around_replies(finding)
            if loop is not None:
                told[loop] = _with_replies(told[loop], finding)
                folded.add(at)
        elif finding.detector in ("no_progress", "never_finished"):
            loop = loops.around(finding)
            if loop is None:
                continue
            if finding.detector == "never_finished" and reading.run.ending_reason.strip():
                # Whoever stopped the run said why, and the circle says what there was to stop.
                told[loop] = replace(told[loop], why=f"{told[loop].why} It goes on to the end.")
                folded.add(at)
            else:
                told[at] = _as_lead(finding, findings[loop])
    return [each for at, each in enumerate(told) if at not in folded]


def _with_replies(loop: Finding, reply: Finding) -> Finding:
    return replace(
        loop,
        why=f"{loop.why} The replies come again too.",
        values={**loop.values, "same_replies": reply.values.get("times")},
    )


def _as_lead(finding: Finding, loop: Finding) -> Finding:
    return replace(
        finding,
        severity=Severity.LEAD,
        why=f"{finding.why} It is the loop of round {loop.round}.",
        values={**finding.values, "same_as": {"detector": loop.detector, "round": loop.round}},
    )


class _Loops:
    """The circles of a run, by their places in `findings`; leads are none."""

    def __init__(self, reading: Reading, findings: Sequence[Finding]) -> None:
        self._reading = reading
        self._findings = findings
        self._at = [
            at
            for name in LOOPS
            for at, each in enumerate(findings)
            if each.detector == name and each.severity != Severity.LEAD
        ]

    def around_replies(self, reply: Finding) -> int | None:
        """The first circle whose calls stand in every round of the reply."""
        numbers = {place.round for place in reply.evidence} | {reply.to_round or reply.round}
        for at in self._at:
            loop = self._findings[at]
            if loop.detector == "alternating_calls":
                inside = all(loop.round <= n <= (loop.to_round or loop.round) for n in numbers)
            else:
                about = self._reading.call_at(loop.round, loop.call)
                inside = about is not None and numbers.issubset(
                    self._reading.rounds_of_key[about.key]
                )
            if inside:
                return at
        return None

    def around(self, finding: Finding) -> int | None:
        """The circle that the finding stands in: for the end of the run, one that goes on to it."""
        if finding.detector == "never_finished":
            last = self._reading.last_round
            return next((at for at in self._at if self._findings[at].to_round == last), None)
        same = self._by_place.get((finding.round, finding.call))
        if same is not None:
            return same
        before = bisect_right(self._turns, (finding.round, len(self._findings))) - 1
        if before < 0:
            return None
        at = self._turns[before][1]
        inside = (finding.to_round or finding.round) <= (self._findings[at].to_round or 0)
        return at if inside else None

    @cached_property
    def _by_place(self) -> dict[tuple[int, int | None], int]:
        return {
            (self._findings[at].round, self._findings[at].call): at
            for at in reversed(self._at)
            if self._findings[at].detector == "repeated_call"
        }

    @cached_property
    def _turns(self) -> list[tuple[int, int]]:
        """First round and place of the calls that take turns, ascending; none overlap."""
        return [
            (self._findings[at].round, at)
            for at in self._at
            if self._findings[at].detector == "alternating_calls"
        ]
