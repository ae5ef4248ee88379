"""Bytes to documents: compression, encoding, and whether a file is one JSON value or one a line."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import replace

from transcripts.importers import archives
from transcripts.importers.archives import Content
from transcripts.importers.base import Document, ImportProblem, UnreadableError
from transcripts.importers.literals import MAX_LITERAL, python_literal
from transcripts.importers.parsing import Parsed, ParseError, parse
from transcripts.importers.spans.protobuf import Request, looks_like_spans

_STEP = 1024**2
_INSPECT_HEADER = "header.json"
_INSPECT_START = "_journal/start.json"
_CASSETTE = re.compile(rb"(?:---\s*\n)?(?:version: \d+\n)?interactions:\s*\n")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_documents(content: Content) -> Iterator[Document | ImportProblem]:
    """Read each JSON value of `content`, and say of each line that cannot be read where it breaks.

    Takes JSON and JSONL, plain or packed with gzip or zstd, Inspect's zip files, and OTLP requests
    in protobuf. Raises
    UnreadableError before the first document when nothing can be read at all.
    """
    if archives.is_zip(content):
        return read_inspect(archives.Zip(content))
    plain = _decoded(archives.unpacked(content))
    if plain[:1] == b"\n" and looks_like_spans(bytes(plain)):
        return iter((Document(Request(bytes(plain))),))
    start, line = _first_content(plain)
    end = plain.find(b"\n", start)
    if end < 0 or not _more_content(plain, end):
        return iter((document_of(_whole(plain, start, line), None),))
    try:
        first = parsed(plain[start:end], line)
    except BrokenError as broken:
        return _whole_or_lines(plain, start, line, broken.problem)
    return _lines(plain, end + 1, line + 1, document_of(first, line))


class BrokenError(Exception):
    """A value that cannot be read; `problem` says where."""

    def __init__(self, problem: ImportProblem) -> None:
        super().__init__(problem.error)
        self.problem = problem


def _decoded(content: Content) -> Content:
    """The content as UTF-8; what Windows shells write as UTF-16 is turned into it."""
    head = bytes(content[:2])
    if head not in _UTF16:
        return content
    try:
        return bytes(content).decode("utf-16").encode()
    except UnicodeError as error:
        raise archives.unreadable(f"is marked as UTF-16 and is not: {error}") from None


def is_inspect(names: list[str]) -> bool:
    """Whether the members of a zip file are those of an Inspect log."""
    return _INSPECT_HEADER in names or _INSPECT_START in names


def read_inspect(archive: archives.Zip) -> Iterator[Document | ImportProblem]:
    """The header of an Inspect log, or what it started with where it was cut off, then its
    samples.
    """
    names = archive.names
    header = _INSPECT_HEADER if _INSPECT_HEADER in names else _INSPECT_START
    samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
    for name in [header, *samples]:
        try:
            yield document_of(_whole(archive.read(name), 0, 1), None)
        except UnreadableError as error:
            if name == header:
                raise
            yield replace(error.problem, error=f"in {name[:200]}: {error.problem.error}")


def _first_content(content: Content) -> tuple[int, int]:
    """Where the first character that is no space stands, and in which line."""
    start = len(codecs.BOM_UTF8) if content[:3] == codecs.BOM_UTF8 else 0
    line = 1
    while start < len(content):
        step = bytes(content[start : start + _STEP])
        stripped = step.lstrip()
        line += step[: len(step) - len(stripped)].count(b"\n")
        if stripped:
            return start + len(step) - len(stripped), line
        start += len(step)
    raise archives.unreadable("there is no content")


def _more_content(content: Content, at: int) -> bool:
    while at < len(content):
        if content[at : at + _STEP].strip():
            return True
        at += _STEP
    return False


def document_of(parsed: Parsed, line: int | None) -> Document:
    """A parsed value as a document that says what had to be replaced in it."""
    notes = []
    if parsed.nuls:
        notes.append(f"NUL characters, shown as \u2400: {parsed.nuls}")
    if parsed.literal:
        notes.append("This file is a Python literal, not JSON.")
    if parsed.surrogates:
        notes.append(f"Half characters (lone surrogates), shown as \ufffd: {parsed.surrogates}")
    return Document(parsed.value, line, tuple(notes))


def _whole(content: Content, start: int, line: int) -> Parsed:
    try:
        return parsed(content[start:], line)
    except BrokenError as broken:
        if _CASSETTE.match(bytes(content[start : start + 100])):
            # YAML takes a third of the time that all importers take to load.
            from transcripts.importers.cassettes import read_cassette

            return read_cassette(bytes(content[start:]))
        literal = python_literal(bytes(content[start : start + MAX_LITERAL + 1]))
        if literal is not None:
            return literal
        raise UnreadableError(broken.problem) from None


def _whole_or_lines(
    content: Content, start: int, line: int, first: ImportProblem
) -> Iterator[Document | ImportProblem]:
    """One value over many lines, or lines of which the first is broken."""
    try:
        return iter((document_of(_whole(content, start, line), None),))
    except UnreadableError:
        end = content.find(b"\n", start)
        rest = _lines(content, end + 1, line + 1, first)
        next(rest)
        second = next(rest, None)
        if isinstance(second, Document) and isinstance(second.value, dict):
            return _lines(content, end + 1, line + 1, first)
        raise


def _lines(
    content: Content, at: int, line: int, first: Document | ImportProblem
) -> Iterator[Document | ImportProblem]:
    yield first
    while at < len(content):
        end = content.find(b"\n", at)
        if end < 0:
            end = len(content)
        text = content[at:end]
        if text.strip():
            try:
                yield document_of(parsed(text, line), line)
            except BrokenError as broken:
                yield broken.problem
        at = end + 1
        line += 1


def parsed(content: bytes | bytearray, line: int) -> Parsed:
    """Parse bytes that start in `line`; raises BrokenError."""
    try:
        return parse(content.decode())
    except UnicodeDecodeError as error:
        before = content[: error.start]
        column = error.start - before.rfind(b"\n")
        problem = ImportProblem(
            f"column {column}: byte 0x{content[error.start]:02x} is not UTF-8",
            line + before.count(b"\n"),
        )
    except ParseError as error:
        problem = ImportProblem(
            f"column {error.column}: {error.error}", line + error.line - 1, field=error.field
        )
    raise BrokenError(problem)
