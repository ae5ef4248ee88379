"""Export as Markdown: markdown."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests import strategies
from transcripts.export.markdown import EXPORTER, markdown_text
from transcripts.importers import read_runs
from transcripts.record import Call, Round, RunRecord, Stop

DATA = Path(__file__).parents[2] / "data"


def read(name):
    (run,) = read_runs((DATA / name).read_bytes(), default_run_id="r")
    return run


def test_tells_the_run_round_by_round():
    text = markdown_text(read("anthropic/two_tools.json"))

    assert re.findall(r"^## .*$", text, re.MULTILINE) == [
        "## Round 1: wants tool",
        "## Round 2: finished",
    ]
    assert "**error of reset**\n\n```\nno permission\n```" in text
    assert "**user**\n\n```\nMy VPN drops.\n```" in text


@pytest.mark.parametrize(
    ("result", "words"),
    [(None, "**unanswered**"), ("", "**result of look**: empty")],
)
def test_tells_unanswered_from_empty(result, words):
    run = RunRecord("r", (Round(1, Stop.WANTS_TOOL, calls=(Call("look", result=result),)),))

    assert words in markdown_text(run)


def blocks(text):
    """The fenced blocks, and what is left outside of them."""
    outside, inside, fence = [], [], None
    for line in text.split("\n"):
        if fence is None and re.fullmatch("`{3,}", line):
            fence = line
        elif line == fence:
            fence = None
        else:
            (outside if fence is None else inside).append(line)
    return "\n".join(outside), "\n".join(inside), fence


def test_no_text_leaves_its_block():
    hostile = "```\n# Fake heading\n<script>alert(1)</script>\n````"
    rounds = (Round(1, Stop.FINISHED, reply=hostile),)
    run = RunRecord("r", rounds, title="# <b>x</b> [a](b)", labels={"<i>": "<u>"})

    outside, inside, open_fence = blocks(markdown_text(run))

    assert open_fence is None
    assert "<script>" in inside
    assert "<script>" not in outside
    assert "- \\<i\\>: \\<u\\>" in outside
    assert "# \\# \\<b\\>x\\</b\\> \\[a\\]\\(b\\)" in outside


def test_shows_what_would_turn_the_text_around():
    run = RunRecord("r", (Round(1, Stop.FINISHED, reply="a\u202eb\x1b[2J"),))

    assert "a<U+202E>b<U+001B>[2J" in markdown_text(run)


@given(strategies.runs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_block_is_closed_and_no_html_is_outside(run):
    outside, _, open_fence = blocks(markdown_text(run))

    assert open_fence is None
    assert not re.search(r"(?<!\\)<", outside)


def test_says_what_it_cannot_hold():
    assert EXPORTER.lost(read("openai_chat/two_tools.json")) == ()
    assert EXPORTER.lost(read("native/two_tools.json")) == ("tokens, costs, times and durations",)
