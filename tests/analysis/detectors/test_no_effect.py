from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import Call, RunRecord

READ = call("check_vpn_status", {"employee_id": 4417}, "last reset: 9 days ago")
CHANGED = call("check_vpn_status", {"employee_id": 4417}, "last reset: just now")
RESET = call("reset_vpn_profile", {"employee_id": 4417}, "ok")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([READ], [RESET], [CHANGED]), id="the read changes"),
        pytest.param(a_run([READ], [READ]), id="no change in between"),
        pytest.param(a_run([RESET], [READ]), id="no read before"),
        pytest.param(
            a_run([READ], [call("reset_vpn_profile", {"employee_id": 4417}, "Error: no")], [READ]),
            id="the change failed openly",
        ),
        pytest.param(
            a_run([READ], [call("reset_vpn_profile", {"employee_id": 9}, "ok")], [READ]),
            id="another employee",
        ),
        pytest.param(
            a_run([READ], [call("update_order", {"id": 4417}, "ok")], [READ]), id="another thing"
        ),
        pytest.param(
            a_run(
                [call("update_order", {"id": "W1", "state": "paid"}, "ok")],
                [call("get_order", {"id": "W1"}, {"id": "W1", "state": "Paid"})],
            ),
            id="the wish came true",
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("no_effect", run) == []


def test_points_at_the_change_between_two_reads_that_say_the_same() -> None:
    (draft,) = drafts("no_effect", a_run([READ], [RESET], [READ]))

    assert (draft.at.round, draft.tool) == (2, "reset_vpn_profile")
    assert [place.round for place in draft.evidence] == [1, 3]


def test_a_change_that_says_nothing_counts_too() -> None:
    silent = call("reset_vpn_profile", {"employee_id": 4417}, "")

    assert rounds("no_effect", a_run([READ], [silent], [READ])) == [2]


def test_a_time_stamp_of_the_answer_is_no_change() -> None:
    first = call("check_vpn_status", {"employee_id": 4417}, "checked at 10:01:07: standard")
    later = call("check_vpn_status", {"employee_id": 4417}, "checked at 10:06:30: standard")

    assert rounds("no_effect", a_run([first], [RESET], [later])) == [2]


@pytest.mark.parametrize(
    ("change", "read"),
    [
        pytest.param(
            call("update_order", {"id": "W1", "state": "paid"}, "ok"),
            call("get_order", {"id": "W1"}, {"id": "W1", "state": "open"}),
            id="the field is not what was wished",
        ),
        pytest.param(
            call("close_ticket", {"id": "T-9"}, "closed"),
            call("get_ticket", {"id": "T-9"}, "T-9, status: open"),
            id="the state is the opposite",
        ),
        pytest.param(
            call("unlock_account", {"user": "anna"}, "done"),
            call("get_account", {"user": "anna"}, {"user": "anna", "unlocked": False}),
            id="the flag is false",
        ),
    ],
)
def test_a_later_read_that_says_the_opposite(change: Call, read: Call) -> None:
    assert rounds("no_effect", a_run([change], [read])) == [1]


def test_reports_the_same_change_once_and_counts() -> None:
    (draft,) = drafts("no_effect", a_run([READ], [RESET], [READ], [RESET], [READ]))

    assert (draft.at.round, draft.values["times"]) == (2, 2)


def test_a_change_that_takes_time_is_made_up_for() -> None:
    (draft,) = drafts("no_effect", a_run([READ], [RESET], [READ], [CHANGED]))

    assert draft.made_up_at is None

    (draft,) = drafts("no_effect", a_run([READ], [RESET], [READ], [RESET], [CHANGED]))

    assert draft.made_up_at == 5


def test_other_tries_at_the_same_thing_are_told_once() -> None:
    read = call("get_item", {"id": 7}, {"id": 7, "size": 0})
    tries = [[call("update_item", {"id": 7, "size": size}, "ok")] for size in (1, 2, 3)]

    (draft,) = drafts("no_effect", a_run(tries[0], [read], tries[1], [read], tries[2], [read]))

    assert (draft.at.round, draft.values["times"]) == (1, 3)


def test_the_same_tool_on_two_things_is_told_twice() -> None:
    def tried(item: int) -> list[list[Call]]:
        read = call("get_item", {"id": item}, {"id": item, "size": 0})
        return [[call("update_item", {"id": item, "size": 5}, "ok")], [read]]

    assert rounds("no_effect", a_run(*tried(7), *tried(8))) == [1, 3]
