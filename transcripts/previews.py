"""What is recognised in a file before anything of it is stored, masked."""

from __future__ import annotations

import io
import time
from dataclasses import dataclass, field
from typing import Any

from transcripts.endings import with_ending
from transcripts.importers import ImportProblem, UnreadableError, read_file
from transcripts.masking import Masker, MaskingError
from transcripts.masking.types import MaskedText
from transcripts.record import RunRecord

# A page is waited for, so that of a large file the first part is looked at.
MOST_RUNS = 500
RUNS_TOLD = 5
PROBLEMS_TOLD = 20
MOST_CHARACTERS = 500_000


@dataclass
class _Preview:
    masker: Masker
    formats: list[MaskedText] = field(default_factory=list)
    runs: int = 0
    rounds: int = 0
    told: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, MaskedText]] = field(default_factory=list)
    problems_found: int = 0
    whole: bool = True

    def add(self, run: RunRecord) -> None:
        self.runs += 1
        self.rounds += len(run.rounds)
        if run.format not in self.formats:
            self.formats.append(self.masker.text(run.format))
        if len(self.told) < RUNS_TOLD:
            self.told.append(self._told(run))

    def _told(self, run: RunRecord) -> dict[str, Any]:
        """The run as it would be named. All of it is masked for that, since that a word is a secret
        is sometimes said elsewhere in it; so a run that is too large for that has no title here.
        """
        told = {"run_id": run.run_id, "ticket_id": "", "title": ""}
        try:
            if _characters(run) <= MOST_CHARACTERS:
                masked = with_ending(self.masker.run(run).record, live=False)
                told = {name: getattr(masked, name) for name in told}
            named = {name: self.masker.text(text) for name, text in told.items()}
        except MaskingError:
            named = {name: self.masker.text("") for name in told}
        return {**named, "rounds": len(run.rounds)}

    def problem(self, problem: ImportProblem) -> None:
        self.problems_found += 1
        if len(self.problems) >= PROBLEMS_TOLD:
            return
        try:
            told = {
                "at": self.masker.text(problem.at),
                "error": self.masker.text(problem.error),
            }
        except MaskingError:
            words = "It could not be read, and why could not be masked."
            told = {"at": self.masker.text(""), "error": self.masker.text(words)}
        self.problems.append(told)


def _characters(run: RunRecord) -> int:
    said = sum(len(message.content) for message in run.messages)
    for round_ in run.rounds:
        said += len(round_.reply) + len(round_.reasoning)
        said += sum(len(call.args) + len(call.result or "") for call in round_.calls)
    return said


def file_preview(
    *, content: bytes, file_name: str, masker: Masker, seconds: float
) -> dict[str, Any]:
    """What is in a file: `formats` (names of importers), `runs`, `rounds`, `told` (the first runs),
    `problems` with their places, `problems_found`, and whether it was looked at as a `whole`;
    of a large file `MOST_RUNS` runs are, or as many as `seconds` allow.
    """
    preview = _Preview(masker)
    until = time.monotonic() + seconds
    try:
        for read in read_file(io.BytesIO(content)):
            if isinstance(read, ImportProblem):
                preview.problem(read)
            else:
                preview.add(read)
            if preview.runs >= MOST_RUNS or time.monotonic() > until:
                preview.whole = False
                break
    except UnreadableError as error:
        preview.problem(error.problem)
    try:
        name = masker.text(file_name)
    except MaskingError:
        name = masker.text("a file")
    return {
        "file": name,
        "formats": preview.formats,
        "runs": preview.runs,
        "rounds": preview.rounds,
        "told": preview.told,
        "problems": preview.problems,
        "problems_found": preview.problems_found,
        "whole": preview.whole,
    }
