from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.detectors.limits import Limits
from analysis.suite import analyse
from tests.builders import a_round, a_run, call, stopped
from transcripts.record import Call, Ending, RunRecord, Stop

STEP = call("get_employee", {"id": 7}, "7, accountant")
FAILED = call("reset_profile", {"id": 7}, "Error: locked")
WORKED = call("reset_profile", {"id": 7}, "profile 7 reset at 10:02")
SAME = [[STEP], [STEP], [STEP]]
HAND_OFF = [call("transfer_to_human_agents", {}, "ok")]


def ending(run: RunRecord, how: Ending, reason: str = "") -> RunRecord:
    return replace(run, ending=how, ending_reason=reason)


def test_an_error_quotes_the_service_between_marks() -> None:
    run = a_run([STEP], a_round(stop=Stop.ERROR, error="mail of ”Anna“ is over quota"))

    assert "after 2 rounds: “mail of 'Anna' is over quota”." in analyse(run).verdict.sentence


@pytest.mark.parametrize(
    ("args", "told"),
    [
        pytest.param({"summary": "Wants a refund."}, ": “Wants a refund”.", id="a summary"),
        pytest.param({"summary": "x", "reason": "no rights"}, ": “no rights”.", id="reason first"),
        pytest.param({"Reason": "no rights"}, ": “no rights”.", id="any case"),
        pytest.param({"message": "a ”quote“ in it"}, ": “a 'quote' in it”.", id="marks inside"),
        pytest.param({"reason": " ", "team": "network"}, ".", id="no words"),
        pytest.param({"reason": {"code": 4}}, ".", id="no text"),
        pytest.param('{"reason": "half', ".", id="no JSON"),
        pytest.param("[1]", ".", id="no object"),
    ],
)
def test_a_hand_off_says_why_in_the_words_of_its_call(args: object, told: str) -> None:
    run = a_run([STEP], [call("transfer_to_human_agents", args, "ok")], "A colleague takes over.")

    assert analyse(run).verdict.sentence.startswith(f"Handed off after 3 rounds{told}")


def test_the_reason_that_the_run_gives_goes_before_that_of_its_call() -> None:
    run = a_run([STEP], [call("transfer_to_human_agents", {"reason": "no rights"}, "ok")])

    sentence = analyse(ending(run, Ending.HANDED_OFF, "the user asked for a person")).verdict

    assert sentence.sentence.startswith("Handed off after 2 rounds: “the user asked for a person”.")


def test_a_long_hand_off_is_cut() -> None:
    run = a_run([STEP], [call("escalate", {"summary": "word " * 200}, "ok")])

    opening = analyse(run).verdict.parts[0].text

    assert len(opening) < 300
    assert opening.endswith("…”.")


@pytest.mark.parametrize(
    ("run", "kind", "flagged", "opening"),
    [
        (a_run([STEP], live=True), "still_going", False, "Still going: 1 round so far."),
        (
            stopped(a_run([STEP], [STEP]), "cancelled by the user"),
            "stopped",
            True,
            "Stopped from outside after 2 rounds: “cancelled by the user”.",
        ),
        (
            a_run([STEP], [call("escalate_to_it_team", {}, "ok")]),
            "handed_off",
            True,
            "Handed off after 2 rounds.",
        ),
        (
            a_run([STEP], a_round(reply="x", stop=Stop.CUT_OFF)),
            "cut_off",
            True,
            "The last reply was cut off, after 2 rounds.",
        ),
        (
            a_run(a_round(stop=Stop.BLOCKED)),
            "blocked",
            True,
            "The last reply was blocked, after 1 round.",
        ),
        (
            a_run([STEP], a_round(stop=Stop.UNKNOWN, stop_raw="eos2")),
            "unknown",
            True,
            "Ended for an unknown reason after 2 rounds: 1 wanted a tool, "
            "1 stopped for an unknown reason.",
        ),
        (
            a_run([STEP], a_round(stop=Stop.ERROR, error="overloaded")),
            "error",
            True,
            "Ended with an error after 2 rounds: “overloaded”.",
        ),
        (
            ending(a_run(*SAME), Ending.ROUND_LIMIT),
            "limit_passed",
            True,
            "Stopped at the round limit after 3 rounds.",
        ),
        (
            ending(a_run(*SAME), Ending.REPEATED_CALL),
            "repeats",
            True,
            "Did not end by itself: 3 rounds, every one wanted a tool.",
        ),
        (
            a_run(*SAME),
            "repeats",
            True,
            "Did not end by itself: 3 rounds, every one wanted a tool.",
        ),
        (
            a_run([STEP]),
            "never_finished",
            True,
            "Did not end by itself: 1 round, it wanted a tool.",
        ),
        (
            a_run([FAILED], "All done, it has been reset."),
            "claims",
            True,
            "Finished after 2 rounds, but says done what did not happen.",
        ),
        (
            a_run([FAILED], "I could not do it."),
            "unresolved",
            True,
            "Finished after 2 rounds, with trouble that it did not get over.",
        ),
        (
            a_run([FAILED], [WORKED], "Done."),
            "recovered",
            False,
            "Finished after 3 rounds, after trouble that it recovered from.",
        ),
        (
            a_run([STEP], "Done."),
            "finished",
            False,
            "Finished by itself after 2 rounds, nothing odd.",
        ),
        (a_run(), "never_finished", True, "Did not end by itself: 0 rounds, no reply at all."),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_every_branch_of_the_chart(run: RunRecord, kind: str, flagged: bool, opening: str) -> None:
    verdict = analyse(run).verdict

    assert (verdict.kind, verdict.flagged) == (kind, flagged)
    assert verdict.sentence.startswith(opening)


def test_a_limit_that_is_set_goes_before_repetition() -> None:
    verdict = analyse(a_run(*SAME), Limits(rounds=2)).verdict

    assert verdict.kind == "limit_passed"
    assert verdict.sentence.startswith(
        "Did not end by itself: the run passed its limit of 2 rounds, "
        "3 rounds, every one wanted a tool."
    )


def test_a_finished_run_past_its_limit_is_flagged() -> None:
    verdict = analyse(a_run([STEP], [WORKED], "Done."), Limits(rounds=2)).verdict

    assert (verdict.kind, verdict.flagged) == ("limit_passed", True)
    assert verdict.sentence.startswith("Finished after 3 rounds, but the run passed its limit")


def test_the_sentence_links_its_rounds() -> None:
    nothing = call("reset_profile", {"id": 7}, "")

    verdict = analyse(a_run([STEP], [nothing], [nothing], [nothing])).verdict

    links = [(part.text, part.round) for part in verdict.parts if part.round is not None]
    assert links == [("First odd round: 2", 2), ("From round 4", 4)]
    assert verdict.sentence == (
        "Did not end by itself: 4 rounds, every one wanted a tool. First odd round: 2, "
        "reset_profile returned nothing. From round 4 the same call repeats."
    )


def test_a_recovered_first_odd_round_says_so() -> None:
    verdict = analyse(a_run([FAILED], [WORKED], "Done.")).verdict

    assert (
        "First odd round: 1, reset_profile failed without saying so; made up for in round 2."
        in (verdict.sentence)
    )


@pytest.mark.parametrize(
    ("rounds", "round_"),
    [
        pytest.param([[STEP], HAND_OFF], 3, id="by the last call"),
        pytest.param([HAND_OFF, "A colleague takes over."], 2, id="before the last reply"),
    ],
)
def test_a_hand_off_makes_up_for_nothing(rounds: list[list[Call] | str], round_: int) -> None:
    verdict = analyse(a_run([FAILED], *rounds)).verdict

    assert verdict.sentence.endswith(f"failed without saying so; handed off in round {round_}.")


def test_what_worked_before_the_hand_off_made_up_for_it() -> None:
    verdict = analyse(a_run([FAILED], [WORKED], HAND_OFF)).verdict

    assert verdict.sentence.endswith("; made up for in round 2.")


def test_leads_alone_flag_nothing() -> None:
    ok = call("update_order", {"id": 7}, "ok")

    analysis = analyse(a_run([ok], "Done."))

    assert [each.severity for each in analysis.findings] == ["lead"]
    assert not analysis.verdict.flagged


def test_counts_are_right_in_singular_and_plural() -> None:
    one, two = analyse(a_run("Hi.")).verdict, analyse(a_run("Hi.", "Bye.")).verdict

    assert "1 round," in one.sentence
    assert "2 rounds," in two.sentence


def test_an_unknown_end_is_told_once() -> None:
    run = a_run(a_round(stop=Stop.UNKNOWN, stop_raw="eos2"))

    assert analyse(run).verdict.parts[0].text == "Ended for an unknown reason after 1 round."


def test_the_same_answer_comes_back_from_the_first_time_on() -> None:
    lists = [[call("list_files", {"of": name}, "[]")] for name in ("a", "b", "c", "d")]

    sentence = analyse(a_run(*lists)).verdict.sentence

    assert sentence.endswith(" From round 1 the same answer comes back 4 times in a row.")


def test_a_repeat_that_the_run_got_over_has_an_end() -> None:
    same = [call("reset_profile", {"id": 7}, "pending")]
    run = a_run(same, same, same, [call("reset_profile", {"id": 7}, "done")], "It is reset.")

    result = analyse(run).verdict

    assert result.sentence.endswith(" From round 3 the same call repeats, until round 4.")


def test_trouble_without_an_odd_round_is_named() -> None:
    text = "I will look at the profile of this employee once more, this time in all detail."
    rounds = [a_round(call(f"step_{n}", {}, f"{n} done"), reply=text) for n in "abc"]

    result = analyse(a_run(*rounds, "All is well.")).verdict

    assert result.first_odd is None
    assert result.sentence == (
        "Finished after 4 rounds, with trouble that it did not get over. "
        "By round 3 the same reply comes again and again."
    )


def test_a_run_of_which_only_the_end_came_is_not_called_good() -> None:
    run = ending(a_run(), Ending.FINISHED)

    assert analyse(run).verdict.sentence == "Said to be finished, but no round of it came."
