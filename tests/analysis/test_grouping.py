from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.grouping import LIVE_PATIENCE, MOST_FAULTS, Fault, faults_of
from analysis.suite import analyse
from tests.builders import a_round, a_run, call, stopped, tool
from transcripts.record import Ending, RunRecord, Stop

RESET = call("reset_vpn_profile", {"id": 7}, "")
DENIED = call("get_right", {"id": 7}, "permission denied for user 7", is_error=True)
HAND_OFF = call("transfer_to_human_agents", {"summary": "no right"}, "queued")
GOOD = call("get_employee", {"id": 7}, "7, sales")


def faults(run: RunRecord) -> list[Fault]:
    return faults_of(run, analyse(run))


def told(run: RunRecord) -> list[tuple[str, str, str]]:
    return [(each.detector, each.tool, each.error) for each in faults(run)]


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run([GOOD], "Done."), id="nothing odd"),
        pytest.param(a_run(), id="no round"),
        pytest.param(a_run([DENIED], [call("get_right", {"id": 8}, "yes")], "Done."), id="made up"),
        pytest.param(
            a_run([GOOD], [HAND_OFF], ending=Ending.HANDED_OFF),
            id="handed off, nothing odd",
        ),
        pytest.param(a_run([GOOD], live=True), id="goes on"),
    ],
)  # fmt: skip
def test_stays_silent(run: RunRecord) -> None:
    assert faults(run) == []


def test_the_first_odd_round_is_what_a_run_is_about() -> None:
    run = a_run([GOOD], [RESET], [DENIED], agent="helpdesk", ending=Ending.FINISHED)

    found = faults(run)

    assert [(each.tool, each.round, each.main) for each in found] == [
        ("reset_vpn_profile", 2, True),
        ("get_right", 3, False),
    ]
    assert {each.agent for each in found} == {"helpdesk"}


def test_a_loop_follows_from_the_odd_round_before_it() -> None:
    run = a_run(*[[RESET]] * 8, ending=Ending.ROUND_LIMIT)
    assert "repeated_call" in {each.detector for each in analyse(run).findings}

    assert told(run) == [("empty_result", "reset_vpn_profile", "empty: nothing")]


def test_a_loop_without_an_odd_round_is_what_the_run_is_about() -> None:
    run = a_run(*[[GOOD]] * 8, ending=Ending.STOPPED)

    assert told(run) == [("repeated_call", "get_employee", "same call, same answer")]


def test_what_was_only_handed_off_stands() -> None:
    run = a_run([GOOD], [DENIED], [HAND_OFF], ending=Ending.HANDED_OFF)

    assert told(run) == [("failed_result", "get_right", "permission denied for user …")]


def test_the_same_fault_in_other_runs_has_the_same_key() -> None:
    one = a_run([GOOD], [DENIED], "Done.", agent="helpdesk")
    later = call("get_right", {"id": 99}, "Permission denied for user 99", is_error=True)
    other = a_run([GOOD], [GOOD], [later], "Done.", agent="helpdesk", run_id="other")

    assert [each.key for each in faults(one)] == [each.key for each in faults(other)]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(DENIED, name="get_rights"), id="tool"),
        pytest.param(replace(DENIED, result="time-out"), id="error"),
        pytest.param(replace(DENIED, is_error=False), id="detector"),
    ],
)
def test_another_fault_has_another_key(other: object) -> None:
    first, second = (faults(a_run([each], "Done.")) for each in (DENIED, other))  # type: ignore[list-item]

    assert first[0].key != second[0].key


def test_agents_have_faults_of_their_own() -> None:
    first, second = (faults(a_run([DENIED], "Done.", agent=name)) for name in ("a", "b"))

    assert first[0].key != second[0].key


@pytest.mark.parametrize(
    ("run", "error"),
    [
        pytest.param(
            a_run([GOOD], a_round(stop=Stop.ERROR, error="Overloaded (request 77)"),
                  agent="helpdesk", ending=Ending.ERROR),
            "overloaded (request …)", id="error",
        ),
        pytest.param(stopped(a_run([GOOD], [GOOD], agent="helpdesk"), "user gave up"),
                     "user gave up", id="stopped"),
    ],
)  # fmt: skip
def test_a_run_that_no_detector_explains_is_grouped_by_its_ending(
    run: RunRecord, error: str
) -> None:
    (fault,) = faults(run)

    assert (fault.detector, fault.error, fault.main) == ("ending", error, True)
    assert fault.title.startswith("Helpdesk ")


def test_a_live_run_has_time_to_make_up_for_it() -> None:
    others = [[call("look", {"n": n}, f"row {n}")] for n in range(LIVE_PATIENCE)]

    assert faults(a_run([RESET], *others[:-1], live=True)) == []
    assert told(a_run([RESET], *others, live=True))[0][1] == "reset_vpn_profile"


def test_a_run_full_of_errors_opens_no_hundred_incidents() -> None:
    rounds = [[call(f"tool_{chr(97 + n)}", {}, "denied", is_error=True)] for n in range(20)]

    found = faults(a_run(*rounds, ending=Ending.STOPPED))

    assert len(found) == MOST_FAULTS
    assert [each.main for each in found] == [True] + [False] * (MOST_FAULTS - 1)


def test_a_tool_has_one_fault_in_a_run() -> None:
    other = call("get_right", {"id": 8}, "time-out", is_error=True)

    assert [each.error for each in faults(a_run([DENIED], [other], "Done."))] == [
        "permission denied for user …"
    ]


def test_one_call_is_one_fault() -> None:
    wrong = call("get_rigth", {}, "there is no tool get_rigth", is_error=True)
    run = a_run([wrong], "Done.", tools=(tool("get_right"),))
    assert {"unknown_tool", "failed_result"} <= {each.detector for each in analyse(run).findings}

    assert [each.detector for each in faults(run)] == ["unknown_tool"]


@pytest.mark.parametrize(
    ("run", "title"),
    [
        pytest.param(a_run([RESET], "Done."), "reset_vpn_profile returned nothing", id="empty"),
        pytest.param(
            a_run([DENIED], "Done."),
            "get_right failed: “permission denied for user …”",
            id="cited without what differs",
        ),
    ],
)
def test_a_title_is_a_plain_sentence(run: RunRecord, title: str) -> None:
    assert faults(run)[0].title == title
