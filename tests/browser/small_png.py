"""A screenshot as PNG with a palette of 256 colours, so that documents stay light."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

HEAD = b"\x89PNG\r\n\x1a\n"


def small_png(png: bytes) -> bytes:
    """`png` (8 bits of red, green and blue) with its 256 most frequent colours, the others as the
    nearest of these.
    """
    chunks = list(_chunks(png))
    width, height, depth, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    assert (depth, kind) == (8, 2), "a screenshot without alpha"
    pixels = _unfiltered(zlib.decompress(b"".join(d for k, d in chunks if k == b"IDAT")), width * 3)
    colours = [row[at : at + 3] for row in pixels for at in range(0, width * 3, 3)]
    counts = Counter(map(bytes, colours))
    palette = [colour for colour, _ in counts.most_common(256)]
    index = {
        colour: min(range(len(palette)), key=lambda at: _distance(palette[at], colour))
        for colour in counts
    }
    flat = bytes(index[bytes(colour)] for colour in colours)
    rows = b"".join(b"\0" + flat[at : at + width] for at in range(0, width * height, width))
    return HEAD + b"".join(
        _chunk(*chunk)
        for chunk in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            (b"PLTE", b"".join(palette)),
            (b"IDAT", zlib.compress(rows, 9)),
            (b"IEND", b""),
        )
    )


def _distance(one: bytes, other: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(HEAD)
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        at += 12 + size


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def _unfiltered(packed: bytes, size: int) -> Iterator[bytearray]:
    """The rows of the picture (PNG specification, section 9)."""
    above = bytearray(size)
    for start in range(0, len(packed), size + 1):
        how, row = packed[start], bytearray(packed[start + 1 : start + 1 + size])
        for at in range(size):
            left = row[at - 3] if at >= 3 else 0
            corner = above[at - 3] if at >= 3 else 0
            row[at] = (row[at] + _guess(how, left, above[at], corner)) & 255
        yield row
        above = row


def _guess(how: int, left: int, up: int, corner: int) -> int:
    if how == 4:
        near = left + up - corner
        return min((left, up, corner), key=lambda one: abs(near - one))
    return (0, left, up, (left + up) // 2)[how]
