from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

LARGE = "word " * 16_001


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([call("dump", {}, "word " * 15_000)]), id="below 20,000 tokens"),
        pytest.param(
            a_run([call("dump", {}, "x" * 900)], context_window=1000), id="below a quarter"
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("oversized_result", run) == []


def test_flags_more_than_20_000_tokens() -> None:
    (draft,) = drafts("oversized_result", a_run([call()], [call("dump", {}, LARGE)]))

    assert (draft.at.round, draft.values["tokens"]) == (2, 20_001)


def test_flags_more_than_a_quarter_of_the_window() -> None:
    run = a_run([call("dump", {}, "x" * 1_100)], context_window=1000)

    assert rounds("oversized_result", run) == [1]


def test_one_finding_a_tool() -> None:
    run = a_run(
        [call("dump", {"n": 1}, LARGE)], [call("dump", {"n": 2}, LARGE)], [call("list", {}, LARGE)]
    )

    assert rounds("oversized_result", run) == [1, 3]
