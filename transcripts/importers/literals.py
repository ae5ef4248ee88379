"""Files that were written with Python's `str` or `repr` in place of JSON."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from transcripts.importers.parsing import Parsed, ParseError, parse

# The first text of a list or an object, in the quotes that JSON has not.
_QUOTED = re.compile(rb"\s*[\[{][\s\[{]*'")
# Python's own parser takes some 30 times the memory of the text.
MAX_LITERAL = 20 * 1024**2
# Of `name='VPN' calls=[{'id': 1}] at=Time(2)`: names, quoted texts, brackets, and what is between.
_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[\[({]|[\])}]|[^\s'"\[\](){}]++|\s++|.""", re.DOTALL
)


def python_literal(content: bytes) -> Parsed | None:
    """A list or an object of lists and objects of JSON's values, or None where `content` is none.

    Nothing is run: names other than the constants, and calls, are refused by `ast.literal_eval`.
    """
    if len(content) > MAX_LITERAL or not _QUOTED.match(content):
        return None
    try:
        tree = ast.parse(content.decode().strip(), mode="eval")
        if any(map(_repeats_key, ast.walk(tree))):
            return None
        value = ast.literal_eval(tree)
        parsed = parse(json.dumps(value, allow_nan=False, ensure_ascii=False))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, ParseError):
        return None
    return Parsed(parsed.value, parsed.nuls, parsed.surrogates, literal=True)


def printed_fields(text: str) -> dict[str, Any]:
    """The fields of an object that was printed as `name=value name=value`, as pydantic prints its
    models; a value that is no literal of Python is left out.
    """
    written: dict[str, list[str]] = {}
    current: list[str] = []
    depth = 0
    for piece in _PIECE.findall(text):
        if piece.isspace() and depth == 0:
            current = []
            continue
        name, equals, rest = piece.partition("=")
        if not current and equals and name.isidentifier() and depth == 0:
            current = written.setdefault(name, [""])
            current[:] = [rest]
            continue
        depth += (piece in "[({") - (piece in "])}")
        current.append(piece)
    return {name: value for name, parts in written.items() if (value := _literal(parts)) != ()}


def _literal(parts: list[str]) -> Any:
    """What a literal stands for; an empty tuple where it is none."""
    try:
        return ast.literal_eval("".join(parts).strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return ()


def _repeats_key(node: ast.AST) -> bool:
    if not isinstance(node, ast.Dict):
        return False
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    return len(set(keys)) != len(node.keys)
