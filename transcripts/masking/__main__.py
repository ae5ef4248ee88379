"""`python -m transcripts.masking [--json | --jsonl] < text`: mask text, offline.

Without an option the masked text is printed. `--json` prints one object
`{"text", "spans": [{"start", "end", "rule", "placeholder"}]}`, offsets into the input in
characters. `--jsonl` reads one `{"text": …}` a line and answers with one such object a line, in
order.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final, TextIO

from transcripts.masking.errors import MaskingError
from transcripts.masking.masker import Masker

KEY_VARIABLE: Final = "AGENTDESK_MASKING_KEY"
EXIT_UNREADABLE: Final = 2


def main(arguments: list[str] | None = None) -> int:
    """Run the command; answers its exit code: 0, or 2 when the input cannot be read or masked."""
    parser = argparse.ArgumentParser(
        prog="desk mask", description="Mask secrets in text from stdin."
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one object with text and spans")
    shape.add_argument("--jsonl", action="store_true", help='one {"text": …} a line in and out')
    options = parser.parse_args(arguments)
    for stream in (sys.stdin, sys.stdout):
        # Lone surrogates and broken bytes come out as they went in.
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    try:
        for piece in _answers(sys.stdin, as_json=options.json, as_jsonl=options.jsonl):
            sys.stdout.write(piece)
    except (MaskingError, ValueError) as error:
        print(f"desk mask: {error}", file=sys.stderr)
        return EXIT_UNREADABLE
    return 0


def _answers(stream: TextIO, *, as_json: bool, as_jsonl: bool) -> Iterator[str]:
    key = _key()
    if as_jsonl:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield _object(_masker(key, number), _text_of(line, number)) + "\n"
    elif as_json:
        yield _object(_masker(key, 1), stream.read()) + "\n"
    else:
        yield _masker(key, 1).text(stream.read())


def _masker(key: bytes, number: int) -> Masker:
    """Each text is a run of its own: what one holds must not change another's answer."""
    return Masker(key=key, project="mask", run=str(number))


def _key() -> bytes:
    """The house's masking key where it is set, else one for this call alone."""
    named = os.environ.get(KEY_VARIABLE, "")
    return named.encode() if named else secrets.token_bytes(32)


def _text_of(line: str, number: int) -> str:
    try:
        text: Any = json.loads(line)["text"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f'line {number}: not an object with "text": {type(error).__name__}'
        ) from None
    if not isinstance(text, str):
        raise ValueError(f'line {number}: "text" is not a string')
    return text


def _object(masker: Masker, text: str) -> str:
    masked, spans = masker.spans(text)
    return json.dumps({"text": masked, "spans": [asdict(span) for span in spans]})


if __name__ == "__main__":
    sys.exit(main())
