"""Unpacking: gzip, zstd and zip, within limits of size and ratio, in memory alone."""

from __future__ import annotations

import io
import mmap
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO

import zstandard

from transcripts.importers.base import ImportProblem, UnreadableError

Content = bytes | bytearray | mmap.mmap

# A file that unpacks to more than this is refused where it is read as a whole: it is larger than
# any delivery may be.
MAX_UNPACKED = 2 * 1024**3
# The same for one that is read in pieces, which costs time but no memory.
MAX_STREAMED = 64 * 1024**3
# Repeated history packs 100 to 400 times smaller; a bomb packs 1,000 times and more.
MAX_RATIO = 1000
_RATIO_FROM = 64 * 1024**2
_STEP = 1024**2
# As much as `zstd --long=27` writes; more would let a small file ask for gigabytes.
_MAX_WINDOW = 2**27

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# The zip method of Zstandard, which Inspect writes and Python before 3.14 does not read.
_ZIP_ZSTD = 93
_MAX_MEMBERS = 100_000


@dataclass(slots=True)
class Counter:
    """Watches how much an archive unpacks to: bytes that went in and came out so far."""

    packed: int = 0
    unpacked: int = 0
    most: int = 0

    def add(self, count: int) -> None:
        self.unpacked += count
        most = self.most or MAX_UNPACKED
        if self.unpacked > most:
            raise unreadable(f"unpacks to more than {most // 1024**2:,} MB")
        if self.unpacked > _RATIO_FROM and self.unpacked > self.packed * MAX_RATIO:
            raise unreadable(
                f"unpacks to more than {MAX_RATIO} times its size, which no transcript does"
            )


def unreadable(error: str) -> UnreadableError:
    return UnreadableError(ImportProblem(error))


def is_zip(content: Content) -> bool:
    return bytes(content[:4]) in _ZIP


class Zip:
    """The members of a zip file, by name; nothing is written to a disk, so that a name is only a
    name.
    """

    def __init__(self, content: Content | IO[bytes], *, most: int = 0) -> None:
        """`content`: the file as bytes, or open and seekable. `most`: what it may unpack to."""
        self._source = (
            io.BytesIO(content) if isinstance(content, bytes | bytearray | mmap.mmap) else content
        )
        self._counter = Counter(self._source.seek(0, io.SEEK_END), most=most)
        try:
            self._file = zipfile.ZipFile(self._source)
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise unreadable(f"the zip file is damaged: {error}") from None
        if len(self._file.infolist()) > _MAX_MEMBERS:
            raise unreadable(f"the zip file has more than {_MAX_MEMBERS} members")

    @property
    def names(self) -> list[str]:
        """Names of the files in it, in the order of its directory."""
        return [info.filename for info in self._file.infolist() if not info.is_dir()]

    @property
    def size(self) -> int:
        """Bytes of all files in it, unpacked, as its directory says."""
        return sum(info.file_size for info in self._file.infolist())

    def read(self, name: str) -> bytes:
        """A member's content; UnreadableError where it is damaged, encrypted or too large."""
        return b"".join(self.steps(name))

    def steps(self, name: str) -> Iterator[bytes]:
        """The same in pieces."""
        info = self._file.getinfo(name)
        try:
            if info.compress_type == _ZIP_ZSTD:
                for step in _unzstd(self._raw(info), Counter(most=self._counter.most)):
                    self._counter.add(len(step))
                    yield step
                return
            with self._file.open(info) as member:
                while step := member.read(_STEP):
                    self._counter.add(len(step))
                    yield step
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            RuntimeError,
            NotImplementedError,
        ) as error:
            raise unreadable(f'the member "{name[:200]}" cannot be read: {error}') from None

    def _raw(self, info: zipfile.ZipInfo) -> Callable[[int], bytes]:
        """Reads the packed bytes of a member: they follow its local header, whose names may be of
        other lengths.
        """
        self._source.seek(info.header_offset)
        header = self._source.read(30)
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            raise zipfile.BadZipFile("no local header")
        names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        at, end = info.header_offset + 30 + names, info.header_offset + 30 + names
        end += info.compress_size

        def read(size: int) -> bytes:
            nonlocal at
            self._source.seek(at)
            step = self._source.read(min(size, end - at))
            at += len(step)
            return step

        return read


def unpacked(content: Content) -> Content:
    """Bytes as they were before gzip or zstd."""
    if not is_packed(content[:4]):
        return content
    return b"".join(unpacking(_reader(content)))


def is_packed(head: bytes | bytearray) -> bool:
    """Whether a file that begins so is packed with gzip or zstd."""
    return bytes(head[:2]) == _GZIP or bytes(head[:4]) == _ZSTD


def unpacking(read: Callable[[int], bytes], *, most: int = 0) -> Iterator[bytes]:
    """The content in pieces, of a file of which `read(size)` gives what comes next; plain files
    as they are.
    """
    head = read(4)
    unpack = {_GZIP: _gunzip, _ZSTD[:2]: _unzstd}.get(head[:2]) if is_packed(head) else None
    if unpack is None:
        yield head
        yield from iter(partial(read, _STEP), b"")
    else:
        yield from unpack(_with_head(head, read), Counter(most=most))


def _reader(content: Content) -> Callable[[int], bytes]:
    at = 0

    def read(size: int) -> bytes:
        nonlocal at
        step = bytes(content[at : at + size])
        at += len(step)
        return step

    return read


def _with_head(head: bytes, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Reads `head` first, then what `read` gives."""

    def joined(size: int) -> bytes:
        nonlocal head
        if head:
            step, head = head[:size], head[size:]
            return step
        return read(size)

    return joined


def _gunzip(read: Callable[[int], bytes], counter: Counter) -> Iterator[bytes]:
    rest = b""
    while True:
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            step = rest or stream.unconsumed_tail or read(_STEP)
            if not rest and not stream.unconsumed_tail:
                counter.packed += len(step)
            rest = b""
            if not step:
                raise unreadable(f"the gzip content breaks off at byte {counter.packed}")
            try:
                out = stream.decompress(step, _STEP)
            except zlib.error as error:
                near = max(0, counter.packed - len(step))
                raise unreadable(f"the gzip content is damaged near byte {near}: {error}") from None
            counter.add(len(out))
            yield out
        rest = stream.unused_data
        if not rest:
            rest = read(_STEP)
            counter.packed += len(rest)
        # Files padded to a block size end in zero bytes.
        if not rest.strip(b"\0"):
            return


def _unzstd(read: Callable[[int], bytes], counter: Counter) -> Iterator[bytes]:
    # Small steps: a block of four bytes can unpack to 128 KB, and one step is never cut short.
    size = 512
    rest = read(size)
    counter.packed += len(rest)
    while rest:
        stream = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj()
        while not stream.eof:
            if not rest:
                raise unreadable(f"the zstd content breaks off at byte {counter.packed}")
            try:
                out = stream.decompress(rest)
            except zstandard.ZstdError as error:
                near = max(0, counter.packed - len(rest))
                raise unreadable(f"the zstd content is damaged near byte {near}: {error}") from None
            counter.add(len(out))
            yield out
            rest = stream.unused_data if stream.eof else read(size)
            counter.packed += 0 if stream.eof else len(rest)
        if not rest:
            rest = read(size)
            counter.packed += len(rest)
