"""The story of docs/vpn-story.md, run for real with the scripted model."""

from __future__ import annotations

from analysis.cases.harness import Job, Options, Trace, judge, run_all
from tests.analysis.cases import vpn


def traced(agent: object) -> Trace:
    case = vpn.vpn_case()
    ((_, trace),) = run_all([Job(case, 1, Options())], agent, 1)  # type: ignore[arg-type]
    return trace


def failed(trace: Trace) -> dict[str, str]:
    case = vpn.vpn_case()
    judged = judge(case, trace)
    return {
        expectation["id"]: why
        for expectation, (state, why) in zip(case["expect"], judged, strict=True)
        if state != "passed"
    }


def test_old_loop_and_old_wrapper_are_still_going_at_round_52() -> None:
    trace = traced(vpn.old_agent)

    assert (trace.number, trace.ending) == (52, "open")
    assert trace.reason.startswith("still going at round 52")
    assert trace.divergence is None
    assert failed(trace) == {
        "ending": "still going at round 52: the script has no further reply",
        "max_rounds": "52 rounds",
        "no_identical_call": 'round 7: reset_vpn_profile {"employee_id":7302}, call 3'
        " with the same arguments and an unchanged result",
        "no_empty_result": "round 3: an empty result of reset_vpn_profile reached the model;"
        f" the tool had said: {vpn.NO_PERMISSION}",
        "ticket_in_every_input": "round 40: the ticket is not in what the model reads",
    }


def test_new_loop_and_old_wrapper_hand_off_at_round_7() -> None:
    trace = traced(vpn.new_loop_only)

    assert (trace.number, trace.ending) == (7, "handed_off")
    assert trace.reason == "repeated call: reset_vpn_profile"
    assert list(failed(trace)) == ["no_empty_result"]


def test_new_loop_and_new_wrapper_finish_in_round_5() -> None:
    trace = traced(vpn.new_agent)

    asked = [[call["name"] for call in entry["calls"]] for entry in trace.rounds]
    assert asked[2:] == [["reset_vpn_profile"], ["escalate_to_it_team"], []]
    assert "no permission" in trace.rounds[2]["calls"][0]["shown"]["text"]
    assert (trace.number, trace.ending, trace.rounds[-1]["stop"]) == (5, "finished", "finished")
    assert failed(trace) == {}


def test_the_way_that_the_new_wrapper_goes_is_told() -> None:
    trace = traced(vpn.new_agent)

    assert trace.divergence == {
        "round": 4,
        "what": "result of reset_vpn_profile shown to the model",
        "expected": "",
        "got": "reset_vpn_profile: not done, no permission."
        " Hand the ticket over with escalate_to_it_team.",
    }
