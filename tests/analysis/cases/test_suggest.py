"""Expectations suggested from what the detectors found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from analysis.cases.case import check
from analysis.cases.harness import KINDS, judge, run_here
from analysis.cases.harness.asking import Options
from analysis.cases.making import case_id_of, suggested_case, suggestions_for
from analysis.cases.suggest import Suggestion, suggest
from analysis.choices import Severity
from analysis.detectors.base import Finding
from tests.analysis.cases import vpn
from transcripts.record import Ending, Round, RunLimits, RunRecord, Stop


def a_finding(detector: str, tool: str = "look", **changes: Any) -> Finding:
    finding = Finding(
        detector, 1, "", Severity.FAULT, True, 3, None, 0, tool, "it went wrong", "", "", (), {}
    )
    return replace(finding, **changes)


def a_run(**fields: Any) -> RunRecord:
    rounds = (Round(1, Stop.FINISHED, reply="All is well. Bye."),)
    return RunRecord("r", **{"rounds": rounds, "ending": Ending.FINISHED, **fields})


def by_id(suggestions: tuple[Suggestion, ...]) -> dict[str, Suggestion]:
    return {suggestion.expectation["id"]: suggestion for suggestion in suggestions}


def offered(*findings: Finding, **fields: Any) -> dict[str, Suggestion]:
    return by_id(suggest(a_run(**fields), findings))


def test_the_vpn_run_asks_for_what_went_wrong_in_it() -> None:
    suggestions = by_id(suggestions_for(vpn.masked(vpn.recorded_run())))

    chosen = [name for name, suggestion in suggestions.items() if suggestion.chosen]
    assert chosen == [
        "ending",
        "max_rounds",
        "no_identical_call",
        "no_empty_result",
        "ticket_in_every_input",
        "detectors_silent",
    ]
    assert "round 3" in suggestions["no_empty_result"].because
    assert not suggestions["must_call:escalate_to_it_team"].chosen


def test_a_clean_run_asks_only_to_end_by_itself() -> None:
    suggestions = offered()

    assert [name for name, suggestion in suggestions.items() if suggestion.chosen] == ["ending"]
    assert suggestions["final_reply"].expectation["contains"] == "All is well."


def test_a_false_claim_must_not_be_said_again() -> None:
    suggestion = offered(a_finding("claimed_success"))["final_reply"]

    assert (suggestion.chosen, suggestion.expectation["lacks"]) == (True, "All is well.")


def test_a_retry_is_chosen_and_a_failure_alone_is_not() -> None:
    failed = offered(a_finding("failed_result"))["no_retry_after_failure:look"]
    tried = offered(a_finding("failed_result"), a_finding("retried_failure"))

    assert not failed.chosen
    assert tried["no_retry_after_failure:look"].chosen


def test_a_tool_that_is_not_there_must_not_be_called() -> None:
    suggestion = offered(a_finding("unknown_tool", "reset<br>all"))["must_not_call:reset_br_all"]

    assert suggestion.expectation["tool"] == "reset<br>all"


def test_the_limit_that_was_passed_is_the_limit() -> None:
    passed = a_finding("round_limit_passed", values={"limit": 9})

    assert offered(passed)["max_rounds"].expectation["rounds"] == 9
    own = offered(limits=RunLimits(rounds=7))["max_rounds"]
    assert own.expectation["rounds"] == 7


def test_what_the_run_made_up_for_is_not_expected_to_be_silent() -> None:
    recovered = a_finding("failed_result", recovered_at=5)
    lead = a_finding("oversized_result", severity=Severity.LEAD)

    assert "detectors_silent" not in offered(recovered, lead)
    assert "detectors_silent" in offered(a_finding("failed_result"))


def test_words_that_the_script_gives_are_not_expected_to_change() -> None:
    assert "detectors_silent" not in offered(a_finding("repeated_reply"))


def test_every_kind_is_offered_by_some_run() -> None:
    findings = [a_finding("unknown_tool"), a_finding("retried_failure")]
    kinds = {s.expectation["kind"] for s in suggest(a_run(), findings)}
    kinds |= {s.expectation["kind"] for s in suggestions_for(vpn.masked(vpn.recorded_run()))}

    assert kinds == set(KINDS)


def test_every_suggestion_fits_the_case_format() -> None:
    case = vpn.vpn_case()
    for suggestion in suggestions_for(vpn.masked(vpn.recorded_run())):
        check({**case, "expect": [suggestion.expectation]})


def test_the_case_that_nobody_edited_fails_on_the_loop_that_made_it() -> None:
    case = suggested_case(vpn.masked(vpn.recorded_run()))

    trace = run_here(case, vpn.old_agent, Options())
    states = dict(
        zip(
            [e["id"] for e in case["expect"]],
            [state for state, _ in judge(case, trace)],
            strict=True,
        )
    )
    assert states.pop("detectors_silent") == "not_judged"
    assert set(states.values()) == {"failed"}


def test_ids_of_runs_become_ids_of_cases() -> None:
    assert case_id_of("../a b/ü") == "a-b--"
    assert case_id_of("///") == "case"
