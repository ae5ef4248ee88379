"""Real runs by other people: each alarm on them is to be looked at by eye.

What `transcripts.importers` knows is read by it. Other shapes of the collection are read plainly
here, so that the detectors meet real texts whatever the importers know by now.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis.choices import Severity
from analysis.suite import analyse
from bench.detect.corpus_shapes import Said, shape_of
from transcripts.endings import with_ending
from transcripts.importers import UnreadableError, read_runs
from transcripts.record import (
    Call,
    InputChange,
    Message,
    Placed,
    Round,
    RunLimits,
    RunRecord,
    Stop,
)

NOT_RUNS = {".md", ".txt", ".yaml", ".eval"}


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


def corpus_runs(root: Path) -> Iterator[CorpusRun]:
    """Every run under `root` that can be read, with its alarms, by file name."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix not in NOT_RUNS and "LICENSE" not in path.name:
            for run in records(path):
                yield look_at(run, path.relative_to(root))


def look_at(run: RunRecord, file: Path) -> CorpusRun:
    analysis = analyse(run)
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


def records(path: Path) -> list[RunRecord]:
    """The runs of a file, by the importers or else plainly; none where neither knows it."""
    content = path.read_bytes()
    try:
        found = [run for run in read_runs(content) if isinstance(run, RunRecord)]
    except UnreadableError:
        found = [
            replace(chat_run(name, said), ending=ending)
            for name, said, ending in shape_of(_documents(content), path)
            if any(one.calls or one.role == "assistant" for one in said)
        ]
    # Nobody set a limit for these agents, and their lengths are not what is looked at.
    return [with_ending(_unlimited(run), live=False) for run in found]


def _unlimited(run: RunRecord) -> RunRecord:
    return replace(run, limits=RunLimits(rounds=max(200, len(run.rounds))))


def _documents(content: bytes) -> list[Any]:
    text = content.decode("utf-8", errors="replace")
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        pass
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def chat_run(run_id: str, said: list[Said]) -> RunRecord:
    """A run of a chat: each reply is a round, and it read all that was said before."""
    messages: list[Message] = []
    rounds: list[Round] = []
    fresh: list[Placed] = []
    places: dict[str, tuple[int, int]] = {}
    calls: dict[int, list[Call]] = {}
    for i, one in enumerate(said):
        key = f"m{i}"
        if one.role == "assistant":
            number = len(rounds) + 1
            stop = Stop.WANTS_TOOL if one.calls else Stop.FINISHED
            rounds.append(Round(number, stop, None, one.text, input=InputChange(tuple(fresh))))
            calls[number] = [Call(name, args, id=ident) for ident, name, args in one.calls]
            places |= {call.id: (number, k) for k, call in enumerate(calls[number])}
            messages.append(Message(key, "assistant", reply_of=number))
            fresh = [Placed(key)]
            continue
        place = places.get(one.answers) if one.answers else None
        if place is None:
            messages.append(Message(key, one.role, one.text))
        else:
            old = calls[place[0]][place[1]]
            calls[place[0]][place[1]] = Call(
                old.name, old.args, one.text, one.is_error, old.id, joined="id"
            )
            messages.append(Message(key, "tool", result_of=place))
        fresh.append(Placed(key))
    whole = tuple(
        Round(r.number, r.stop, None, r.reply, calls=tuple(calls[r.number]), input=r.input)
        for r in rounds
    )
    return RunRecord(run_id, whole, tuple(messages), format="chat")
