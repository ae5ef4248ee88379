from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.suite import Analysis, analyse
from tests.builders import a_round, a_run, call
from transcripts.record import Call, Ending, RunRecord

READ = call("check_profile", {"id": 7}, "profile: old")
RESET = call("reset_profile", {"id": 7}, "done")
WORDS = "I am still working on your request and will tell you as soon as there is something new."


def names(analysis: Analysis) -> list[str]:
    return [each.detector for each in analysis.findings]


def saying(text: str, *calls: Call) -> RunRecord:
    return a_run(*(a_round(each, reply=text) for each in calls))


def of(analysis: Analysis, name: str) -> str | None:
    found = [each.severity.value for each in analysis.findings if each.detector == name]
    return found[0] if found else None


def test_replies_beside_calls_that_go_their_way_are_told() -> None:
    run = saying(WORDS, *(call("look_up", {"page": n}, f"row {n}") for n in range(4)))

    assert of(analyse(run), "repeated_reply") == "fault"


@pytest.mark.parametrize(
    ("calls", "loop"),
    [
        pytest.param([READ] * 5, "repeated_call", id="one call"),
        pytest.param([RESET, READ] * 4, "alternating_calls", id="two by turns"),
    ],
)
def test_replies_beside_a_loop_count_into_it(calls: list[Call], loop: str) -> None:
    analysis = analyse(saying(WORDS, *calls))
    finding = next(each for each in analysis.findings if each.detector == loop)

    assert "repeated_reply" not in names(analysis)
    assert "The replies come again too." in finding.why
    assert finding.values["same_replies"] == len(calls)


def test_a_reply_of_rounds_outside_the_loop_is_told() -> None:
    other = [call("look_up", {"page": n}, f"row {n}") for n in range(3)]

    assert of(analyse(saying(WORDS, *[READ] * 4, *other)), "repeated_reply") == "fault"


def test_many_texts_that_repeat_are_one_finding() -> None:
    texts = [f"{WORDS} {word}" for word in ("Red.", "Green.", "Blue.")]
    run = a_run(
        *(a_round(call("get", {"n": n}, f"r{n}"), reply=texts[n % 3]) for n in range(12)),
    )

    (finding,) = (each for each in analyse(run).findings if each.detector == "repeated_reply")

    assert (finding.round, finding.to_round, finding.values["texts"]) == (7, 12, 3)
    assert "2 other replies come again as often, up to round 12" in finding.why


def test_the_same_answer_of_a_repeated_call_is_a_lead_that_names_it() -> None:
    analysis = analyse(a_run(*[[READ]] * 5, "Done."))
    finding = next(each for each in analysis.findings if each.detector == "no_progress")

    assert (of(analysis, "repeated_call"), finding.severity.value) == ("fault", "lead")
    assert finding.values["same_as"] == {"detector": "repeated_call", "round": 3}


def test_the_same_answer_of_other_calls_stands() -> None:
    run = a_run(*([call(f"get_{n}", {"id": 7}, "no session")] for n in range(5)), "Done.")

    assert of(analyse(run), "no_progress") == "fault"


def test_a_run_that_loops_to_its_end_is_told_as_the_loop() -> None:
    loop = a_run(*[[RESET], [READ]] * 4)
    stopped = replace(loop, ending=Ending.STOPPED, ending_reason="A person stopped it")

    assert of(analyse(loop), "never_finished") == "lead"
    assert "never_finished" not in names(analyse(stopped))
    assert analyse(stopped).verdict.flagged


def test_a_run_that_got_out_of_its_loop_and_never_finished_says_so() -> None:
    run = a_run(*[[READ]] * 4, [call("look_up", {"n": 1}, "row")], [call("get", {}, "x")])

    assert of(analyse(run), "never_finished") == "fault"
