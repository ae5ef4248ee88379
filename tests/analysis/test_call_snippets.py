"""A recorded call as code: each snippet is run, and must say what the model asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.pages.call_snippets import CallSnippets, call_snippets

HOSTILE = {
    "quote": 'it\'s "so"',
    "shell": "$(touch /tmp/owned) `id` ${HOME} \\ !x",
    "end": "END_OF_CALL\nEND_OF_CALL",
    "lines": "a\nb\r\n\tc\u2028d",
    "odd": "é 漢 \u202e \U0001f600",
    "nested": {"list": [1, 2.5, True, None, {"deep": "x"}]},
}
SECRET = "[SECRET:aws-key:0a1b2c3d]"


def code(made: CallSnippets, key: str) -> str:
    return next(snippet.code for snippet in made.snippets if snippet.key == key)


def run_shell(script: str, folder: Path, *, shell: str = "bash", **variables: str) -> Any:
    """What a `curl` that only copies its input would send."""
    curl = folder / "curl"
    curl.write_text("#!/bin/sh\ncat\n")
    curl.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    environment = {"PATH": path, "TOOL_URL": "x", "MCP_URL": "x", "HOME": "/root", **variables}
    done = subprocess.run(
        [shell, "-c", script], capture_output=True, env=environment, check=True, text=True
    )
    return json.loads(done.stdout)


def run_python(script: str, folder: Path, **variables: str) -> Any:
    """What the tool was called with."""
    (folder / "your_tools.py").write_text(
        "import json\n"
        "def reset(*args, **named):\n    return json.dumps(args[0] if args else named)\n"
        "class Any(dict):\n    def __missing__(self, name):\n        return reset\n"
        "tools = Any()\n"
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), **variables}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment, check=True, text=True
    )
    return json.loads(eval(done.stdout))


@pytest.mark.parametrize(
    "arguments",
    [
        {"employee_id": 4417},
        {},
        HOSTILE,
        {"not a name": 1, "class": 2},
        {"__debug__": 1},
        [1, "two"],
        "text",
        None,
    ],
    ids=["usual", "none", "hostile", "odd names", "a constant", "a list", "a text", "null"],
)
def test_each_snippet_says_what_the_model_asked_for(arguments: Any, tmp_path: Path) -> None:
    made = call_snippets(name="reset", args=json.dumps(arguments))

    assert made.whole
    assert run_shell(code(made, "curl"), tmp_path) == arguments
    sent = run_shell(code(made, "mcp"), tmp_path)
    assert sent["params"] == {"name": "reset", "arguments": arguments}
    assert run_python(code(made, "python"), tmp_path) == arguments
    assert json.loads(code(made, "json")) == {"name": "reset", "arguments": arguments}


@pytest.mark.parametrize(
    "name", ["a-b", "import", "x; import os", "f\n()", "名", "", "os", "print", "repr"]
)
def test_a_name_that_is_none_in_python_is_a_key(name: str, tmp_path: Path) -> None:
    made = call_snippets(name=name, args='{"id": 1}')

    assert run_python(code(made, "python"), tmp_path) == {"id": 1}


def test_what_one_cannot_see_survives_copying_off_the_page(tmp_path: Path) -> None:
    made = call_snippets(name="reset", args=json.dumps({"hidden": "a\u202eb\u200bc é"}))

    for snippet in made.snippets:
        assert "\u202e" not in snippet.code
        assert "\u200b" not in snippet.code
    assert "é" in code(made, "json")


def test_numbers_that_json_does_not_have(tmp_path: Path) -> None:
    made = call_snippets(name="reset", args='{"a": NaN, "b": -Infinity}')

    assert 'float("nan")' in code(made, "python")
    assert run_python(code(made, "python"), tmp_path)["b"] == float("-inf")


def test_masked_values_are_variables_with_a_name(tmp_path: Path) -> None:
    args = json.dumps({"key": SECRET, "header": f"Bearer {SECRET}!", "other": 1})
    made = call_snippets(name="reset", args=args)
    value = {"SECRET_AWS_KEY_0A1B2C3D": "the-real-one"}

    assert [each.name for each in made.variables] == ["SECRET_AWS_KEY_0A1B2C3D"]
    wanted = {"key": "the-real-one", "header": "Bearer the-real-one!", "other": 1}
    assert run_shell(code(made, "curl"), tmp_path, **value) == wanted
    assert run_python(code(made, "python"), tmp_path, **value) == wanted
    named = "${SECRET_AWS_KEY_0A1B2C3D}"
    told = json.loads(code(made, "json"))["arguments"]
    assert told == {"key": named, "header": f"Bearer {named}!", "other": 1}


@pytest.mark.parametrize(
    "value",
    [
        'it\'s "so"',
        "a\\b\\n",
        "$(touch x) `id` ${HOME}",
        "-----BEGIN\nabc\n\tdef\r\n-----END",
        "é 漢",
        "",
    ],
    ids=["quotes", "backslashes", "shell", "lines", "letters", "nothing"],
)
@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_a_value_of_any_kind_can_be_filled_in(value: str, shell: str, tmp_path: Path) -> None:
    made = call_snippets(name="os", args=json.dumps({"key": f"a {SECRET} b"}))
    filled = {"SECRET_AWS_KEY_0A1B2C3D": value}

    sent = run_shell(code(made, "curl"), tmp_path, shell=shell, **filled)
    assert sent == {"key": f"a {value} b"}
    assert run_python(code(made, "python"), tmp_path, **filled) == {"key": f"a {value} b"}


def test_arguments_that_are_no_json_stay_one_text(tmp_path: Path) -> None:
    made = call_snippets(name="reset", args='{"id": 44')

    assert not made.whole
    assert run_python(code(made, "python"), tmp_path) == '{"id": 44'
    assert run_shell(code(made, "curl"), tmp_path) == '{"id": 44'


TEXTS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=25, deadline=None)
@given(arguments=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_any_arguments_survive_the_shell_and_python(
    arguments: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("snippets")
    made = call_snippets(name="reset", args=json.dumps(arguments))

    assert run_shell(code(made, "curl"), folder) == arguments
    assert run_python(code(made, "python"), folder) == arguments
