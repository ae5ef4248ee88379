"""The case document: made of a run, written for people, read with a full check."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analysis.cases.case import (
    case_from_run,
    missing_for_replay,
    read_case,
    readable,
    schema_of_cases,
    write_case,
)
from analysis.cases.harness import JUDGES, KINDS, MOCKS, RAISES, CaseError
from tests.analysis.cases import vpn
from transcripts.importers import read_runs
from transcripts.record import Call, Orphan, Round, RunRecord, Stop


def a_run(*rounds: Round) -> RunRecord:
    return RunRecord("r-1", rounds)


def calling(number: int, result: str | None = "ok") -> Round:
    return Round(number, Stop.WANTS_TOOL, calls=(Call("look", "{}", result),))


def made(run: RunRecord, **entries: Any) -> dict[str, Any]:
    return case_from_run(vpn.masked(run), case_id="c", **{"expect": [], **entries})


def changed(**entries: Any) -> str:
    return json.dumps({**vpn.vpn_case(), **entries})


def test_a_case_comes_back_as_it_was_written() -> None:
    case = vpn.vpn_case(script={"replies": "by_match"}, limits={"rounds": 60, "pass_rate": 0.9})

    assert read_case(write_case(case)) == case
    assert write_case(read_case(write_case(case))) == write_case(case)


def test_the_run_in_a_case_is_a_run_that_can_be_imported() -> None:
    (run,) = read_runs(json.dumps(vpn.vpn_case()["run"]).encode())

    assert run == vpn.recorded_run()


def test_the_schema_is_one_and_knows_what_the_harness_knows() -> None:
    schema = schema_of_cases()

    Draft202012Validator.check_schema(schema)
    definitions = schema["$defs"]
    assert tuple(definitions["expectation"]["properties"]["kind"]["enum"]) == KINDS
    assert set(KINDS) == set(JUDGES)
    assert set(definitions["mock"]["properties"]["answer"]["enum"]) == MOCKS
    assert set(definitions["mock"]["properties"]["raises"]["enum"]) == set(RAISES)


def test_one_changed_limit_is_one_changed_line() -> None:
    before = vpn.vpn_case()
    after = vpn.vpn_case(
        expect=[{**e, "rounds": 9} if e["kind"] == "max_rounds" else e for e in vpn.EXPECT]
    )

    pairs = zip(write_case(before).splitlines(), write_case(after).splitlines(), strict=True)
    assert [pair for pair in pairs if pair[0] != pair[1]] == [
        (
            '    {"id": "max_rounds", "kind": "max_rounds", "rounds": 12},',
            '    {"id": "max_rounds", "kind": "max_rounds", "rounds": 9},',
        )
    ]


def test_what_cannot_be_seen_is_written_as_an_escape() -> None:
    text = readable({"note": "pay \u202eevil\u2066 \u200bnow", "half": "\ud83d"})

    assert "\\u202e" in text
    assert "\\u2066" in text
    assert "\\ud83d" in text
    assert json.loads(text) == {"note": "pay \u202eevil\u2066 \u200bnow", "half": "\ud83d"}
    text.encode()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(changed(schema="agentdesk.case/2"), "another version", id="future version"),
        pytest.param(changed(schema="agentdesk.run/1"), "not a test case", id="a run"),
        pytest.param("[]", "not a test case", id="a list"),
        pytest.param("{", "not JSON", id="no JSON"),
        pytest.param('{"schema": NaN}', "NaN is no JSON number", id="NaN"),
        pytest.param("[" * 100_000, "nested too deeply", id="nested"),
        pytest.param(changed(mock=[]), "$: Additional properties", id="unknown name"),
        pytest.param(changed(expect=[{"id": "a", "kind": "magic"}]), "$.expect[0].kind", id="kind"),
        pytest.param(
            changed(expect=[{"id": "a", "kind": "max_rounds", "round": 3}]),
            "$.expect[0]: 'rounds' is a required property",
            id="required",
        ),
        pytest.param(
            changed(expect=[vpn.EXPECT[0], vpn.EXPECT[0]]),
            "$.expect[1].id: 'ending' is there twice",
            id="twice",
        ),
        pytest.param(
            changed(expect=[{"id": "a", "kind": "final_reply", "matches": "(unclosed"}]),
            "$.expect[0].matches: no regular expression",
            id="pattern",
        ),
        pytest.param(
            changed(mocks=[{"tool": "t", "answer": "error", "raises": "SystemExit"}]),
            "$.mocks[0].raises: 'SystemExit' is not one of",
            id="exception of a mock",
        ),
        pytest.param(changed(run={"rounds": []}), "$.run.rounds", id="no rounds"),
        pytest.param(changed(case_id="../../etc"), "$.case_id", id="id that is a path"),
    ],
)
def test_refuses_with_the_place(content: str, sentence: str) -> None:
    with pytest.raises(CaseError) as refused:
        read_case(content)

    assert sentence in str(refused.value)
    assert len(str(refused.value)) < 3000


@pytest.mark.parametrize(
    ("run", "missing"),
    [
        pytest.param(a_run(), ("it has no rounds",), id="nothing"),
        pytest.param(
            a_run(calling(1), calling(4), calling(6)),
            ("rounds 2 to 3 are missing", "round 5 is missing"),
            id="gaps",
        ),
        pytest.param(
            a_run(calling(1, None), calling(2)),
            ("round 1, call 1 (look) has no result",),
            id="no result",
        ),
        pytest.param(
            a_run(Round(1, Stop.WANTS_TOOL), calling(2)),
            ("round 1 wanted a tool, and no call of it was recorded",),
            id="no call",
        ),
        pytest.param(
            a_run(replace(calling(1), orphans=(Orphan("x9", "late"),))),
            ("round 1: the result x9 answers no call",),
            id="orphan",
        ),
    ],
)
def test_an_incomplete_run_is_refused_with_its_rounds(
    run: RunRecord, missing: tuple[str, ...]
) -> None:
    assert missing_for_replay(run) == missing
    with pytest.raises(CaseError, match="too incomplete to replay"):
        made(run)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(calling(1), calling(2, None)), id="stopped before the last result"),
        pytest.param(a_run(calling(1, ""), Round(2, Stop.FINISHED)), id="empty is not unanswered"),
    ],
)
def test_a_run_that_can_be_replayed_is_not_refused(run: RunRecord) -> None:
    assert missing_for_replay(run) == ()
    assert made(run)["run"]["rounds"]


def test_long_lists_of_reasons_are_counted() -> None:
    run = a_run(*(calling(number, None) for number in range(1, 30)))

    with pytest.raises(CaseError, match="and 20 more"):
        made(run)


def test_the_receipt_of_masking_is_in_the_case() -> None:
    assert vpn.vpn_case()["masked"] == {"rule_set": "test", "hits": {}}


def test_the_case_of_the_story_is_what_the_product_writes() -> None:
    file = vpn.FILE.with_name("vpn.case.json")

    assert file.read_text(encoding="utf-8") == write_case(vpn.vpn_case())
