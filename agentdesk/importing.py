"""Imports an open file here and now, in constant memory, and tells what became of it.

A small file is one delivery. A large one is read in pieces, and what is read becomes deliveries in
the native format, so that every way in is masked, stored and set aside by the same code.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, cast
from uuid import UUID

from agentdesk.pipeline import delivery_process
from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.export.native import native_text
from transcripts.importers import ImportProblem, UnreadableError, archives, read_file
from transcripts.models import Delivery, Project
from transcripts.queueing import RUN_ANALYSE, enqueue
from transcripts.record import RunRecord
from transcripts.services.deliveries import delivery_accept

# Up to here a file is one delivery, unpacked; beyond, so much of what was read of it is one.
SMALL_BYTES = 4 * 1024**2
BATCH_BYTES = 4 * 1024**2
BATCH_RUNS = 64
PROBLEMS_KEPT = 1000
NAMES_KEPT = 6


@dataclass
class FileReport:
    """What became of a file. Rounds are counted; `problems` are places and words, the first
    `PROBLEMS_KEPT`; `quarantined` are receipts. `gone`: runs that are not kept,
    since they were erased before. `unreadable`: nothing of it could be read.
    """

    file: str
    runs: int = 0
    names: list[str] = field(default_factory=list)
    new: int = 0
    repeated: int = 0
    replaced: int = 0
    gone: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)
    problems_found: int = 0
    quarantined: list[str] = field(default_factory=list)
    unreadable: bool = False

    @property
    def rounds(self) -> int:
        return self.new + self.repeated + self.replaced

    def problem(self, at: str, error: str) -> None:
        self.problems_found += 1
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append((at, error))

    def add(self, delivery: Delivery) -> None:
        """Take in what became of a delivery."""
        outcome = delivery.outcome
        self.runs += outcome.get("runs_stored", 0)
        self.new += outcome.get("rounds_new", 0)
        self.repeated += outcome.get("rounds_folded", 0)
        self.replaced += outcome.get("rounds_replaced", 0)
        self.gone += outcome.get("runs_gone", 0)
        told = [run["run_id"] for run in outcome.get("runs", ())]
        self.names = list(dict.fromkeys([*self.names, *told]))[:NAMES_KEPT]
        if delivery.state == DeliveryState.STORED:
            return
        self.quarantined.append(str(delivery.pk))
        found = outcome.get("problems") or [{"at": delivery.error_at, "error": delivery.error}]
        for problem in found:
            self.problem(problem["at"], problem["error"])
        self.problems_found += max(0, outcome.get("problems_found", 0) - len(found))


def file_import(
    *,
    project: Project,
    file: IO[bytes],
    name: str,
    format: str = "auto",
    seen: Callable[[FileReport], None] = lambda report: None,
) -> FileReport:
    """Store the runs of an open file, which may be a pipe. Doing it again changes nothing, so what
    was interrupted is just started again. `seen` is told after each delivery.
    """
    report = FileReport(name)
    content = file.read(SMALL_BYTES + 1)
    if not content.strip():
        report.unreadable = True
        report.problem("", "there is no content")
    elif len(content) <= SMALL_BYTES and _is_small(content):
        _deliver(project, content, format, name, report)
    else:
        if file.seekable():
            file.seek(0)
            whole = file
        else:
            whole = cast(IO[bytes], _Continued(content, file))
        del content
        _import_pieces(project, whole, format, report, seen)
    seen(report)
    return report


def _is_small(content: bytes) -> bool:
    """Whether a file may be unpacked in memory; the pipeline says what of a file is damaged."""
    try:
        if archives.is_zip(content):
            return archives.Zip(content).size <= SMALL_BYTES
        size = 0
        for step in archives.unpacking(io.BytesIO(content).read):
            size += len(step)
            if size > SMALL_BYTES:
                return False
    except UnreadableError:
        return True
    return True


def _import_pieces(
    project: Project,
    file: IO[bytes],
    format: str,
    report: FileReport,
    seen: Callable[[FileReport], None],
) -> None:
    try:
        for batch in _batches(read_file(file, format=format), report):
            _deliver(project, batch, "native", report.file, report)
            seen(report)
    except UnreadableError as error:
        report.unreadable = not report.runs
        report.problem(error.problem.at, error.problem.error)


def _batches(found: Iterator[RunRecord | ImportProblem], report: FileReport) -> Iterator[bytes]:
    """Runs as lines of the native format, as many as are stored at once. What breaks off comes
    after what was read before it.
    """
    lines: list[bytes] = []
    size = 0
    broken: UnreadableError | None = None
    try:
        for read in found:
            if isinstance(read, ImportProblem):
                report.problem(read.at, read.error)
                continue
            lines.append(native_text(read).encode())
            size += len(lines[-1])
            if size >= BATCH_BYTES or len(lines) >= BATCH_RUNS:
                yield b"\n".join(lines)
                lines, size = [], 0
    except UnreadableError as error:
        broken = error
    if lines:
        yield b"\n".join(lines)
    if broken is not None:
        raise broken


def _deliver(project: Project, content: bytes, format: str, name: str, report: FileReport) -> None:
    """Here and now: who imports by hand wants to see what came of it, workers or not."""
    delivery, _ = delivery_accept(
        project=project,
        kind=DeliveryKind.FILE,
        content=content,
        format=format,
        file_name=name,
    )
    for run_pk in delivery_process(UUID(str(delivery.pk))):
        enqueue(RUN_ANALYSE, run_pk)
    report.add(Delivery.objects.defer("body").get(pk=delivery.pk))


class _Continued(io.RawIOBase):
    """A pipe of which the head was read already."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> Any:
        return self._head.read(size) or self._rest.read(size)
