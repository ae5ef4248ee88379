from __future__ import annotations

from analysis.strip import WORST_FIRST, _mark_repeats, merged
from analysis.suite import CELLS, analyse
from tests.builders import a_round, a_run, call
from transcripts.record import Stop

STEP = call("get_employee", {"id": 7}, "7, accountant")
NOTHING = call("reset_profile", {"id": 7}, "")


def test_one_cell_a_round_with_the_worst_of_it() -> None:
    run = a_run([STEP], [NOTHING], [STEP, NOTHING], a_round(reply="x", stop=Stop.CUT_OFF), "Bye.")

    assert analyse(run).strip == ".o.xf"


def test_repeats_are_marked() -> None:
    assert analyse(a_run(*[[STEP]] * 5)).strip == "..rrr"


def test_leads_and_claims_on_the_whole_run_have_no_cell() -> None:
    polled = [[call("get_job", {"id": 7}, f"step {n}")] for n in range(14)]
    analysis = analyse(a_run(*polled))

    assert {each.detector for each in analysis.findings} >= {"round_limit_passed", "never_finished"}
    assert analysis.strip == "." * 14


def test_an_odd_round_that_was_made_up_for_is_paler_than_one_that_stands() -> None:
    worked = call("reset_profile", {"id": 7}, "profile 7 is new")

    strip = analyse(a_run([NOTHING], [NOTHING], [worked], "Done.")).strip

    assert strip == "l..f"


def test_calls_that_take_turns_are_hatched_from_their_third_time_on() -> None:
    other = call("get_order", {"id": "W1"}, "W1, two books")

    assert analyse(a_run(*[[STEP], [other]] * 4)).strip == "....rrrr"


def test_repetitions_over_each_other_and_gaps_are_hatched_once() -> None:
    codes = dict.fromkeys([1, 2, 5, 9, 10], ".")

    _mark_repeats(codes, [(2, 5), (1, 2), (9, 9)])

    assert "".join(codes.values()) == "rrrr."


def test_an_empty_run_has_no_cells() -> None:
    assert analyse(a_run()).strip == ""


def test_a_gap_is_a_cell_of_its_own() -> None:
    assert merged({1: ".", 4: "f"}, 10) == ".--f"


def test_many_rounds_merge_and_the_worst_stays_visible() -> None:
    codes = dict.fromkeys(range(1, 5001), ".") | {3_333: "o"}

    strip = merged(codes, CELLS)

    assert len(strip) <= CELLS
    assert strip.count("o") == 1
    assert 0.6 < strip.index("o") / len(strip) < 0.73


def test_a_huge_gap_takes_no_more_than_the_cells() -> None:
    assert merged({1: ".", 10**9: "f"}, CELLS) == ".f"


def test_every_code_has_its_rank() -> None:
    assert len(set(WORST_FIRST)) == len(WORST_FIRST)
