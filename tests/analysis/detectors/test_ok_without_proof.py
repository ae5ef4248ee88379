from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

READ = call("check_profile", {"id": 4417}, "last reset: 9 days ago")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(
            a_run([call("reset_profile", {}, "profile 7 reset at 10:02")]), id="it names the change"
        ),
        pytest.param(
            a_run([call("update_order", {}, {"status": "ok", "order": "W1"})]),
            id="it names the thing",
        ),
        pytest.param(a_run([call("check_profile", {}, "ok")]), id="a read"),
        pytest.param(a_run([call("reset_profile", {}, "")]), id="nothing is another finding"),
        pytest.param(a_run([call("reset_profile", {}, "Error: no")]), id="a failure"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("ok_without_proof", run) == []


@pytest.mark.parametrize(
    "result",
    [
        "ok",
        "Success",
        "done.",
        "true",
        "200",
        '{"status": "ok"}',
        '{"success": true, "error": null}',
        "The operation was successful.",
    ],
)
def test_flags_a_bare_ok(result: str) -> None:
    (draft,) = drafts("ok_without_proof", a_run([call("reset_profile", {"id": 4417}, result)]))

    assert (draft.at.round, draft.severity, draft.odd) == (1, None, None)


def test_is_odd_when_a_later_read_disproves_it() -> None:
    reset = call("reset_profile", {"id": 4417}, "ok")

    (draft,) = drafts("ok_without_proof", a_run([reset], [READ], [reset], [READ]))

    assert (draft.at.round, draft.severity, draft.odd) == (1, "fault", True)


def test_reports_the_same_call_once() -> None:
    reset = call("reset_profile", {"id": 4417}, "ok")

    assert rounds("ok_without_proof", a_run([reset], [reset], [reset])) == [1]
