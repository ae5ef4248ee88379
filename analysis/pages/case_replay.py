"""The page that shows a replay beside the run that its test case was made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.comparing import Step
from analysis.detectors.limits import DEFAULT
from analysis.detectors.reading.keys import fold
from analysis.models import CaseReplay, TestCase
from analysis.pages.run_compare import Comparison
from analysis.selectors.cases import case_replays, recorded_run, replayed_run
from analysis.selectors.run_steps import answer_told, key_of, step_of
from analysis.services.verdicts import applied_limits
from analysis.suite import analyse
from analysis.words import verdict_label
from transcripts.cards import RoundCard
from transcripts.record import RunRecord
from transcripts.record_cards import record_cards

# A longer run is not read by the detectors while somebody waits for the page.
READ_AT_ONCE = 2_000
OTHERS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class RecordSide:
    """A run as it stands in a file."""

    record: RunRecord

    def steps(self) -> list[Step]:
        return [
            step_of(
                round_.number,
                round_.stop.value,
                None if round_.calls else fold(round_.reply),
                sorted(
                    (key_of(call.name, call.args), call.name, f"{bool(call.is_error)}{call.result}")
                    for call in round_.calls
                ),
            )
            for round_ in self.record.rounds
        ]

    def answers(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        wanted = set(numbers)
        return {
            round_.number: sorted(
                answer_told(call.result, bool(call.is_error)) for call in round_.calls
            )
            for round_ in self.record.rounds
            if round_.calls and round_.number in wanted
        }

    def cards(self, numbers: Iterable[int | None]) -> dict[int, RoundCard]:
        return record_cards(self.record, {number for number in numbers if number})


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above one of the two: how it went, in words."""

    name: str
    label: str
    tone: str
    rounds: int
    sentence: str


@dataclass(frozen=True)
class ReplayComparison:
    """A replay beside what was recorded."""

    case: TestCase
    replay: CaseReplay
    recorded: RunRecord
    replayed: RunRecord

    @property
    def comparison(self) -> Comparison:
        return Comparison(RecordSide(self.recorded), RecordSide(self.replayed))

    def heads(self) -> list[Head]:
        return [
            self._head("As recorded", self.recorded),
            self._head(f"Replayed, run {self.replay.run:,}", self.replayed),
        ]

    def _head(self, name: str, record: RunRecord) -> Head:
        if len(record.rounds) > READ_AT_ONCE:
            return Head(name, *verdict_label(None), len(record.rounds), "")
        run = self.case.run
        limits = applied_limits(run=run, currency=record.currency).limits if run else DEFAULT
        verdict = analyse(record, limits).verdict
        label, tone = verdict_label(verdict.kind)
        return Head(name, label, tone, len(record.rounds), verdict.sentence)


def replay_comparison(*, case: TestCase, replay: CaseReplay) -> ReplayComparison:
    """A replay that has a transcript, and the recording of its case."""
    return ReplayComparison(case, replay, recorded_run(case=case), replayed_run(replay=replay))


def other_replays(*, case: TestCase, replay: CaseReplay) -> list[CaseReplay]:
    """The latest replays of the case but for this one."""
    found = case_replays(case=case, limit=OTHERS_SHOWN + 1)
    return [each for each in found if each.pk != replay.pk][:OTHERS_SHOWN]
