from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from analysis.choices import Severity
from analysis.detectors import all_detectors, detector_named
from analysis.detectors.base import Detector, Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.places import Place
from analysis.suite import analyse, suite_version
from tests.builders import a_round, a_run, call
from transcripts.record import (
    Ending,
    InputChange,
    Message,
    Placed,
    RunRecord,
    Stop,
)

FAILED = call("find_user_by_email", {"email": "a@b"}, "Error: user not found")
WORKED = call("find_user_by_email", {"email": "c@d"}, "Anna, 4417")
SIBLING = call("find_user_by_name", {"name": "Anna"}, "Anna, 4417")
OTHER = call("get_order", {"id": "W1"}, "W1, two books")


def recovered(run: RunRecord, name: str = "hidden_error") -> int | None:
    found = [each for each in analyse(run).findings if each.detector == name]
    return found[0].recovered_at


def heard(reply_then: str, *, in_round: int) -> InputChange:
    return InputChange(added=(Placed(reply_then),))


PEOPLE = (Message("t", "user", "My ticket"), Message("yes", "user", "It is c@d."))


def told(reply: str, *, answered: bool) -> RunRecord:
    """The call fails in round 1, the agent writes in round 2, and the person answers or not."""
    last = a_round(reply="Thank you, I will close this.")
    return a_run(
        replace(a_round(FAILED), input=InputChange(added=(Placed("t"),))),
        a_round(reply=reply),
        replace(last, input=InputChange(added=(Placed("yes"),))) if answered else last,
        messages=PEOPLE,
    )


@pytest.mark.parametrize(
    ("run", "at"),
    [
        pytest.param(a_run([FAILED], [WORKED], "Done."), 2, id="the same tool works later"),
        pytest.param(
            a_run([FAILED], [OTHER], [SIBLING], "Done."), 3, id="one for the same purpose works"
        ),
        pytest.param(a_run([FAILED], [OTHER], "Done."), None, id="another tool works"),
        pytest.param(a_run([FAILED, WORKED], "Done."), None, id="asked for at the same time"),
        pytest.param(a_run([FAILED], "All done."), None, id="a run that ends with a claim"),
        pytest.param(a_run([FAILED]), None, id="a run that just ends"),
        pytest.param(
            a_run([FAILED], [call("find_user_by_email", {"email": "c@d"}, "")]), None, id="empty"
        ),
        pytest.param(
            a_run([FAILED], [call("transfer_to_human_agents", {}, "ok")]), 2, id="handed off"
        ),
        pytest.param(
            told("I could not find that address.", answered=True), 3, id="told and answered"
        ),
        pytest.param(told("I could not find that address.", answered=False), None, id="told only"),
        pytest.param(told("Everything looks fine!", answered=True), None, id="answered, not told"),
    ],
)
def test_recovery(run: RunRecord, at: int | None) -> None:
    assert recovered(run) == at


def test_a_repetition_is_made_up_for_by_another_answer_only() -> None:
    same = [[call("status", {"job": 7}, "pending")] for _ in range(3)]
    done = [call("status", {"job": 7}, "done")]

    assert recovered(a_run(*same, "Done."), "repeated_call") is None
    assert recovered(a_run(*same, done, "Done."), "repeated_call") == 4


def test_the_first_other_answer_after_a_repetition_counts_however_late() -> None:
    same = [[call("status", {"job": 7}, "pending")] for _ in range(4)]
    aside = [call("status", {"job": 8}, "pending")]
    done = [call("status", {"job": 7}, "done")]

    assert recovered(a_run(*same, [OTHER], aside, done, "Done."), "repeated_call") == 7


def test_nothing_makes_up_for_a_passed_limit() -> None:
    run = a_run(*([call("step", {"n": n}, f"r{n}")] for n in range(20)), "Done.")

    (finding,) = analyse(run, Limits(rounds=3)).findings

    assert (finding.detector, finding.recovered_at) == ("round_limit_passed", None)


def test_the_first_odd_round_is_the_earliest_that_stands() -> None:
    broken = call("reset_profile", {"id": 1}, "Error: locked")

    analysis = analyse(a_run([FAILED], [WORKED], [broken], "Bye."))

    odd = analysis.verdict.first_odd
    assert odd is not None
    assert (odd.round, odd.tool, odd.recovered_at) == (3, "reset_profile", None)


def test_where_all_were_recovered_it_is_the_earliest() -> None:
    odd = analyse(a_run([FAILED], [WORKED], "Done.")).verdict.first_odd

    assert odd is not None
    assert (odd.round, odd.recovered_at) == (1, 2)


def test_at_one_place_the_more_direct_detector_speaks_first() -> None:
    read = call("check_profile", {"id": 4417}, "as it was")
    nothing = call("reset_profile", {"id": 4417}, "")

    analysis = analyse(a_run([read], [nothing], [read], "Bye."))

    assert [f.detector for f in analysis.findings if f.round == 2] == ["empty_result", "no_effect"]
    assert analysis.verdict.first_odd is not None
    assert analysis.verdict.first_odd.detector == "empty_result"
    assert analysis.verdict.first_odd.why == "empty result"


def test_findings_are_in_order_of_their_places() -> None:
    run = a_run([OTHER, FAILED], [FAILED], a_round(reply="x", stop=Stop.CUT_OFF), [FAILED, FAILED])

    places = [
        (each.round, -1 if each.call is None else each.call) for each in analyse(run).findings
    ]

    assert [round_ for round_, _ in places] == sorted(round_ for round_, _ in places)


@detector(version=1, severity=Severity.LEAD, odd=False)
def falls_over(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Falls over.

    Why it matters: x
    Stays silent: x
    Yields: x
    Likely cause: x
    Fix in code: x
    Source: x
    """
    yield Draft(at=Place(1), why="half a claim")
    raise ZeroDivisionError


def test_a_detector_that_raises_stops_no_other_and_says_nothing() -> None:
    analysis = analyse(a_run([FAILED]), detectors=[falls_over, *all_detectors()])

    assert analysis.errors == {"falls_over": "ZeroDivisionError"}
    assert {each.detector for each in analysis.findings} == {"hidden_error", "never_finished"}


def test_a_docstring_without_its_parts_is_refused() -> None:
    def unexplained(reading: Reading, limits: Limits) -> Iterator[Draft]:
        """Unexplained."""
        yield from ()

    with pytest.raises(ValueError, match="unexplained lacks: Why it matters"):
        detector(version=1, severity=Severity.LEAD, odd=False)(unexplained)


def test_the_same_run_gives_the_same_analysis() -> None:
    run = a_run([FAILED], [OTHER], [OTHER], [OTHER], "Done.")

    assert analyse(run) == analyse(run)


def test_an_empty_run_and_a_run_with_gaps_are_read() -> None:
    gaps = a_run(replace(a_round(FAILED), number=4), replace(a_round(OTHER), number=9))

    assert analyse(a_run()).findings == ()
    assert [each.round for each in analyse(gaps).findings] == [4, 9]


def test_a_live_run_with_a_standing_fault_is_flagged() -> None:
    verdict = analyse(a_run([FAILED], [OTHER], live=True)).verdict

    assert (verdict.kind, verdict.flagged) == ("still_going", True)
    assert not analyse(a_run([OTHER], live=True)).verdict.flagged


def test_the_suite_is_named_by_its_detectors_and_versions() -> None:
    assert len(suite_version()) == 12
    assert detector_named("no_such") is None


def test_detectors_have_names_of_their_modules() -> None:
    assert all(isinstance(each, Detector) for each in all_detectors())
    assert len(all_detectors()) == 32


def test_wasted_effort_counts_what_came_after_the_third_identical_call() -> None:
    same = replace(a_round(call("status", {}, "x")), tokens_in=100, tokens_out=10, duration_ms=2000)
    run = replace(a_run(*[same] * 6), ending=Ending.STOPPED)

    wasted = analyse(run).wasted

    assert (wasted.rounds, wasted.tokens, wasted.seconds) == ((4, 5, 6), 330, 6.0)
    assert wasted.cost is None


@pytest.mark.parametrize(
    "tool", ["submit", "finish", "final_answer", "mark_task_complete", "attempt_completion"]
)
def test_a_run_that_a_tool_ended_is_finished(tool: str) -> None:
    verdict = analyse(a_run([OTHER], [call(tool, {}, None)])).verdict

    assert (verdict.kind, verdict.flagged) == ("finished", False)


@pytest.mark.parametrize(
    "tool", ["answer", "run", "complete_order", "submit_order", "mark_as_task"]
)
def test_tools_that_only_sound_like_an_end_are_none(tool: str) -> None:
    assert analyse(a_run([OTHER], [call(tool, {}, "W1")])).verdict.kind == "never_finished"
