"""Large files read in pieces, so that memory holds one run at a time: a value a line, or one list.

What is neither is read as a whole, as `documents` does. Plain bytes only; `archives` unpacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from transcripts.importers.archives import unreadable
from transcripts.importers.base import Document, ImportProblem
from transcripts.importers.documents import BrokenError, document_of, parsed
from transcripts.importers.parsing import ParseError, parse

# One line or one entry of a list beyond this is refused: it would have to be in memory as a whole.
MAX_VALUE = 256 * 1024**2
_BOM = b"\xef\xbb\xbf"
# `[`, or `{"runs": [`, with nothing else before the list but the name of the format.
_LIST = re.compile(rb'\s*(?:\[|\{\s*(?:"format"\s*:\s*"[^"\\]*"\s*,\s*)?"runs"\s*:\s*\[)')
_OUTSIDE = re.compile(rb'["{}\[\],]')
_INSIDE = re.compile(rb'["\\]')


class Pieces:
    """Bytes that come in pieces, looked at before they are taken."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = bytearray()

    def head(self, size: int) -> bytearray:
        """What comes next, `size` bytes or more, or all that is left. Not to be changed."""
        while len(self._held) < size and (piece := next(self._pieces, None)) is not None:
            self._held += piece
        return self._held

    def more(self) -> bool:
        """Hold one more piece; False at the end."""
        before = len(self._held)
        while len(self._held) == before:
            piece = next(self._pieces, None)
            if piece is None:
                return False
            self._held += piece
        return True

    def take(self, size: int) -> bytes:
        """The next `size` bytes, which are held already."""
        found = bytes(memoryview(self._held)[:size])
        del self._held[:size]
        return found

    def read(self, size: int) -> bytes:
        """The next `size` bytes, or fewer at the end."""
        return self.take(min(size, len(self.head(size))))

    def rest(self) -> bytes:
        """All that is left, at once."""
        parts = [bytes(self._held), *self._pieces]
        self._held.clear()
        return b"".join(parts)


def lines_of(pieces: Pieces) -> Iterator[Document | ImportProblem] | None:
    """The value of each line, where there is one in each; else None, and nothing is taken."""
    ends: list[int] = []
    at = 0
    while len(ends) < 2:
        end = pieces.head(1).find(b"\n", at)
        if end >= 0:
            ends.append(end)
            at = end + 1
        else:
            at = len(pieces.head(1))
            if at > MAX_VALUE or not pieces.more():
                break
    if not ends:
        return None
    first, second = bytes(pieces.head(1)[: ends[0]]), b""
    if len(ends) == 2:
        second = bytes(pieces.head(1)[ends[0] + 1 : ends[1]])
    if _is_value(first.removeprefix(_BOM)) or _is_object(second):
        return _lines(pieces)
    return None


def is_list(pieces: Pieces) -> bool:
    """Whether the content begins as a list of values, or as `{"runs": [`."""
    return bool(_LIST.match(pieces.head(4096).removeprefix(_BOM)))


def first_entry(pieces: Pieces) -> Document | ImportProblem | None:
    """The first entry of a list; nothing is taken. None where there is none."""
    found = _LIST.match(pieces.head(4096).removeprefix(_BOM))
    if found is None:
        return None
    scan = _Scan(len(found[0]) + (len(_BOM) if pieces.head(1).startswith(_BOM) else 0))
    start = scan.at
    while (end := scan.end_of_entry(pieces.head(1))) is None:
        if not pieces.more():
            return None
    return _entry(bytes(pieces.head(1)[start:end]), 0)


def entries(pieces: Pieces) -> Iterator[Document | ImportProblem]:
    """Each entry of a list as a document of its own, and what cannot be read and where."""
    if pieces.head(3).startswith(_BOM):
        pieces.take(len(_BOM))
    found = _LIST.match(pieces.head(4096))
    if found is None:
        raise TypeError("ask is_list first")
    pieces.take(len(found[0]))
    scan = _Scan(0)
    index = 0
    while True:
        end = scan.end_of_entry(pieces.head(1))
        if end is None:
            if len(pieces.head(1)) > MAX_VALUE:
                raise unreadable(f"entry {index} of the list is larger than {MAX_VALUE:,} bytes")
            if not pieces.more():
                yield ImportProblem(
                    f"the JSON breaks off within entry {index} of the list", field=f"$[{index}]"
                )
                return
            continue
        last = pieces.head(1)[end] != ord(",")
        content = pieces.take(end)
        pieces.take(1)
        scan = _Scan(0)
        if content.strip() or not last:
            yield _entry(content, index)
            index += 1
        if last:
            break
    if rest := pieces.head(4096).strip().removeprefix(b"}").strip():
        yield ImportProblem(f"after the list comes something else, {len(rest)} bytes or more")


class _Scan:
    """Looks for the end of an entry, and goes on where it was when more has come."""

    def __init__(self, at: int) -> None:
        self.at = at
        self._depth = 0
        self._in_text = False

    def end_of_entry(self, content: bytearray) -> int | None:
        """The place of the comma or bracket after the entry; None where it is not there yet."""
        while True:
            found = (_INSIDE if self._in_text else _OUTSIDE).search(content, self.at)
            if found is None:
                self.at = len(content)
                return None
            mark, at = content[found.start()], found.start()
            if mark == ord("\\"):
                if at + 1 >= len(content):
                    self.at = at
                    return None
                self.at = at + 2
                continue
            if self._depth == 0 and not self._in_text and mark in b",]}":
                return at
            self.at = at + 1
            if mark == ord('"'):
                self._in_text = not self._in_text
            elif mark in b"{[":
                self._depth += 1
            elif mark in b"}]":
                self._depth -= 1


def _entry(content: bytes, index: int) -> Document | ImportProblem:
    try:
        return document_of(parse(content.decode()), None)
    except UnicodeDecodeError as error:
        return ImportProblem(f"byte {error.start} of the entry is not UTF-8", field=f"$[{index}]")
    except ParseError as error:
        field = f"$[{index}]{error.field.removeprefix('$')}"
        return ImportProblem(f"column {error.column} of the entry: {error.error}", field=field)


def _lines(pieces: Pieces) -> Iterator[Document | ImportProblem]:
    number = 0
    at = 0
    while True:
        end = pieces.head(1).find(b"\n", at)
        if end < 0:
            at = len(pieces.head(1))
            if at > MAX_VALUE:
                raise unreadable(f"line {number + 1} is longer than {MAX_VALUE:,} bytes")
            if pieces.more():
                continue
            end = at
            if not end:
                return
        number += 1
        text = pieces.take(end)
        if pieces.head(1):
            pieces.take(1)
        at = 0
        text = text.removeprefix(_BOM) if number == 1 else text
        if text.strip():
            try:
                yield document_of(parsed(text, number), number)
            except BrokenError as broken:
                yield broken.problem


def _is_value(line: bytes) -> bool:
    try:
        parsed(line, 1)
    except BrokenError:
        return False
    return True


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(parsed(line, 1).value, dict)
    except BrokenError:
        return False
