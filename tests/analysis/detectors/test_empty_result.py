from __future__ import annotations

import pytest

from analysis.detectors.limits import Baseline, Limits
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

NOTHING = call("reset_vpn_profile", {"employee_id": 4417}, "")
SOMETHING = call("reset_vpn_profile", {"employee_id": 4417}, "profile standard, reset now")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([SOMETHING], "Done."), id="something came back"),
        pytest.param(a_run([call("think", {"thought": "…"}, "")], "Done."), id="a note"),
        pytest.param(a_run([call("rm", {"path": "a"}, "")], "Done."), id="a removal"),
        pytest.param(a_run([call("submit", {}, "")]), id="the end"),
        pytest.param(a_run([call("bash", {"command": "mkdir a"}, "")], "Done."), id="a shell"),
        pytest.param(a_run([call("find_user", {}, "No user was found.")]), id="none in words"),
        pytest.param(
            a_run([call("find_user", {}, {"results": [], "message": "No open tickets for 7"})]),
            id="none in words beside an empty list",
        ),
        pytest.param(a_run([call("get_flag", {}, "false")]), id="false says something"),
        pytest.param(a_run([call("get_count", {}, "0")]), id="zero says something"),
        pytest.param(a_run([call("get_user", {}, None)]), id="unanswered is not empty"),
        pytest.param(a_run([call("get_user", {}, "", is_error=True)]), id="a failure"),
        pytest.param(
            a_run([call("get_user", {}, {"error": "no such user", "data": None})]),
            id="a failure in an envelope",
        ),
        pytest.param(a_run([call("get_tags", {}, {"id": 7, "tags": []})]), id="an empty part"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("empty_result", run) == []


def test_stays_silent_for_tools_that_are_silent_by_setting_or_by_nature() -> None:
    run = a_run([NOTHING], "Done.")
    learned = Baseline(runs=20, silent_tools=frozenset({"reset_vpn_profile"}))

    assert rounds("empty_result", run, Limits(silent=frozenset({"reset_*"}))) == []
    assert rounds("empty_result", run, Limits(baseline=learned)) == []


def test_too_few_runs_teach_nothing() -> None:
    learned = Baseline(runs=19, silent_tools=frozenset({"reset_vpn_profile"}))

    assert rounds("empty_result", a_run([NOTHING]), Limits(baseline=learned)) == [1]


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ("", "nothing"),
        (" \n\t", "only white space"),
        ("\u200b", "only white space"),
        ("null", "null"),
        ("None", "null"),
        ('""', "an empty string in quotes"),
        ("{}", "an empty object"),
        ("[ ]", "an empty list"),
        ('{"content": [], "isError": false}', "an MCP result with no content"),
        (
            '{"content": [{"type": "text", "text": ""}], "isError": false}',
            "an MCP result with no content",
        ),
        ('{"content": [], "status": "success"}', "an envelope whose content is empty"),
        ('{"error": "", "response": ""}', "an envelope whose response is empty"),
        ('{"data": null, "request_id": "r-7"}', "an envelope whose data is empty"),
    ],
)
def test_names_the_kind_of_nothing(result: str, kind: str) -> None:
    (draft,) = drafts("empty_result", a_run([call("reset_vpn_profile", {}, result)]))

    assert (draft.at.round, draft.at.call, draft.values["returned"]) == (1, 0, kind)


def test_points_at_the_call_in_its_round() -> None:
    run = a_run([SOMETHING], [SOMETHING, NOTHING])

    (draft,) = drafts("empty_result", run)

    assert (draft.at.round, draft.at.call, draft.tool) == (2, 1, "reset_vpn_profile")


def test_counts_the_same_call_into_one_finding() -> None:
    (draft,) = drafts("empty_result", a_run([NOTHING], [NOTHING], [NOTHING]))

    assert (draft.at.round, draft.to_round, draft.values["times"]) == (1, 3, 3)
    assert draft.why == (
        "reset_vpn_profile returned nothing, and 2 more times for the same arguments, "
        "up to round 3."
    )


def test_speaks_again_when_something_came_back_in_between() -> None:
    assert rounds("empty_result", a_run([NOTHING], [SOMETHING], [NOTHING])) == [1, 3]


def test_other_arguments_are_another_finding() -> None:
    other = call("reset_vpn_profile", {"employee_id": 4418}, "")

    assert rounds("empty_result", a_run([NOTHING], [other])) == [1, 2]
