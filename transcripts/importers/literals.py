"""Files that were written with Python's `str` or `repr` in place of JSON."""

from __future__ import annotations

import ast
import json
import re

from transcripts.importers.parsing import Parsed, ParseError, parse

# The first text of a list or an object, in the quotes that JSON has not.
_QUOTED = re.compile(rb"\s*[\[{][\s\[{]*'")
# Python's own parser takes some 30 times the memory of the text.
MAX_LITERAL = 20 * 1024**2


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


def _repeats_key(node: ast.AST) -> bool:
    if not isinstance(node, ast.Dict):
        return False
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    return len(set(keys)) != len(node.keys)
