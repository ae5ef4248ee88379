"""Results as the server reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analysis.cases.harness import ENDINGS, CaseError, replay
from analysis.cases.result import read_result, schema_of_results
from tests.analysis.cases import vpn
from tests.analysis.cases.small import a_case, says


def result(agent: Any = vpn.old_agent, **settings: Any) -> dict[str, Any]:
    return replay(vpn.vpn_case(), agent, **settings)


def raises(replayed: Any) -> None:
    print("secret words")
    raise ValueError("no")


@pytest.mark.parametrize("agent", [vpn.old_agent, vpn.new_loop_only, vpn.new_agent, raises])
def test_what_the_harness_writes_is_what_the_server_reads(agent: Any) -> None:
    written = result(agent, runs=3, seed=1, versions={"code": "abc", "prompt": "", "model": ""})

    read = read_result(json.dumps(written))

    assert (read["runs"], read["passed"]) == (written["runs"], written["passed"])
    assert "secret words" not in json.dumps(read)


def test_the_schema_is_one_and_knows_every_ending() -> None:
    schema = schema_of_results()

    Draft202012Validator.check_schema(schema)
    assert tuple(schema["$defs"]["run"]["properties"]["ending"]["enum"]) == ENDINGS


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"schema": "agentdesk.case-result/2"}, "$.schema", id="future"),
        pytest.param({"runs": 7}, "$.runs: 7, and each lists 1", id="runs"),
        pytest.param({"passed": 1}, "$.passed: 1, and in each 0 passed", id="passed"),
        pytest.param({"runs": True}, "$.runs", id="true is no count"),
        pytest.param({"state": "fine"}, "$.state: 'fine' is not one of", id="state"),
        pytest.param({"versions": {"os": "x"}}, "$.versions", id="unknown version"),
        pytest.param({"each": "x" * 5000}, "$.each", id="a long wrong value"),
        pytest.param(
            {"expectations": [{"id": "a", "state": "passed", "runs": 1, "passed": 9}]},
            "$.expectations[0]: more passed than runs",
            id="more than there were",
        ),
    ],
)
def test_refuses_with_the_place(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CaseError) as refused:
        read_result(json.dumps({**result(), **change}))

    assert sentence in str(refused.value)
    assert len(str(refused.value)) < 1000


def test_a_case_without_expectations_has_a_result_too() -> None:
    written = replay(a_case(says()), lambda replayed: None)

    assert read_result(json.dumps(written))["expectations"] == []
