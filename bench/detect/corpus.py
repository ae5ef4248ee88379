"""Real runs by other people, read by the importers: each alarm is to be looked at by eye."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.choices import Severity
from analysis.detectors.limits import Limits
from analysis.suite import analyse
from transcripts.endings import with_ending
from transcripts.importers import UnreadableError, read_runs
from transcripts.record import RunRecord

JUDGED = Path(__file__).with_name("judged.csv")
"""What a person said of each alarm: file, run, round, detector, right or wrong, and why wrong: by a
`rule`, or because of how the file was `read`."""
NOT_RUNS = {".md", ".txt"}
LENGTHS = Limits(rounds=200)
"""How long a run may be was never said for these agents, and is not what is looked at."""


@dataclass(frozen=True)
class Alarm:
    file: str
    run_id: str
    round: int
    call: int | None
    detector: str
    severity: Severity
    recovered_at: int | None
    why: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.file, self.run_id, str(self.round), self.detector


@dataclass(frozen=True)
class CorpusRun:
    """A real run and what is said of it. `standing`: alarms that are no lead and unrecovered."""

    folder: str
    file: str
    run_id: str
    rounds: int
    flagged: bool
    alarms: tuple[Alarm, ...]

    @property
    def standing(self) -> list[Alarm]:
        return [a for a in self.alarms if a.severity != Severity.LEAD and a.recovered_at is None]


@dataclass(frozen=True)
class Corpus:
    """The runs under a folder, and the files that no importer can read."""

    runs: list[CorpusRun]
    unread: list[str]


def read_corpus(root: Path) -> Corpus:
    corpus = Corpus([], [])
    for path in sorted(root.rglob("*")):
        if not path.is_file() or path.suffix in NOT_RUNS or "LICENSE" in path.name:
            continue
        try:
            corpus.runs.extend(look_at(run, path.relative_to(root)) for run in runs_in(path))
        except UnreadableError:
            corpus.unread.append(str(path.relative_to(root)))
    return corpus


def runs_in(path: Path) -> Iterator[RunRecord]:
    """The runs of a file, each over; raises UnreadableError where no importer knows its shape."""
    for run in read_runs(path.read_bytes()):
        if isinstance(run, RunRecord):
            yield with_ending(run, live=False)


def look_at(run: RunRecord, file: Path) -> CorpusRun:
    analysis = analyse(run, LENGTHS)
    alarms = tuple(
        Alarm(
            str(file),
            run.run_id,
            finding.round,
            finding.call,
            finding.detector,
            finding.severity,
            finding.recovered_at,
            finding.why,
        )
        for finding in analysis.findings
    )
    flagged = analysis.verdict.flagged
    return CorpusRun(file.parts[0], str(file), run.run_id, len(run.rounds), flagged, alarms)


def judged() -> dict[tuple[str, str, str, str], str]:
    """By alarm: `right`, or `wrong: ` and why."""
    with JUDGED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return {
        (run_file, run_id, number, detector): f"{verdict}: {why}" if why else verdict
        for run_file, run_id, number, detector, verdict, why in rows
    }
