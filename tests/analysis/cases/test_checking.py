"""What the harness alone refuses: hand-edited and hostile cases, always with a sentence."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from analysis.cases.case import schema_of_cases
from analysis.cases.harness import CaseError, Options, check_case, judge, run_here
from analysis.cases.harness.checking import BRANCH, CASE, COMMON, EXPECTATIONS, MOCK, REPLY, WHEN
from tests.analysis.cases import vpn
from tests.analysis.cases.small import a_case, plain_loop, says, wants


def changed(**entries: Any) -> dict[str, Any]:
    return {**a_case(wants("look"), says()), **entries}


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        pytest.param(None, "not a test case", id="null"),
        pytest.param({"schema": 1}, "not a test case", id="number"),
        pytest.param(changed(schema="agentdesk.case/2"), "made by another version", id="future"),
        pytest.param(changed(run=[]), "run: expected an object", id="run"),
        pytest.param(changed(run={"rounds": []}), "no rounds to replay", id="no rounds"),
        pytest.param(
            changed(run={"rounds": [{"round": 1, "calls": [{}]}]}),
            "run.rounds[0].calls[0]: name is missing",
            id="call",
        ),
        pytest.param(changed(expect={}), "expect: expected a list", id="expect"),
        pytest.param(
            changed(expect=[{"kind": "max_rounds", "round": 3}]),
            "expect[0]: 'round' is not known here",
            id="typing error",
        ),
        pytest.param(
            changed(expect=[{"kind": "max_rounds"}]), "expect[0]: rounds is missing", id="missing"
        ),
        pytest.param(
            changed(expect=[{"kind": "max_rounds", "rounds": True}]),
            "expect[0].rounds: expected int",
            id="true is no number",
        ),
        pytest.param(
            changed(expect=[{"kind": "final_reply", "matches": "("}]),
            "expect[0].matches: no regular expression",
            id="pattern",
        ),
        pytest.param(
            changed(branches=[{"when": {"says": "x"}, "replies": []}]),
            "branches[0].when: 'says' is not known here",
            id="branch",
        ),
        pytest.param(
            changed(mocks=[{"tool": "x", "answer": "error", "raises": "SystemExit"}]),
            "mocks[0].raises: 'SystemExit' is not one of",
            id="mock",
        ),
        pytest.param(changed(extra=1), "case: 'extra' is not known here", id="extra"),
    ],
)
def test_refuses_with_the_place(case: Any, sentence: str) -> None:
    with pytest.raises(CaseError) as refused:
        check_case(case)

    assert sentence in str(refused.value)


def names(shape: dict[str, Any]) -> set[str]:
    return {name.rstrip("?") for name in shape}


def test_both_checks_know_the_same_fields() -> None:
    schema = schema_of_cases()
    parts = schema["$defs"]

    assert names(CASE) == set(schema["properties"])
    assert names(BRANCH) == set(parts["branch"]["properties"])
    assert names(WHEN) == set(parts["branch"]["properties"]["when"]["properties"])
    assert names(REPLY) == set(parts["reply"]["properties"])
    assert names(MOCK) == set(parts["mock"]["properties"])
    assert names(COMMON) == set(parts["expectation"]["properties"])


def test_both_checks_know_the_same_fields_of_each_expectation() -> None:
    said: dict[str, set[str]] = {}
    for rule in schema_of_cases()["$defs"]["expectation"]["allOf"]:
        kind = rule["if"]["properties"]["kind"]
        for name in kind.get("enum", [kind.get("const")]):
            said[name] = set(rule["then"]["properties"])

    assert {kind: names(fields) for kind, fields in EXPECTATIONS.items()} == said


ODD: list[Any] = [None, True, -1, 1.5, "", "x", [], {}, [None], {"a": []}, "\ud800", 10**30]


def damaged(value: Any, chance: random.Random) -> Any:
    """A copy of `value` with one place changed to something odd, or gone."""
    copied = copy.deepcopy(value)
    node = copied
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = chance.choice(keys)
        if isinstance(node[key], (dict, list)) and node[key] and chance.random() < 0.8:
            node = node[key]
        elif chance.random() < 0.2:
            del node[key]
            return copied
        else:
            node[key] = chance.choice(ODD)
            return copied


def test_a_damaged_case_is_refused_or_replayed_and_never_breaks_the_harness() -> None:
    chance = random.Random(7)
    whole = vpn.vpn_case(script={"replies": "by_match"}, limits={"rounds": 20})
    whole["run"]["rounds"] = whole["run"]["rounds"][:6]
    whole["expect"] = [{**e, "id": k} for k, e in enumerate_expectations()]
    refused = 0
    for _ in range(600):
        case = json.loads(json.dumps(damaged(whole, chance)))
        try:
            check_case(case)
        except CaseError:
            refused += 1
            continue
        trace = run_here(case, plain_loop, Options(rounds=20))
        judge(case, trace)
        assert trace.how in ("returned", "stopped", "raised"), trace

    assert 100 < refused < 600


def enumerate_expectations() -> list[tuple[str, dict[str, Any]]]:
    more = [
        {"kind": "final_reply", "contains": "x", "matches": "x"},
        {"kind": "must_call", "tool": "look", "args": {"a": 1}},
        {"kind": "no_retry_after_failure", "tool": "look"},
        {"kind": "max_cost", "cost": 1},
    ]
    return [(str(at), entry) for at, entry in enumerate([*vpn.EXPECT, *more])]
