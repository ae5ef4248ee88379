"""Bytes to documents: compression, encoding, and whether a file is one JSON value or one a line."""

from __future__ import annotations

import codecs
import mmap
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import zstandard

from transcripts.importers.base import Document, ImportProblem, UnreadableError
from transcripts.importers.parsing import Parsed, ParseError, parse

Content = bytes | bytearray | mmap.mmap

# A file that unpacks to more than this is refused: it is larger than any delivery may be.
MAX_UNPACKED = 2 * 1024**3
# Repeated history packs 100 to 400 times smaller; a bomb packs 1,000 times and more.
MAX_RATIO = 1000
_RATIO_FROM = 64 * 1024**2
_STEP = 1024**2
# As much as `zstd --long=27` writes; more would let a small file ask for gigabytes.
_MAX_WINDOW = 2**27

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_documents(content: Content) -> Iterator[Document | ImportProblem]:
    """Read each JSON value of `content`, and say of each line that cannot be read where it breaks.

    Takes JSON and JSONL, plain or packed with gzip or zstd. Raises UnreadableError before the first
    document when nothing can be read at all.
    """
    plain = _decoded(_unpacked(content))
    start, line = _first_content(plain)
    end = plain.find(b"\n", start)
    if end < 0 or not _more_content(plain, end):
        return iter((_document(_whole(plain, start, line), None),))
    try:
        first = _parsed(plain[start:end], line)
    except _BrokenError as broken:
        return _whole_or_lines(plain, start, line, broken.problem)
    return _lines(plain, end + 1, line + 1, _document(first, line))


class _BrokenError(Exception):
    def __init__(self, problem: ImportProblem) -> None:
        super().__init__(problem.error)
        self.problem = problem


@dataclass(slots=True)
class _Counter:
    """Watches how much an archive unpacks to."""

    packed: int
    unpacked: int = 0

    def add(self, count: int) -> None:
        self.unpacked += count
        if self.unpacked > MAX_UNPACKED:
            raise _unreadable(f"unpacks to more than {MAX_UNPACKED // 1024**2} MB")
        if self.unpacked > _RATIO_FROM and self.unpacked > self.packed * MAX_RATIO:
            raise _unreadable(
                f"unpacks to more than {MAX_RATIO} times its size, which no transcript does"
            )


def _unreadable(error: str) -> UnreadableError:
    return UnreadableError(ImportProblem(error))


def _unpacked(content: Content) -> Content:
    head = bytes(content[:4])
    if head.startswith(_GZIP):
        return b"".join(_gunzip(content))
    if head == _ZSTD:
        return b"".join(_unzstd(content))
    return content


def _gunzip(content: Content) -> Iterator[bytes]:
    counter = _Counter(len(content))
    at = 0
    while at < len(content):
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            step = bytes(content[at : at + _STEP])
            if not step and not stream.unconsumed_tail:
                raise _unreadable(f"the gzip content breaks off at byte {len(content)}")
            try:
                out = stream.decompress(stream.unconsumed_tail + step, _STEP)
            except zlib.error as error:
                raise _unreadable(f"the gzip content is damaged near byte {at}: {error}") from None
            at += len(step)
            counter.add(len(out))
            yield out
        at -= len(stream.unused_data)
        # Files padded to a block size end in zero bytes.
        if not bytes(content[at : at + _STEP]).strip(b"\0"):
            return


def _unzstd(content: Content) -> Iterator[bytes]:
    counter = _Counter(len(content))
    at = 0
    while at < len(content):
        stream = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj()
        while not stream.eof:
            # Small steps: a block of four bytes can unpack to 128 KB, and one step is never cut
            # short.
            step = bytes(content[at : at + 512])
            if not step:
                raise _unreadable(f"the zstd content breaks off at byte {len(content)}")
            try:
                out = stream.decompress(step)
            except zstandard.ZstdError as error:
                raise _unreadable(f"the zstd content is damaged near byte {at}: {error}") from None
            at += len(step)
            counter.add(len(out))
            yield out
        at -= len(stream.unused_data)


def _decoded(content: Content) -> Content:
    """The content as UTF-8; what Windows shells write as UTF-16 is turned into it."""
    head = bytes(content[:2])
    if head not in _UTF16:
        return content
    try:
        return bytes(content).decode("utf-16").encode()
    except UnicodeError as error:
        raise _unreadable(f"is marked as UTF-16 and is not: {error}") from None


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
    raise _unreadable("there is no content")


def _more_content(content: Content, at: int) -> bool:
    while at < len(content):
        if content[at : at + _STEP].strip():
            return True
        at += _STEP
    return False


def _document(parsed: Parsed, line: int | None) -> Document:
    notes = []
    if parsed.nuls:
        notes.append(f"NUL characters, shown as \u2400: {parsed.nuls}")
    if parsed.surrogates:
        notes.append(f"Half characters (lone surrogates), shown as \ufffd: {parsed.surrogates}")
    return Document(parsed.value, line, tuple(notes))


def _whole(content: Content, start: int, line: int) -> Parsed:
    try:
        return _parsed(content[start:], line)
    except _BrokenError as broken:
        raise UnreadableError(broken.problem) from None


def _whole_or_lines(
    content: Content, start: int, line: int, first: ImportProblem
) -> Iterator[Document | ImportProblem]:
    """One value over many lines, or lines of which the first is broken."""
    try:
        return iter((_document(_parsed(content[start:], line), None),))
    except _BrokenError as broken:
        end = content.find(b"\n", start)
        rest = _lines(content, end + 1, line + 1, first)
        next(rest)
        second = next(rest, None)
        if isinstance(second, Document) and isinstance(second.value, dict):
            return _lines(content, end + 1, line + 1, first)
        raise UnreadableError(broken.problem) from None


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
                yield _document(_parsed(text, line), line)
            except _BrokenError as broken:
                yield broken.problem
        at = end + 1
        line += 1


def _parsed(content: bytes | bytearray, line: int) -> Parsed:
    """Parse bytes that start in `line`."""
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
    raise _BrokenError(problem)
