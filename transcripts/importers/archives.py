"""Unpacking: gzip, zstd and zip, within limits of size and ratio, in memory alone."""

from __future__ import annotations

import io
import mmap
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import zstandard

from transcripts.importers.base import ImportProblem, UnreadableError

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
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# The zip method of Zstandard, which Inspect writes and Python before 3.14 does not read.
_ZIP_ZSTD = 93
_MAX_MEMBERS = 100_000


@dataclass(slots=True)
class Counter:
    """Watches how much an archive unpacks to."""

    packed: int
    unpacked: int = 0

    def add(self, count: int) -> None:
        self.unpacked += count
        if self.unpacked > MAX_UNPACKED:
            raise unreadable(f"unpacks to more than {MAX_UNPACKED // 1024**2} MB")
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

    def __init__(self, content: Content) -> None:
        self._content = content
        self._counter = Counter(len(content))
        try:
            self._file = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise unreadable(f"the zip file is damaged: {error}") from None
        if len(self._file.infolist()) > _MAX_MEMBERS:
            raise unreadable(f"the zip file has more than {_MAX_MEMBERS} members")

    @property
    def names(self) -> list[str]:
        """Names of the files in it, in the order of its directory."""
        return [info.filename for info in self._file.infolist() if not info.is_dir()]

    def read(self, name: str) -> bytes:
        """A member's content; UnreadableError where it is damaged, encrypted or too large."""
        info = self._file.getinfo(name)
        try:
            if info.compress_type == _ZIP_ZSTD:
                return b"".join(self._counted(_unzstd(self._raw(info))))
            with self._file.open(info) as member:
                return b"".join(self._counted(iter(lambda: member.read(_STEP), b"")))
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            RuntimeError,
            NotImplementedError,
        ) as error:
            raise unreadable(f'the member "{name[:200]}" cannot be read: {error}') from None

    def _counted(self, steps: Iterator[bytes]) -> Iterator[bytes]:
        for step in steps:
            self._counter.add(len(step))
            yield step

    def _raw(self, info: zipfile.ZipInfo) -> bytes:
        """The packed bytes of a member: they follow its local header, whose names may be of other
        lengths.
        """
        header = bytes(self._content[info.header_offset : info.header_offset + 30])
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            raise zipfile.BadZipFile("no local header")
        start = info.header_offset + 30
        start += int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        return bytes(self._content[start : start + info.compress_size])


def unpacked(content: Content) -> Content:
    head = bytes(content[:4])
    if head.startswith(_GZIP):
        return b"".join(_gunzip(content))
    if head == _ZSTD:
        return b"".join(_unzstd(content))
    return content


def _gunzip(content: Content) -> Iterator[bytes]:
    counter = Counter(len(content))
    at = 0
    while at < len(content):
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            step = bytes(content[at : at + _STEP])
            if not step and not stream.unconsumed_tail:
                raise unreadable(f"the gzip content breaks off at byte {len(content)}")
            try:
                out = stream.decompress(stream.unconsumed_tail + step, _STEP)
            except zlib.error as error:
                raise unreadable(f"the gzip content is damaged near byte {at}: {error}") from None
            at += len(step)
            counter.add(len(out))
            yield out
        at -= len(stream.unused_data)
        # Files padded to a block size end in zero bytes.
        if not bytes(content[at : at + _STEP]).strip(b"\0"):
            return


def _unzstd(content: Content) -> Iterator[bytes]:
    counter = Counter(len(content))
    at = 0
    while at < len(content):
        stream = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj()
        while not stream.eof:
            # Small steps: a block of four bytes can unpack to 128 KB, and one step is never cut
            # short.
            step = bytes(content[at : at + 512])
            if not step:
                raise unreadable(f"the zstd content breaks off at byte {len(content)}")
            try:
                out = stream.decompress(step)
            except zstandard.ZstdError as error:
                raise unreadable(f"the zstd content is damaged near byte {at}: {error}") from None
            at += len(step)
            counter.add(len(out))
            yield out
        at -= len(stream.unused_data)
