"""Reads what was sent, never more of it than may be, and looks at its shape before it
is taken in.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec
import zstandard
from django.conf import settings
from django.http import HttpRequest
from django.http.request import RawPostDataException, UnreadablePostError

from transcripts.choices import DeliveryKind
from transcripts.importers import UnreadableError, all_importers
from transcripts.importers.documents import read_documents
from transcripts.importers.native import field_error
from transcripts.importers.native_types import NativeEnd, NativeRound, NativeRun
from transcripts.problems import ProblemError

STEP = 2**16
# As much as `zstd --long=27` writes; more would let a small body ask for gigabytes.
MAX_WINDOW = 2**27
# How many times its packed size a body may have. Real ones that repeat a history reach 200 packed
# by gzip, which sees repeats within 32 KB alone; a bomb reaches 1,030. zstd sees them all.
MAX_RATIO = {"gzip": 400, "x-gzip": 400, "zstd": 4_000}
# Below this many bytes no ratio matters.
RATIO_FROM = 2**24
JSON_TYPES = frozenset(
    {
        "",
        "application/json",
        "application/jsonl",
        "application/x-ndjson",
        "application/x-jsonlines",
        "application/octet-stream",
        "text/plain",
    }
)
# The last is what `curl --data-binary` says of any file, unless told otherwise.
FILE_TYPES = frozenset(
    {
        "application/gzip",
        "application/x-gzip",
        "application/zip",
        "application/zstd",
        "application/x-www-form-urlencoded",
    }
)
MAX_RUN_ID = 2000


def read_body(request: HttpRequest) -> bytes:
    """The body as it was before `Content-Encoding`; refuses by 413 before reading what is too
    large.
    """
    body = _read(request, settings.AGENTDESK_MAX_BODY_BYTES)
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return body
    unpack = {"gzip": _gunzip, "x-gzip": _gunzip, "zstd": _unzstd}.get(encoding)
    if unpack is None:
        raise ProblemError(
            415,
            "Content-Encoding is gzip, zstd or none.",
            headers={"Accept-Encoding": "gzip, zstd"},
        )
    most = settings.AGENTDESK_MAX_EXPANDED_BYTES
    said = f"A request may unpack to up to {most:,} bytes. Send it in parts."
    times = max(RATIO_FROM, len(body) * MAX_RATIO[encoding])
    if times < most:
        most = times
        said = f"A body of {len(body):,} bytes may unpack to up to {most:,}. Send it in parts."
    return b"".join(_bounded(unpack(body), most, said))


def check_type(request: HttpRequest, *, packed: bool = False) -> None:
    """Refuse a content type that is no JSON by 415; `packed` files may come as they are."""
    said = (request.content_type or "").lower()
    allowed = JSON_TYPES | FILE_TYPES if packed else JSON_TYPES
    if said not in allowed and not said.endswith("+json"):
        raise ProblemError(415, f"Send JSON or JSONL, not {said[:80]}.", at="Content-Type")


def check_run_id(run_id: str) -> str:
    """A run's id from an address; 400 where it cannot be one."""
    if not run_id.strip() or "\0" in run_id or len(run_id) > MAX_RUN_ID:
        raise ProblemError(
            400, f"A run's id has 1 to {MAX_RUN_ID} characters, and no NUL.", at="run id"
        )
    return run_id


def check_shape(content: bytes, kind: DeliveryKind, run_id: str = "") -> bytes:
    """The content as a worker will read it; raises `ProblemError` where it can be seen not to fit.

    Looks at the whole of one JSON value; of lines at the first. What is wrong further on is found
    by the worker, and told by the delivery.
    """
    if kind == DeliveryKind.END:
        return _end(content, run_id)
    if not content.strip():
        raise ProblemError(400, "There is no content.")
    if kind == DeliveryKind.FILE:
        return content
    try:
        if content.lstrip()[:1] == b"[":
            msgspec.json.decode(content, type=list[NativeRun] if kind == DeliveryKind.RUNS else Any)
        else:
            said = msgspec.json.decode(content, type=_Object)
            _check_object(content, said, kind, run_id)
    except msgspec.ValidationError as error:
        found = field_error(error)
        raise ProblemError(422, found.error, at=found.field) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        _check_readable(content)
    return content


class _Object(msgspec.Struct):
    """What tells the native shapes apart."""

    rounds: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    runs: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    round: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    run_id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    format: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Runs(msgspec.Struct):
    runs: list[NativeRun]


def _check_object(content: bytes, said: _Object, kind: DeliveryKind, run_id: str) -> None:
    unset = msgspec.UNSET
    if said.runs is not unset and kind == DeliveryKind.RUNS:
        msgspec.json.decode(content, type=_Runs)
    elif said.rounds is not unset:
        run = msgspec.json.decode(content, type=NativeRun)
        if kind == DeliveryKind.ROUNDS and run.run_id not in (None, "", run_id):
            raise ProblemError(422, "The body names another run than the address.", at="$.run_id")
        if kind == DeliveryKind.ROUNDS and not run.rounds:
            raise ProblemError(422, "There are no rounds.", at="$.rounds")
    elif said.round is not unset:
        msgspec.json.decode(content, type=NativeRound)
    elif kind == DeliveryKind.ROUNDS or (said.run_id is unset and said.format is unset):
        raise ProblemError(422, 'expected "rounds", or one round', at="$")
    else:
        msgspec.json.decode(content, type=NativeRun)


def _check_readable(content: bytes) -> None:
    """Let pass what the importers' own reader can read (lines, NaN, half characters); else say
    where.
    """
    try:
        next(iter(read_documents(content)), None)
    except UnreadableError as error:
        raise ProblemError(400, error.problem.error, at=error.problem.at) from None


def _end(content: bytes, run_id: str) -> bytes:
    """The end of a run as a run without rounds."""
    try:
        said = msgspec.json.decode(content.strip() or b"{}", type=NativeEnd)
    except msgspec.ValidationError as error:
        found = field_error(error)
        raise ProblemError(422, found.error, at=found.field) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        _check_readable(content)
        raise ProblemError(400, "This is not a JSON object.") from None
    ending = {name: value for name, value in msgspec.to_builtins(said).items() if value is not None}
    return msgspec.json.encode({**ending, "run_id": run_id, "rounds": []})


def check_format(name: str) -> str:
    """An importer's name or `auto`; 422 for any other."""
    known = sorted(importer.name for importer in all_importers())
    if name != "auto" and name not in known:
        raise ProblemError(422, f"format is auto, {', '.join(known)}.", at="format")
    return name


def _read(request: HttpRequest, limit: int) -> bytes:
    said = request.META.get("CONTENT_LENGTH") or ""
    if said and not re.fullmatch(r"\d{1,18}", said):
        raise ProblemError(400, "Content-Length is not a number.", at="Content-Length")
    too_large = f"A request may have up to {limit:,} bytes. Send it in parts."
    if said and int(said) > limit:
        raise ProblemError(413, too_large)
    chunked = "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()
    # Django takes a body without a length for empty; the server's own stream ends where the body
    # does.
    stream: Any = request.META.get("wsgi.input") if chunked and not said else request
    try:
        return b"".join(_bounded(iter(lambda: stream.read(STEP), b""), limit, too_large))
    except (UnreadablePostError, RawPostDataException, OSError):
        raise ProblemError(400, "The request broke off before its body was whole.") from None


def _bounded(parts: Iterator[bytes], limit: int, said: str) -> Iterator[bytes]:
    size = 0
    for part in parts:
        size += len(part)
        if size > limit:
            raise ProblemError(413, said)
        yield part


def _gunzip(body: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(body):
        stream = zlib.decompressobj(wbits=31)
        rest = body[at:]
        while not stream.eof:
            try:
                part = stream.decompress(rest, STEP)
            except zlib.error:
                raise ProblemError(400, f"The gzip body is damaged near byte {at}.") from None
            if not part and not stream.unconsumed_tail and not stream.eof:
                raise ProblemError(400, "The gzip body breaks off.")
            rest = stream.unconsumed_tail
            yield part
        at = len(body) - len(stream.unused_data)


def _unzstd(body: bytes) -> Iterator[bytes]:
    try:
        stream = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).stream_reader(
            body, read_across_frames=True
        )
        while part := stream.read(STEP):
            yield part
    except zstandard.ZstdError:
        raise ProblemError(400, "The zstd body is damaged, or breaks off.") from None
