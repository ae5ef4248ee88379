"""One recorded call as code to run by hand: curl, MCP, Python and JSON. Pure.

The name and the arguments are hostile text, so every language gets them through its own quoting.
What was masked stands as a variable with a name, to be filled in by who runs it.
"""

from __future__ import annotations

import json
import keyword
import math
import re
from dataclasses import dataclass
from typing import Any

from transcripts.masking.placeholders import PLACEHOLDER
from transcripts.unseen import UNSEEN

INDENT = 2
# A value as it stands within a string of JSON: keys and passwords hold quotes and newlines too.
AS_JSON = r"""as_json() {
  printf %s "$1" | sed 's/[\\"]/\\&/g' |
    awk '{ gsub(/\t/, "\\t"); gsub(/\r/, "\\r"); printf "%s%s", n, $0; n = "\\n" }'
}
"""
# Names that the snippet itself needs.
TAKEN = frozenset({"answer", "os", "print", "repr"})
_UNSEEN = re.compile(UNSEEN)


@dataclass(frozen=True)
class Variable:
    """A masked value: the environment variable that stands for it, and its placeholder."""

    name: str
    placeholder: str


@dataclass(frozen=True)
class Snippet:
    """Code in one language. `key` is for ids on the page."""

    key: str
    title: str
    about: str
    code: str


@dataclass(frozen=True)
class CallSnippets:
    """All snippets of one call. `whole`: the arguments are JSON, and so were taken apart."""

    snippets: tuple[Snippet, ...]
    variables: tuple[Variable, ...]
    whole: bool


def call_snippets(*, name: str, args: str) -> CallSnippets:
    """The snippets of a call of tool `name` with `args`, JSON text as the model wrote it."""
    arguments, whole = _parsed(args)
    variables = _variables(name + json.dumps(arguments, ensure_ascii=False))
    return CallSnippets(
        snippets=(
            Snippet(
                "curl",
                "curl",
                "A tool that is an HTTP address: put it in TOOL_URL.",
                _curl("TOOL_URL", arguments, ()),
            ),
            Snippet(
                "mcp",
                "MCP",
                "A tool of an MCP server over HTTP: put its address in MCP_URL.",
                _curl(
                    "MCP_URL",
                    {
                        "jsonrpc": "2.0",
                        "id": 1,
                        "method": "tools/call",
                        "params": {"name": name, "arguments": arguments},
                    },
                    ("Accept: application/json, text/event-stream",),
                ),
            ),
            Snippet(
                "python",
                "Python",
                "A tool that is a function: import yours in the place of the first line.",
                _python(name, arguments),
            ),
            Snippet(
                "json",
                "JSON",
                "As the model asked." if not variables else "Masked values stand by their names.",
                _named(_json({"name": name, "arguments": arguments})),
            ),
        ),
        variables=variables,
        whole=whole,
    )


def _parsed(args: str) -> tuple[Any, bool]:
    try:
        return json.loads(args or "{}"), True
    except (ValueError, RecursionError):
        return args, False


def _variables(text: str) -> tuple[Variable, ...]:
    found = {match[0]: None for match in PLACEHOLDER.finditer(text)}
    return tuple(Variable(variable_name(placeholder), placeholder) for placeholder in found)


def variable_name(placeholder: str) -> str:
    """`[SECRET:aws-key:0a1b2c3d]` as `SECRET_AWS_KEY_0A1B2C3D`."""
    return re.sub("[^A-Z0-9]+", "_", placeholder.strip("[]").upper())


def _curl(address: str, body: Any, headers: tuple[str, ...]) -> str:
    """The body goes in a here-document, in which the shell fills in variables and nothing else."""
    text = _json(body)
    for special in ("\\", "$", "`"):
        text = text.replace(special, "\\" + special)
    text, masked = PLACEHOLDER.subn(
        lambda match: f'$(as_json "${variable_name(match[0])}")', text
    )  # fmt: skip
    said = "".join(f" \\\n  -H '{header}'" for header in headers)
    # A line of JSON never is this word alone.
    return (
        f"{AS_JSON if masked else ''}"
        f"curl -sS \"${address}\" \\\n  -H 'Content-Type: application/json'{said} \\\n"
        f"  --data-binary @- <<END_OF_CALL\n{text}\nEND_OF_CALL"
    )


def _json(value: Any) -> str:
    """JSON that can be copied off a page: characters that one cannot see are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=INDENT)
    return _UNSEEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def _named(text: str) -> str:
    """Placeholders as variables that tools such as envsubst fill in."""
    return PLACEHOLDER.sub(lambda match: f"${{{variable_name(match[0])}}}", text)


def _python(name: str, arguments: Any) -> str:
    plain = _is_name(name) and name not in TAKEN
    tool = name if plain else f"tools[{_literal(name)}]"
    lines = [f"from your_tools import {name if plain else 'tools'}", ""]
    if PLACEHOLDER.search(tool + json.dumps(arguments, ensure_ascii=False)):
        lines.insert(0, "import os\n")
    if isinstance(arguments, dict) and all(_is_name(key) for key in arguments):
        parts = [f"{key}={_literal(value)}" for key, value in arguments.items()]
        inside = ", ".join(parts)
        if len(inside) > 80:
            inside = "\n    " + ",\n    ".join(parts) + ",\n"
    else:
        inside = _literal(arguments)
        inside = f"**{inside}" if isinstance(arguments, dict) else inside
    lines.append(f"answer = {tool}({inside})")
    lines.append("print(repr(answer))")
    return "\n".join(lines)


def _is_name(text: str) -> bool:
    plain = text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
    return plain and text != "__debug__"


def _literal(value: Any) -> str:
    """A value as Python writes it, in ASCII; masked parts are taken from the environment."""
    if isinstance(value, str):
        return _text_literal(value)
    if isinstance(value, dict):
        parts = (f"{_literal(key)}: {_literal(part)}" for key, part in value.items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_literal(part) for part in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _text_literal(text: str) -> str:
    parts: list[str] = []
    at = 0
    for match in PLACEHOLDER.finditer(text):
        if match.start() > at:
            parts.append(ascii(text[at : match.start()]))
        parts.append(f'os.environ["{variable_name(match[0])}"]')
        at = match.end()
    if at < len(text) or not parts:
        parts.append(ascii(text[at:]))
    return " + ".join(parts)
