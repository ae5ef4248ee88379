"""JSON text as a tree to read: pure, bounded in size whatever comes in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MAX_CHARACTERS = 20_000
MAX_NODES = 60
MAX_CHILDREN = 20
MAX_DEPTH = 12
# A value that fits on a line needs no folding.
INLINE_CHARACTERS = 72


@dataclass(frozen=True)
class Node:
    """A value. `text` is the value itself, or a one-line summary of an object or list with
    `children`.

    `left_out` counts the children that are not there, so that the reader is told.
    """

    text: str
    key: str = ""
    children: tuple[Node, ...] = ()
    left_out: int = 0


def json_value(text: str) -> Any:
    """The object or list that `text` is, else None; None as well for what is too long to fold."""
    if len(text) > MAX_CHARACTERS or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def json_node(text: str) -> Node | None:
    """The tree of an object or list that does not fit on one line, else None."""
    value = json_value(text)
    if value is None or len(text) <= INLINE_CHARACTERS:
        return None
    budget = [MAX_NODES]
    return _node("", value, budget, MAX_DEPTH)


def elements_of(node: Node) -> int:
    """How many HTML elements the tree takes on a page."""
    key = 1 if node.key else 0
    if not node.children:
        return key
    rows = sum(1 + elements_of(child) for child in node.children)
    return key + 3 + rows + (1 if node.left_out else 0)


def inline_args(text: str) -> str:
    """Arguments as people write a call: `employee_id=4417, note="…"`; other JSON, and no JSON, as
    it is.
    """
    value = json_value(text)
    if isinstance(value, dict):
        return ", ".join(f"{name}={_line(child)}" for name, child in value.items())
    return text


def _node(key: str, value: Any, budget: list[int], depth: int) -> Node:
    line = _line(value)
    if not isinstance(value, (dict, list)) or not value:
        return Node(line, key)
    if len(line) <= INLINE_CHARACTERS or depth == 0:
        return Node(line, key)
    pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    shown_pairs = pairs[: max(0, min(budget[0], MAX_CHILDREN))]
    budget[0] -= len(shown_pairs)
    children = tuple(_node(str(name), child, budget, depth - 1) for name, child in shown_pairs)
    noun = "field" if isinstance(value, dict) else "item"
    summary = f"{len(pairs)} {noun}{'' if len(pairs) == 1 else 's'}"
    left_out = len(pairs) - len(children)
    if not children:
        return Node(f"{summary}, not shown", key)
    return Node(summary, key, children, left_out)


def _line(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "…"
