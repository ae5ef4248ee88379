"""What an importer is, and how it says what it could not read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from transcripts.importers.fields import FieldError
from transcripts.record import RunRecord


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON value of a file; `line` is its line (from 1) in JSONL, None in a file that is one
    value.

    `notes` say what had to be replaced in it so that it can be stored.
    """

    value: Any
    line: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """What could not be read, and where: line (from 1), run id, and field as a JSON path
    (`$.rounds[2].stop`).
    """

    error: str
    line: int | None = None
    run_id: str = ""
    field: str = ""

    @property
    def at(self) -> str:
        """The place in words: "line 3, run vpn-20931, $.rounds[2].stop"; empty for the file as a
        whole.
        """
        parts = [
            f"line {self.line}" if self.line else "",
            f"run {self.run_id}" if self.run_id else "",
            self.field,
        ]
        return ", ".join(part for part in parts if part)

    def __str__(self) -> str:
        return f"{self.at}: {self.error}" if self.at else self.error


class UnreadableError(ValueError):
    """The content as a whole cannot be read; `problem` says why and where."""

    def __init__(self, problem: ImportProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


# What `read` of an importer yields: runs that could be read, and problems with those that could
# not.
Read = RunRecord | ImportProblem


@dataclass(frozen=True, slots=True)
class Importer:
    """One transcript format.

    `recognise` looks at the first document alone and answers whether the file is of this format;
    more special formats have a higher `priority`. `read` turns all documents into runs, streaming;
    `default_run_id` names a run whose content has no id. `one_by_one`: a list of documents means
    the same as one document a line, so that a large list need not be in memory at once.
    """

    name: str
    title: str
    recognise: Callable[[Any], bool]
    read: Callable[[Iterator[Document], str], Iterator[Read]]
    priority: int = 0
    one_by_one: bool = False


def each_document(
    recognise: Callable[[Any], bool], runs_of: Callable[[Any, str], Iterable[Read]], title: str
) -> Callable[[Iterator[Document], str], Iterator[Read]]:
    """The `read` of a format of which each document is one run or several by itself.

    `runs_of` takes a recognised value and the id for a run without one, and may raise FieldError. A
    run without an id in a later document is named by the line too. A document of another shape is
    told as a problem.
    """

    def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
        for count, document in enumerate(documents):
            if not recognise(document.value):
                yield ImportProblem(f"this is not {title}", document.line)
                continue
            run_id = default_run_id if not count else f"{default_run_id}-{document.line}"
            try:
                for found in runs_of(document.value, run_id):
                    yield located(found, document.line)
            except FieldError as error:
                yield ImportProblem(error.error, document.line, error.run_id, error.field)

    return read


def located(found: Read, line: int | None) -> Read:
    """A problem with the line of the document that it was found in; runs as they are."""
    if isinstance(found, ImportProblem) and found.line is None:
        return replace(found, line=line)
    return found
