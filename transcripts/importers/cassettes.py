"""VCR cassettes: HTTP exchanges that a test recorded, in YAML.

Source: vcrpy 7. Only bodies are taken: headers may hold keys, and say nothing of a run.
"""

from __future__ import annotations

import zlib
from typing import Any

import yaml

from transcripts.importers.archives import unreadable
from transcripts.importers.base import UnreadableError
from transcripts.importers.fields import as_dict, as_list, json_text
from transcripts.importers.parsing import Parsed, parse

# YAML is read some hundred times slower than JSON.
MAX_CASSETTE = 20 * 1024**2
_MAX_BODY = 20 * 1024**2
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_cassette(content: bytes) -> Parsed:
    """The exchanges as `{"request": {"body"}, "response": {"body"}}`; raises UnreadableError.

    An alias would let a small file stand for a giant one, and no cassette has any.
    """
    if len(content) > MAX_CASSETTE:
        raise unreadable(f"a cassette of more than {MAX_CASSETTE // 1024**2} MB is not read")
    try:
        for event in yaml.parse(content, Loader=_LOADER):
            if isinstance(event, yaml.AliasEvent):
                raise unreadable("the cassette has aliases, which no cassette needs")
        loaded = yaml.load(content, Loader=_LOADER)
    except UnreadableError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        where = f" in line {place.line + 1}" if place else ""
        raise unreadable(f"the cassette cannot be read{where}") from None
    exchanges = [
        _exchange(as_dict(entry)) for entry in as_list(as_dict(loaded).get("interactions"))
    ]
    return parse(json_text([exchange for exchange in exchanges if exchange["response"]["body"]]))


def _exchange(entry: dict[str, Any]) -> dict[str, Any]:
    sent = as_dict(entry.get("request")).get("body")
    received = as_dict(as_dict(entry.get("response")).get("body")).get("string")
    return {"request": {"body": _text(sent)}, "response": {"body": _text(received)}}


def _text(body: Any) -> str:
    """A body as text; packed ones are unpacked, within a limit."""
    if isinstance(body, str):
        return body
    if not isinstance(body, bytes):
        return ""
    if body.startswith(b"\x1f\x8b"):
        try:
            body = zlib.decompressobj(wbits=31).decompress(body, _MAX_BODY)
        except zlib.error:
            return ""
    return str(body, "utf-8", "replace")
