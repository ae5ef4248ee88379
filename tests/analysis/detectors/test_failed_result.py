from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

FAILED = call("get_user", {"id": 7}, "no such user", is_error=True)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([call("get_user", {}, "Anna", is_error=False)]), id="marked as good"),
        pytest.param(a_run([call("get_user", {}, "Error: no", is_error=None)]), id="no flag"),
        pytest.param(a_run([call("get_user", {}, None)]), id="unanswered"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("failed_result", run) == []


def test_flags_what_is_marked_with_its_text() -> None:
    (draft,) = drafts("failed_result", a_run([call()], [FAILED]))

    assert (draft.at.round, draft.at.call) == (2, 0)
    assert draft.values["error"] == "no such user"
    assert draft.why == "get_user failed with “no such user”."


def test_flags_a_failure_that_says_nothing() -> None:
    (draft,) = drafts("failed_result", a_run([call("get_user", {}, "", is_error=True)]))

    assert draft.values["error"] == "no error text"


def test_counts_the_same_error_into_one_finding() -> None:
    (draft,) = drafts("failed_result", a_run([FAILED], [FAILED]))

    assert (draft.to_round, draft.values["times"]) == (2, 2)


def test_another_error_of_the_same_call_is_another_finding() -> None:
    other = call("get_user", {"id": 7}, "timed out", is_error=True)

    assert rounds("failed_result", a_run([FAILED], [other])) == [1, 2]
