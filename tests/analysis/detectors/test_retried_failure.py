from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

FAILED = call("book", {"seat": 1}, "not enough seats", is_error=True)
WORKED = call("book", {"seat": 2}, "booked: W7")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([FAILED], [FAILED]), id="twice"),
        pytest.param(a_run([FAILED], [FAILED], [WORKED], [FAILED]), id="it worked in between"),
        pytest.param(
            a_run([FAILED], [call("pay", {}, "no", is_error=True)], [FAILED]), id="two tools"
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("retried_failure", run) == []


def test_flags_the_third_failure_in_a_row() -> None:
    other = call("book", {"seat": 9}, "Error: not enough seats")

    (draft,) = drafts("retried_failure", a_run([FAILED], [call()], [other], [FAILED]))

    assert (draft.at.round, draft.tool) == (4, "book")
    assert draft.why.endswith("The error gives no next step.")


def test_says_when_the_error_gave_a_next_step() -> None:
    helpful = call("book", {}, "Full. Try flight W8 instead.", is_error=True)

    (draft,) = drafts("retried_failure", a_run([helpful], [helpful], [helpful]))

    assert draft.values["next_step"] is True
    assert "no next step" not in draft.why


def test_reports_a_long_row_once() -> None:
    (draft,) = drafts("retried_failure", a_run(*[[FAILED]] * 6))

    assert (draft.at.round, draft.to_round, draft.values["times"]) == (3, 6, 6)
