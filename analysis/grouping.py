"""Which findings of a run are faults that open or join incidents, and what makes two of them the
same fault: the agent, the detector, the tool, and the error in words without what differs.

One fault, one incident. A finding counts where it stands: it is no lead, and the run did not make
up for it (to hand the task off is no making up). Of those the ones that can be a first odd round
count, the first of each tool, since each may have a cause of its own; that the run then repeats
itself, or passes a limit, is what follows from them. Only a run that has no odd one is grouped by
the first of the others, or by how it ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.choices import Severity, VerdictKind
from analysis.detectors.base import Finding
from analysis.detectors.reading.words import excerpt, quoted
from analysis.normalising import normalised_error
from analysis.suite import Analysis
from transcripts.record import Ending, RunRecord

# Raise it when the same finding can get another fingerprint, and make the migration of the index
# that goes by it: runs of before are then grouped anew, in the incidents that they are in.
GROUPING = 2
# A run full of different errors is one broken run, not a hundred incidents.
MOST_FAULTS = 5
# A run that goes on may yet make up for what went wrong in its latest rounds.
LIVE_PATIENCE = 3
# Detectors whose `error` is in the words of the tool, so that a title cites it.
CITED = frozenset({"failed_result", "hidden_error", "retried_failure", "invalid_arguments"})
# What a run is grouped by that no detector explains: how it ended.
ENDED = "ending"
ENDINGS = {
    VerdictKind.STOPPED: "was stopped from outside",
    VerdictKind.CUT_OFF: "was cut off",
    VerdictKind.BLOCKED: "was blocked",
    VerdictKind.UNKNOWN: "ended for an unknown reason",
    VerdictKind.ERROR: "ended with an error",
    VerdictKind.LIMIT_PASSED: "was stopped at the round limit",
    VerdictKind.REPEATS: "was stopped at a repeated call",
    VerdictKind.NEVER_FINISHED: "never finished",
}
TITLE_ERROR_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a run, at its first place there. `brief` is the claim as a clause, `main` marks
    the one that the run is about. `error` is normalised.
    """

    agent: str
    detector: str
    tool: str
    error: str
    round: int
    call: int | None
    brief: str
    main: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """What is compared; equal keys are one fault."""
        return (str(GROUPING), self.agent, self.detector, self.tool, self.error)

    @property
    def title(self) -> str:
        """The fault as a headline in plain words; what it cites stands between “ and ”."""
        said = self.brief
        if not (self.tool and said.startswith(self.tool)):
            said = said[:1].upper() + said[1:]
        if self.error and (self.detector in CITED or self.detector == ENDED):
            return f"{said}: {quoted(self.error, TITLE_ERROR_CHARACTERS)}"
        return said


def faults_of(run: RunRecord, analysis: Analysis) -> list[Fault]:
    """The faults that the run is grouped by, the main one first; none for a run that is not
    flagged, or that only handed its task off.
    """
    if not analysis.verdict.flagged:
        return []
    standing = [each for each in analysis.findings if _counts(run, each)]
    odd = [each for each in standing if each.odd]
    faults: dict[tuple[str, ...], Fault] = {}
    tools: set[str] = set()
    for finding in odd or _main_of_others(analysis, standing):
        if finding.tool in tools:
            # What a tool did first is what is wrong with it; the rest follows from that.
            continue
        tools.update({finding.tool} - {""})
        fault = _fault(run, finding, main=not faults)
        faults.setdefault(fault.key, fault)
        if len(faults) == MOST_FAULTS:
            break
    if not faults:
        return list(_ended(run, analysis))
    return list(faults.values())


def _counts(run: RunRecord, finding: Finding) -> bool:
    if finding.severity == Severity.LEAD:
        return False
    if finding.recovered_at is not None and not finding.handed_off:
        return False
    if run.ending not in (None, Ending.OPEN) or finding.severity == Severity.BREACH:
        return True
    last = run.rounds[-1].number if run.rounds else 0
    return last - finding.round >= LIVE_PATIENCE


def _main_of_others(analysis: Analysis, standing: Sequence[Finding]) -> Sequence[Finding]:
    """The one that says most of a run without an odd finding: a fault before a passed limit."""
    if analysis.verdict.kind == VerdictKind.CLAIMS and not standing:
        return [each for each in analysis.findings if each.detector == "claimed_success"][:1]
    # That it never finished says less than how it ended.
    said = [each for each in standing if each.detector != "never_finished"]
    faults = [each for each in said if each.severity == Severity.FAULT]
    return (faults or said)[:1]


def _fault(run: RunRecord, finding: Finding, *, main: bool) -> Fault:
    return Fault(
        agent=run.agent,
        detector=finding.detector,
        tool=finding.tool,
        error=normalised_error(str(finding.values.get("error") or "")),
        round=finding.round,
        call=finding.call,
        brief=finding.brief,
        main=main,
    )


def _ended(run: RunRecord, analysis: Analysis) -> Iterator[Fault]:
    brief = ENDINGS.get(analysis.verdict.kind)
    if brief is None or not run.rounds:
        return
    last = run.rounds[-1]
    said = run.ending_reason.strip() or last.error.strip()
    yield Fault(
        agent=run.agent,
        detector=ENDED,
        tool="",
        error=normalised_error(said),
        round=last.number,
        call=None,
        brief=f"{excerpt(run.agent, 60) or 'a run'} {brief}",
        main=True,
    )
