"""What was missed and what was said for nothing, each with the part of the run that it is about."""

from __future__ import annotations

from collections.abc import Iterator

from bench.detect.score import Control, Outcome
from bench.detect.sketch import record
from transcripts.record import Round, RunRecord

TEXT_SHOWN = 160


def missed(outcomes: list[Outcome]) -> Iterator[str]:
    """Each broken run whose fault was not found at its place, and each wrong finding on one."""
    for outcome in outcomes:
        expected = outcome.case.expected
        said = ", ".join(
            f"{f.detector}@{f.round}/{f.call}"
            + (f" recovered {f.recovered_at}" * bool(f.recovered_at))
            for f in outcome.analysis.findings
        )
        troubles = []
        if not outcome.named:
            troubles.append(f"{expected.detector} is not at {expected.places}")
        if outcome.opened is False:
            odd = outcome.analysis.verdict.first_odd
            troubles.append(f"opens at {odd.round if odd else None}, not {expected.odd_round}")
        if outcome.recovery is False:
            troubles.append(f"recovery should be {expected.recovered_at}")
        troubles += [f"wrong: {f.detector}@{f.round}: {f.why}" for f in outcome.wrong]
        if troubles:
            at = expected.places[0][0] if expected.places else 1
            about = {at, *(f.round for f in outcome.wrong)}
            yield f"### {outcome.case.name}\n{'; '.join(troubles)}\nsaid: {said or 'nothing'}\n" + (
                excerpt(outcome.case.run, about)
            )


def false_alarms(controls: list[Control]) -> Iterator[str]:
    for one in controls:
        if one.alarm:
            run = record(one.sketch)
            said = "; ".join(f"{f.detector}@{f.round}: {f.why}" for f in one.wrong)
            rounds = {f.round for f in one.wrong} or {1}
            held = ", ".join(one.sketch.looks)
            flagged = " FLAGGED" if one.flagged else ""
            yield f"### clean/{run.run_id} ({held}){flagged}\n{said}\n{excerpt(run, rounds)}"


def excerpt(run: RunRecord, rounds: set[int]) -> str:
    """The rounds and their neighbours, one line a call."""
    wanted = {n for number in rounds for n in (number - 1, number, number + 1)}
    lines = [line for r in run.rounds if r.number in wanted for line in _lines(r)]
    return "\n".join(f"    {line}" for line in lines)


def _lines(round_: Round) -> Iterator[str]:
    yield f"{round_.number} {round_.stop}/{round_.stop_raw} {round_.reply[:TEXT_SHOWN]!r}"
    for i, call in enumerate(round_.calls):
        result = None if call.result is None else call.result[:TEXT_SHOWN]
        yield f"  [{i}] {call.name} {call.args[:TEXT_SHOWN]} -> {result!r} error={call.is_error}"
