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
from transcripts.record import Ending, apply_change


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
    assert "secret words" not in json.dumps(read["each"])
    assert [told["state"] for told in read["replays"]] == [written["each"][0]["state"]]


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


def replays_of(agent: Any, **settings: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_result(json.dumps(result(agent, **settings)))["replays"]
    return found


def test_the_first_run_that_passed_and_the_first_that_failed_say_what_was_said() -> None:
    def now_and_then(replayed: Any) -> None:
        (vpn.new_agent if replayed.options.seed in (2, 4) else vpn.old_agent)(replayed)

    failed, passed = replays_of(now_and_then, runs=4, seed=1)

    assert (failed["run"], failed["state"], passed["run"], passed["state"]) == (
        1, "failed", 2, "passed",
    )  # fmt: skip
    asked = passed["record"].rounds[2].calls[0]
    assert (asked.name, asked.is_error) == ("reset_vpn_profile", True)
    assert "no permission" in asked.result
    assert passed["record"].ending == Ending.FINISHED
    assert len(failed["record"].rounds) == len(vpn.recorded_run().rounds)


def test_inputs_of_a_replay_are_those_that_the_loop_showed() -> None:
    (told,) = replays_of(vpn.old_agent)

    inputs: list[str] = []
    for round_ in told["record"].rounds:
        inputs = apply_change(inputs, round_.input)
    # The loop cuts its messages to the last 60 once there are more than 78.
    assert 60 <= len(inputs) <= 78
    contents = {message.key: message.content for message in told["record"].messages}
    assert "VPN" not in contents[inputs[0]]


def test_a_transcript_that_is_too_long_is_left_out_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = result()
    size = len(json.dumps(written["replays"][0]["transcript"]))
    monkeypatch.setattr("analysis.cases.result.LARGEST_TRANSCRIPT", size - 1)
    monkeypatch.setattr("analysis.cases.harness.tally.LARGEST_TRANSCRIPT", size - 1)

    (sent,) = read_result(json.dumps(written))["replays"]
    (told,) = replays_of(vpn.old_agent)

    assert "record" not in sent
    assert sent["left_out"] == size
    # Durations differ from run to run by some digits.
    assert told["left_out"] == pytest.approx(size, rel=0.1)


def test_a_result_says_nothing_of_what_was_said_where_that_is_not_wanted() -> None:
    assert result(transcripts=False)["replays"] == []
    assert replays_of(vpn.old_agent, transcripts=False) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"run": 7}, "$.replays[0].run: each lists no run 7", id="no such run"),
        pytest.param({"run": 0}, "$.replays[0].run", id="no number"),
        pytest.param({"transcript": "text"}, "$.replays[0].transcript", id="no object"),
        pytest.param(
            {"transcript": {"rounds": [{"round": 0}]}},
            "$.replays[0].transcript.rounds[0]",
            id="a round without a number",
        ),
    ],
)
def test_a_transcript_that_does_not_fit_is_refused_with_the_place(
    change: dict[str, Any], sentence: str
) -> None:
    written = result()
    written["replays"][0] |= change

    with pytest.raises(CaseError) as refused:
        read_result(json.dumps(written))

    assert sentence in str(refused.value)


def test_a_run_has_one_transcript() -> None:
    written = result()
    written["replays"] *= 2

    with pytest.raises(CaseError, match=r"\$\.replays\[1\]\.run: run 1 is there twice"):
        read_result(json.dumps(written))


def test_a_case_without_expectations_has_a_result_too() -> None:
    written = replay(a_case(says()), lambda replayed: None)

    assert read_result(json.dumps(written))["expectations"] == []
