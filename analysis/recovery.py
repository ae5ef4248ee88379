"""Whether, and at which round, a run made up for a finding.

One of: a later call of the same tool, or of one for the same purpose, succeeds; the agent told the
person of the failure in its next reply, and the person answered; the run was handed off. A run that
just ends, or ends with a claim, has not recovered.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from analysis.detectors.base import Detector, Draft
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.failure_words import TELLS
from transcripts.endings import hands_off
from transcripts.record import Ending


@dataclass(frozen=True, slots=True)
class Recovered:
    """The number of the round that made up for a finding; `handed_off`: by giving the task away,
    which mends nothing.
    """

    round: int
    handed_off: bool = False


class Recovery:
    """Answers for one run; what it looks through is put in order once."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def of(self, detector: Detector, draft: Draft) -> Recovered | None:
        """What made up for the draft, or None."""
        if draft.made_up_at is not None:
            return Recovered(draft.made_up_at)
        if not detector.recovers:
            return None
        last = draft.to_round or draft.at.round
        made_up = [
            round_
            for round_ in (self._later_success(draft, last), self._told(last))
            if round_ is not None
        ]
        handed_off = self._hand_off(last)
        if handed_off is not None and all(handed_off < round_ for round_ in made_up):
            return Recovered(handed_off, handed_off=True)
        return Recovered(min(made_up)) if made_up else None

    def _later_success(self, draft: Draft, last: int) -> int | None:
        about = self._reading.call_at(draft.at.round, draft.at.call)
        if about is None or draft.at.call is None:
            about = next(
                (call for call in self._reading.calls_by_round.get(draft.at.round, [])), None
            )
            if about is None or not draft.tool:
                return None
        found = None
        for purpose in (about.name, f"family {about.nature.family}"):
            good = self._good.get(purpose)
            call = good.after(last, about) if good is not None else None
            if call is not None:
                found = min(found or call.round, call.round)
        return found

    def _told(self, last: int) -> int | None:
        """The round in which the person answered what the agent said of it in its next reply."""
        at = bisect_right(self._replies, last)
        if at == len(self._replies):
            return None
        number = self._replies[at]
        round_ = self._reading.run.round_by_number[number]
        if TELLS.search(round_.reply[:4_000]) is None:
            return None
        after = self._after(number)
        return after if after in self._heard else None

    def _hand_off(self, last: int) -> int | None:
        if self._reading.run.ending != Ending.HANDED_OFF:
            return None
        if self._hand_off_round is not None and self._hand_off_round >= last:
            return self._hand_off_round
        return self._reading.last_round if self._reading.last_round >= last else None

    def _after(self, number: int) -> int | None:
        numbers = self._numbers
        at = bisect_right(numbers, number)
        return numbers[at] if at < len(numbers) else None

    @cached_property
    def _hand_off_round(self) -> int | None:
        """Where the last call that hands the task off was made."""
        calls = reversed(self._reading.calls)
        return next((call.round for call in calls if hands_off(call.name)), None)

    @cached_property
    def _numbers(self) -> list[int]:
        return [round_.number for round_ in self._reading.rounds]

    @cached_property
    def _heard(self) -> frozenset[int]:
        return frozenset(self._reading.heard)

    @cached_property
    def _good(self) -> dict[str, _Good]:
        """Successful calls by tool and by purpose."""
        good: dict[str, _Good] = {}
        for call in self._reading.calls:
            if not call.came_to_nothing:
                for purpose in (call.name, f"family {call.nature.family}"):
                    good.setdefault(purpose, _Good()).add(call)
        return good

    @cached_property
    def _replies(self) -> list[int]:
        """Rounds whose reply speaks to the person: text, and no tool is asked for."""
        return [
            round_.number
            for round_ in self._reading.rounds
            if round_.reply.strip() and not round_.calls
        ]


class _Good:
    """Successful calls for one purpose, in the run's order."""

    def __init__(self) -> None:
        self._calls: list[CallReading] = []
        self._rounds: list[int] = []

    def add(self, call: CallReading) -> None:
        self._calls.append(call)
        self._rounds.append(call.round)

    def after(self, last: int, about: CallReading) -> CallReading | None:
        """The first of them after round `last`; where `about` had a good answer itself, the first
        with another one: after an answer that was asked for again and again, only that is news.
        """
        at = bisect_right(self._rounds, last)
        if at == len(self._calls):
            return None
        if not about.came_to_nothing and self._calls[at].same_result(about):
            at = self._next_other[at]
        return self._calls[at] if at < len(self._calls) else None

    @cached_property
    def _next_other(self) -> list[int]:
        """For each call the place of the next one whose answer differs from the one before it.

        Found once for all, so that a finding in every round costs one step each.
        """
        calls = self._calls
        following = [len(calls)] * len(calls)
        for at in range(len(calls) - 2, -1, -1):
            same = calls[at + 1].same_result(calls[at])
            following[at] = following[at + 1] if same else at + 1
        return following
