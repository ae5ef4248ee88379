"""Packs the spans of a trace so that what they repeat of earlier ones is kept once.

A request repeats the whole history that led to it, so the spans of a run of n rounds hold n times
as much text as is new. Long texts, messages that a dialect spreads over numbered attributes
(`llm.input_messages.0.…`) and events are cut into pieces, always at the same places, and each such
sequence is kept as the longest beginning of it that was there before, and what is new after that.
So an open trace takes room for what is new in it, however it is split over requests.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from transcripts.importers.spans.span import Event, Span

DIGEST_BYTES: Final = 12
# Texts below this many characters are kept as they are.
SHORT: Final = 64
# A piece ends with the first brace or line from here on, or else at its longest, in characters.
LEAST: Final = 256
LONGEST: Final = 4096
_END = re.compile(r"[}\n]")
_NUMBERED = re.compile(r"(.*?\.\d+)\.")
# What no sequence is known for: the beginning of each.
_NOTHING: Final = b""
Sequence_ = list[Any]


class PackedSpan(msgspec.Struct, array_like=True):
    """A span whose long texts are the stand-ins (bytes) of sequences; so are its numbered
    attributes and its events, empty where it has none.
    """

    span: Span
    numbered: bytes = _NOTHING
    events: bytes = _NOTHING


class Chunk(msgspec.Struct, array_like=True):
    """Spans that came together, the pieces that were new with them, and the sequences that were:
    for each the beginning that it goes on from, and the pieces after that, new ones by their place
    in `pieces`.
    """

    spans: list[PackedSpan]
    pieces: list[Any]
    sequences: list[tuple[bytes, list[int | bytes]]]


_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(Chunk).decode


class _Digests:
    """Stand-ins of pieces and of beginnings of sequences, keyed so that no text can be guessed."""

    def __init__(self, key: bytes, salt: bytes) -> None:
        self._state = hashlib.blake2b(key=key, salt=salt, digest_size=DIGEST_BYTES)

    def of(self, content: bytes) -> bytes:
        state = self._state.copy()
        state.update(content)
        return state.digest()

    def piece(self, piece: bytes) -> bytes:
        return self.of(b"piece" + piece)

    def longer(self, beginning: bytes, piece: bytes) -> bytes:
        """The stand-in of a beginning with one more piece, by the piece's own."""
        return self.of(b"after" + beginning + piece)


class Packer:
    """Packs the spans of one trace; `known` holds what was there before, as `pack` gave it."""

    def __init__(self, *, key: bytes, salt: bytes, known: Iterable[bytes] = ()) -> None:
        self._digests = _Digests(key, salt)
        self._known = {
            part[at : at + DIGEST_BYTES]
            for part in known
            for at in range(0, len(part), DIGEST_BYTES)
        }

    def pack(self, spans: list[Span]) -> tuple[bytes, bytes]:
        """The spans as bytes, and the stand-ins of what is known with them."""
        self._chunk = Chunk([], [], [])
        self._new: dict[bytes, int] = {}
        self._learnt: list[bytes] = []
        self._chunk.spans = [self._packed(span) for span in spans]
        return _encode(self._chunk), b"".join(self._learnt)

    def _packed(self, span: Span) -> PackedSpan:
        numbered: dict[str, list[tuple[str, Any]]] = {}
        plain: dict[str, Any] = {}
        for name, value in span.attributes.items():
            if found := _NUMBERED.match(name):
                numbered.setdefault(found[1], []).append((name, value))
            else:
                plain[name] = self._text(value)
        bare = msgspec.structs.replace(span, attributes=plain, events=[])
        return PackedSpan(
            bare,
            self._sequence(list(numbered.values())),
            self._sequence([[event.name, event.attributes] for event in span.events]),
        )

    def _text(self, value: Any) -> Any:
        if isinstance(value, str) and len(value) >= SHORT:
            return self._sequence(list(pieces_of(value)))
        return value

    def _sequence(self, pieces: Sequence_) -> bytes:
        """The stand-in of a sequence, which is kept as far as it is new."""
        at = _NOTHING
        new: list[int | bytes] = []
        base = _NOTHING
        for piece in pieces:
            content = _encode(piece)
            digest = self._digests.piece(content)
            at = self._digests.longer(at, digest)
            if at in self._known and not new:
                base = at
                continue
            new.append(self._place(digest, piece))
            self._learn(at)
        if new:
            self._chunk.sequences.append((base, new))
        return at

    def _place(self, digest: bytes, piece: Any) -> int | bytes:
        if digest in self._new:
            return self._new[digest]
        if digest in self._known:
            return digest
        self._learn(digest)
        self._chunk.pieces.append(piece)
        place = self._new[digest] = len(self._chunk.pieces) - 1
        return place

    def _learn(self, digest: bytes) -> None:
        if digest not in self._known:
            self._known.add(digest)
            self._learnt.append(digest)


def unpacked(bodies: Iterable[bytes], *, key: bytes, salt: bytes) -> list[Span]:
    """The spans of all of a trace's chunks, in whatever order these come."""
    digests = _Digests(key, salt)
    chunks = [_decode(body) for body in bodies]
    pieces: dict[bytes, Any] = {}
    # Each beginning by the one before it and its last piece.
    longer: dict[bytes, tuple[bytes, bytes]] = {}
    for chunk in chunks:
        new = [digests.piece(_encode(piece)) for piece in chunk.pieces]
        pieces.update(zip(new, chunk.pieces, strict=True))
        for at, places in chunk.sequences:
            for place in places:
                digest = new[place] if isinstance(place, int) else place
                before, at = at, digests.longer(at, digest)
                longer[at] = before, digest
    whole = _Whole(pieces, longer)
    return [whole.span(packed) for chunk in chunks for packed in chunk.spans]


class _Whole:
    """Puts spans together again; equal texts are one object."""

    def __init__(self, pieces: dict[bytes, Any], longer: dict[bytes, tuple[bytes, bytes]]) -> None:
        self._pieces = pieces
        self._longer = longer
        self._texts: dict[bytes, str] = {}

    def span(self, packed: PackedSpan) -> Span:
        span = packed.span
        attributes = {name: self._value(value) for name, value in span.attributes.items()}
        for pairs in self._sequence(packed.numbered):
            attributes.update(pairs)
        events = [Event(name, found) for name, found in self._sequence(packed.events)]
        return msgspec.structs.replace(span, attributes=attributes, events=events)

    def _value(self, value: Any) -> Any:
        if not isinstance(value, bytes):
            return value
        text = self._texts.get(value)
        if text is None:
            text = self._texts[value] = "".join(self._sequence(value))
        return text

    def _sequence(self, at: bytes) -> Sequence_:
        found = []
        while at:
            at, digest = self._longer[at]
            found.append(self._pieces[digest])
        return found[::-1]


def pieces_of(text: str) -> Iterator[str]:
    """A text cut into pieces, which together are the text. Where a text goes on, the pieces of its
    beginning stay the same but for the last.
    """
    begun = 0
    while begun + LEAST < len(text):
        found = _END.search(text, begun + LEAST - 1, begun + LONGEST)
        end = found.end() if found else min(begun + LONGEST, len(text))
        yield text[begun:end]
        begun = end
    if begun < len(text):
        yield text[begun:]
