"""The cases that the suite was built for, from the folder beside the repository."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from analysis.suite import Analysis, analyse
from transcripts.endings import with_ending
from transcripts.importers import read_runs
from transcripts.record import ENDED_BY_ITSELF, RunRecord

SHARED = Path(os.environ.get("AGENTDESK_SHARED") or Path(__file__).resolve().parents[3] / "shared")
CASES = SHARED / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"there are no cases in {SHARED}")


@cache
def analysed(path: Path) -> tuple[RunRecord, Analysis]:
    (found,) = read_runs(path.read_bytes(), default_run_id=path.stem)
    assert isinstance(found, RunRecord)
    run = with_ending(found, live=False)
    return run, analyse(run)


def expected(folder: str) -> dict[str, Any]:
    path = CASES / folder / "expected.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


@pytest.mark.parametrize("file", ["vpn-log.jsonl", "vpn-openai.json"])
def test_the_vpn_run(file: str) -> None:
    wanted = expected("vpn")
    run, analysis = analysed(CASES / "vpn" / file)
    by_name = {each.detector: each for each in reversed(analysis.findings)}

    assert len(run.rounds) == wanted["rounds"]
    assert {each.stop.value for each in run.rounds} == set(wanted["stops"])
    assert (run.ending in ENDED_BY_ITSELF) is wanted["ended_by_itself"]
    odd = analysis.verdict.first_odd
    assert odd is not None
    assert {"round": odd.round, "tool": odd.tool, "why": odd.why} == wanted["first_odd_round"]
    third = by_name["repeated_call"]
    assert {"round": third.round, "tool": third.tool} == wanted["third_identical_call"]
    turns = by_name["alternating_calls"]
    assert {
        "tools": turns.values["tools"],
        "from_round": turns.round,
        "to_round": turns.to_round,
    } == wanted["alternation"]
    assert {
        each.tool: each.values["times"]
        for each in analysis.findings
        if each.detector == "repeated_call"
    } == wanted["identical_calls"]
    assert analysis.verdict.flagged
    if file == "vpn-openai.json":
        assert by_name["ticket_lost"].round == wanted["ticket_lost_from_round"]


def test_the_sentence_on_the_vpn_run() -> None:
    if not (CASES / "vpn/vpn-openai.json").is_file():
        pytest.skip("the VPN run is not there")
    _, analysis = analysed(CASES / "vpn/vpn-openai.json")

    assert analysis.verdict.sentence == (
        "Did not end by itself: 52 rounds, every one wanted a tool. First odd round: 3, "
        "reset_vpn_profile returned nothing. From round 7 the same call repeats; from round 40 "
        "the ticket is no longer in what the model reads."
    )
    assert analysis.wasted.rounds == tuple(range(8, 53))


@pytest.mark.parametrize("file", sorted(expected("field")))
def test_cases_from_the_field(file: str) -> None:
    wanted = expected("field")[file]
    _, analysis = analysed(CASES / "field" / file)
    rounds: dict[str, list[int]] = {}
    for each in analysis.findings:
        rounds.setdefault(each.detector, []).append(each.round)

    for detector, round_ in wanted["must"].items():
        assert detector in rounds
        assert round_ is None or round_ in rounds[detector]
    assert not set(wanted.get("must_not", ())) & set(rounds)
    assert analysis.verdict.flagged is wanted["flagged"]
    if "first_odd" in wanted:
        assert analysis.verdict.first_odd is not None
        assert analysis.verdict.first_odd.round == wanted["first_odd"]
