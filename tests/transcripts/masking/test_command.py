from __future__ import annotations

import io
import json
import sys

import pytest

from tests.transcripts.masking.builders import GITHUB, PASSWORD
from transcripts.masking.__main__ import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command on a text; answers exit code, output and errors."""

    def call(text: str, *arguments: str) -> tuple[int, str, str]:
        stdin = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogateescape")))
        monkeypatch.setattr(sys, "stdin", stdin)
        stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape")
        monkeypatch.setattr(sys, "stdout", stdout)
        code = main(list(arguments))
        stdout.flush()
        out = stdout.buffer.getvalue().decode("utf-8", "surrogateescape")
        return code, out, capsys.readouterr().err

    return call


def test_it_prints_the_masked_text(run):
    code, out, _err = run(f"use {GITHUB}\n")

    assert code == 0
    assert out.startswith("use [SECRET:github-pat:")
    assert out.endswith("]\n")


def test_json_gives_places_in_characters(run):
    text = f"ü€ password={PASSWORD}"

    _code, out, _err = run(text, "--json")

    answer = json.loads(out)
    (span,) = answer["spans"]
    assert text[span["start"] : span["end"]] == PASSWORD
    assert set(span) == {"start", "end", "rule", "placeholder"}
    assert answer["text"] == f"ü€ password={span['placeholder']}"


def test_jsonl_answers_in_order_and_each_line_by_itself(run):
    lines = [{"text": f"I typed {PASSWORD}"}, {"text": ""}, {"text": f"password={PASSWORD}"}]

    _code, out, _err = run("".join(json.dumps(line) + "\n" for line in lines), "--jsonl")

    answers = [json.loads(line) for line in out.splitlines()]
    assert [len(answer["spans"]) for answer in answers] == [0, 0, 1]


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"text": 5}', '{"other": "x"}'])
def test_a_line_that_is_no_text_is_named(run, line):
    code, _out, err = run('{"text": "fine"}\n' + line + "\n", "--jsonl")

    assert code == 2
    assert "line 2" in err


def test_broken_bytes_come_out_as_they_went_in(run):
    code, out, _err = run("a\udcff b 12")

    assert (code, out) == (0, "a\udcff b 12")
