from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

LOST = call("find_user", {"email": "a@b"}, "Error: look-up req-95550935 failed")
EMPTY = call("find_user", {"email": "a@b"}, "null")


def then(args: dict[str, object], first: object = LOST, error: bool = True) -> RunRecord:
    return a_run(
        [call()], [first], [call("get_orders", args, "no orders for this user", is_error=error)]
    )


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(then({"user": "anna"}), id="the value came from elsewhere"),
        pytest.param(then({"user": "req-95550935"}, error=False), id="the second call works"),
        pytest.param(then({"email": "a@b"}), id="the value was given before"),
        pytest.param(
            a_run([call("get_orders", {"user": "anna"}, "no", is_error=True)]),
            id="nothing failed before",
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("cascade", run) == []


@pytest.mark.parametrize(
    ("first", "args"),
    [
        (LOST, {"user": "req-95550935"}),
        (EMPTY, {"user": None}),
        (EMPTY, {"user": ""}),
        (LOST, {"user": "undefined"}),
    ],
)
def test_points_back_at_the_first_failure(first: object, args: dict[str, object]) -> None:
    (draft,) = drafts("cascade", then(args, first))

    assert draft.at.round == 3
    assert [place.round for place in draft.evidence] == [2]
