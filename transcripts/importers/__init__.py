"""Ways in: one module a transcript format, found by folder and recognised by content.

A module of this folder that has an `IMPORTER` (or several in `IMPORTERS`) is a format; there is no
list.
"""

from __future__ import annotations

import hashlib
import io
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import IO, Any

from transcripts.importers import archives, large, streamed
from transcripts.importers.archives import Content
from transcripts.importers.base import (
    Document,
    Importer,
    ImportProblem,
    Read,
    UnreadableError,
)
from transcripts.importers.documents import is_inspect, read_documents, read_inspect
from transcripts.importers.large import entries_of, read_entries
from transcripts.record import RunRecord

__all__ = [
    "ImportProblem",
    "Importer",
    "UnreadableError",
    "all_importers",
    "importer_for",
    "read_file",
    "read_runs",
]


_STEP = 1024**2
# A plain file that is shorter is read as a whole.
_HEAD = 16 * 1024**2


@cache
def all_importers() -> tuple[Importer, ...]:
    """Every importer, the more special formats first."""
    found: list[Importer] = []
    for module in pkgutil.iter_modules(__path__):
        if not module.ispkg:
            loaded = import_module(f"{__name__}.{module.name}")
            found += getattr(loaded, "IMPORTERS", ())
            found += [loaded.IMPORTER] if hasattr(loaded, "IMPORTER") else []
    return tuple(sorted(found, key=lambda importer: (-importer.priority, importer.name)))


def importer_for(value: Any) -> Importer | None:
    """The importer that recognises a file by its first document."""
    return next((importer for importer in all_importers() if importer.recognise(value)), None)


def read_runs(
    content: Content, *, format: str = "auto", default_run_id: str = ""
) -> Iterator[RunRecord | ImportProblem]:
    """Read the runs of a file, and what of it could not be read and where, in the file's order.

    `content` is the file: JSON or JSONL, plain or packed with gzip, zstd or zip. `format` is an
    importer's name or `auto`. `default_run_id` names a run whose content has no id; without it the
    name is made from the content, so that the same file sent twice is the same run. Raises
    UnreadableError at once when the content as a whole cannot be read.
    """
    if archives.is_zip(content):
        archive = archives.Zip(content)
        if not is_inspect(archive.names):
            return _read_members(archive, format)
    reader = _large_reader(content) or _DocumentReader(read_documents(content))
    return _read_documents(reader, format, default_run_id or _name_of(content))


def read_file(
    file: IO[bytes], *, format: str = "auto", default_run_id: str = ""
) -> Iterator[RunRecord | ImportProblem]:
    """The same of an open file, of which no more is in memory than one run, where its format has a
    run in each line or in each entry of a list. What unpacks to 16 MB or less, and what is one
    value, is read as a whole.

    A file that cannot be sought in (a pipe) and needs a name for its runs is named by its head.
    """
    head = file.read(_HEAD)
    if archives.is_zip(head):
        archive = archives.Zip(_sought(file, head), most=archives.MAX_STREAMED)
        if not is_inspect(archive.names):
            return _read_members(archive, format)
        name = default_run_id or _name_of_file(file, head)
        return _read_documents(_DocumentReader(read_inspect(archive)), format, name)
    if len(head) < _HEAD and not archives.is_packed(head):
        return read_runs(head, format=format, default_run_id=default_run_id)
    name = default_run_id or _name_of_file(file, head)
    steps = archives.unpacking(_after(head, file), most=archives.MAX_STREAMED)
    return _read_pieces(streamed.Pieces(steps), format, name)


def _read_pieces(pieces: streamed.Pieces, format: str, name: str) -> Iterator[Read]:
    if len(pieces.head(large.LARGE + 1)) <= large.LARGE:
        return read_runs(pieces.rest(), format=format, default_run_id=name)
    documents = streamed.lines_of(pieces)
    if documents is None and streamed.is_list(pieces):
        first = streamed.first_entry(pieces)
        importer = importer_for(first.value) if isinstance(first, Document) else None
        if importer is not None and importer.one_by_one:
            documents = streamed.entries(pieces)
    if documents is None:
        return read_runs(pieces.rest(), format=format, default_run_id=name)
    return _read_documents(_DocumentReader(documents), format, name)


def _read_documents(reader: _DocumentReader, format: str, default_run_id: str) -> Iterator[Read]:
    first = next(reader, None)
    if first is None:
        raise UnreadableError(reader.problems[0])
    importer = _named(format) if format != "auto" else importer_for(first.value)
    if importer is None:
        raise UnreadableError(ImportProblem(_unknown(first.value), first.line))
    if format != "auto" and not importer.recognise(first.value):
        raise UnreadableError(ImportProblem(f"this is not {importer.title}", first.line))
    reader.put_back(first)
    return _read(importer, reader, default_run_id)


def _large_reader(content: Content) -> _DocumentReader | None:
    """A reader of the entries of a large list, where its format takes them one by one."""
    entries = entries_of(content)
    if not entries:
        return None
    reader = _DocumentReader(read_entries(entries))
    first = next(reader, None)
    importer = importer_for(first.value) if first else None
    if first is None or importer is None or not importer.one_by_one:
        return None
    reader.put_back(first)
    return reader


def _read_members(archive: archives.Zip, format: str) -> Iterator[Read]:
    """The runs of each file in a zip file; those without an id are named by the file."""
    if not archive.names:
        raise archives.unreadable("the zip file is empty")
    return _each_member(archive, format)


def _each_member(archive: archives.Zip, format: str) -> Iterator[Read]:
    for name in archive.names:
        stem = name.rpartition("/")[2].partition(".")[0]
        try:
            for found in _read_member(archive, name, format, stem):
                yield _in_member(found, name)
        except UnreadableError as error:
            yield _in_member(error.problem, name)


def _read_member(archive: archives.Zip, name: str, format: str, stem: str) -> Iterator[Read]:
    pieces = streamed.Pieces(archive.steps(name))
    if archives.is_zip(pieces.head(4)):
        content = pieces.rest()
        if not is_inspect(archives.Zip(content).names):
            raise archives.unreadable("a zip file within a zip file is not opened")
        return read_runs(content, format=format, default_run_id=stem)
    if archives.is_packed(pieces.head(4)):
        pieces = streamed.Pieces(archives.unpacking(pieces.read, most=archives.MAX_STREAMED))
    return _read_pieces(pieces, format, stem)


def _in_member(found: Read, name: str) -> Read:
    if isinstance(found, ImportProblem):
        return replace(found, error=f"in {name[:200]}: {found.error}")
    return found


def _read(importer: Importer, reader: _DocumentReader, default_run_id: str) -> Iterator[Read]:
    count = 0
    for found in importer.read(reader, default_run_id):
        yield from reader.take_problems()
        count += 1
        if isinstance(found, RunRecord):
            notes = (*found.notes, *reader.take_notes())
            yield replace(found, notes=notes, format=found.format or importer.name)
        else:
            yield found
    yield from reader.take_problems()
    if not count:
        yield ImportProblem("there are no runs in it")


class _DocumentReader:
    """Hands out the documents and keeps the problems met between them, with what was replaced."""

    def __init__(self, source: Iterator[Document | ImportProblem]) -> None:
        self._source = source
        self._put_back: list[Document] = []
        self.problems: list[ImportProblem] = []
        self._notes: dict[str, None] = {}

    def __iter__(self) -> _DocumentReader:
        return self

    def __next__(self) -> Document:
        if self._put_back:
            return self._put_back.pop()
        for found in self._source:
            if isinstance(found, Document):
                self._notes.update(dict.fromkeys(found.notes))
                return found
            self.problems.append(found)
            place = f" {found.line}" if found.line else ""
            self._notes.setdefault(f"Line{place} of the file could not be read.")
        raise StopIteration

    def put_back(self, document: Document) -> None:
        self._put_back.append(document)

    def take_problems(self) -> list[ImportProblem]:
        problems, self.problems = self.problems, []
        return problems

    def take_notes(self) -> list[str]:
        notes, self._notes = list(self._notes), {}
        return notes


def _named(name: str) -> Importer:
    for importer in all_importers():
        if importer.name == name:
            return importer
    known = ", ".join(sorted(importer.name for importer in all_importers()))
    raise UnreadableError(ImportProblem(f'there is no format "{name}"; there are: {known}'))


def _unknown(value: Any) -> str:
    if isinstance(value, dict):
        keys = ", ".join(f'"{key[:40]}"' for key in list(value)[:12])
        shape = f"an object with the keys {keys}" if keys else "an empty object"
    elif isinstance(value, list):
        shape = f"a list of {len(value)} values" if value else "an empty list"
    else:
        shape = "a single value"
    return f"this is valid JSON of a shape that no importer knows: {shape}"


def _name_of(content: Content) -> str:
    return f"run-{hashlib.blake2b(content, digest_size=8).hexdigest()}"


def _name_of_file(file: IO[bytes], head: bytes) -> str:
    """The name that `read_runs` gives the same content; of its head where it can be read once."""
    if not file.seekable():
        return _name_of(head)
    after = file.tell()
    file.seek(0)
    digest = hashlib.blake2b(digest_size=8)
    for step in iter(partial(file.read, _STEP), b""):
        digest.update(step)
    file.seek(after)
    return f"run-{digest.hexdigest()}"


def _sought(file: IO[bytes], head: bytes) -> IO[bytes]:
    """A file that can be sought in: a zip file's directory stands at its end."""
    if file.seekable():
        return file
    steps = [head]
    for step in iter(partial(file.read, _STEP), b""):
        steps.append(step)
        if sum(map(len, steps)) > archives.MAX_UNPACKED:
            raise archives.unreadable("a zip file of this size cannot be read from a pipe")
    return io.BytesIO(b"".join(steps))


def _after(head: bytes, file: IO[bytes]) -> Callable[[int], bytes]:
    """Reads `head` first, then the file."""
    begun = io.BytesIO(head)
    return lambda size: begun.read(size) or file.read(size)
