"""Results that come home: kept once, masked, by version; as JSON or as JUnit."""

from __future__ import annotations

import json
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from analysis.cases.export_pytest import export_zip
from analysis.cases.harness import CaseError, junit, replay
from analysis.cases.junit_read import read_junit
from analysis.cases.result import read_result
from analysis.models import CaseResult, ResultSource, TestCase
from analysis.selectors.cases import case_document
from analysis.services.case_results import TROUBLES_KEPT, case_result_add
from analysis.services.cases import case_edit
from tests.analysis.case_pages.made import VPN, a_kept_result, a_result_of, a_test_case
from tests.analysis.cases import vpn
from tests.analysis.cases.test_export_pytest import run
from transcripts.fields import refuse_plain

pytestmark = pytest.mark.django_db
SECRET = "ghp_1234567890abcdefghijABCDEFGHIJ123456"


def kept(case: TestCase, result: dict[str, Any]) -> tuple[CaseResult, bool]:
    content = json.dumps(result).encode()
    return case_result_add(
        case=case, result=read_result(content), content=content, source=ResultSource.HARNESS
    )


def test_a_result_is_kept_with_its_version_seeds_and_counts() -> None:
    case = a_test_case()
    told = replay(
        case_document(case),
        vpn.old_agent,
        runs=3,
        seed=7,
        temperature=0.5,
        agent_name="helpdesk:old",
        versions={"code": "abc123", "prompt": "p2", "model": ""},
    )

    row, is_new = kept(case, told)

    assert is_new
    assert (row.state, row.runs, row.passed, row.revision) == ("failed", 3, 0, 1)
    assert (row.code_version, row.prompt_version, row.agent) == ("abc123", "p2", "helpdesk:old")
    assert (row.seed, row.temperature, row.endings) == (7, 0.5, {"open": 3})
    assert row.started_at is not None
    assert [entry["id"] for entry in row.expectations] == [each["id"] for each in vpn.EXPECT]
    assert row.expectations[0]["why"].startswith("still going at round 52")
    assert [trouble["seed"] for trouble in row.troubles] == [7, 8, 9]


def test_the_same_result_again_changes_nothing() -> None:
    case = a_test_case()
    told = a_result_of(case, 1, 2)

    first, second = kept(case, told), kept(case, told)

    assert (first[1], second[1]) == (True, False)
    assert first[0] == second[0] == CaseResult.objects.get()


def test_a_result_of_another_state_of_the_case_says_so() -> None:
    case = a_test_case()
    older = a_result_of(case, 1, 1)
    case = case_edit(case=case, definition={**VPN, "title": "Other"})
    mine = {**a_result_of(case, 1, 1), "case_digest": "0" * 64}

    assert kept(case, older)[0].revision == 1
    assert kept(case, a_result_of(case, 1, 1))[0].revision == 2
    assert kept(case, mine)[0].revision is None


def test_every_text_of_a_result_is_masked() -> None:
    case = a_test_case()
    told = a_result_of(case, 0, 1, agent=SECRET, versions={"code": SECRET, "prompt": SECRET})
    told["each"][0] |= {"trouble": SECRET, "failed": [SECRET], "printed": SECRET}
    told["expectations"][0] |= {"text": SECRET, "first": {"run": 1, "why": SECRET}}
    told["divergence"] = {"run": 1, "round": 2, "what": SECRET, "expected": SECRET, "got": None}

    row, _ = kept(case, told)

    row.refresh_from_db()
    texts = {name: getattr(row, name) for name in ("agent", "code_version", "prompt_version")}
    texts |= {name: getattr(row, name) for name in ("expectations", "troubles", "divergence")}
    assert SECRET not in json.dumps(texts)
    refuse_plain(texts, "result")


def test_of_many_failed_runs_the_first_are_kept_each_by_itself() -> None:
    row = a_kept_result(a_test_case(), 0, TROUBLES_KEPT + 5)

    assert len(row.troubles) == TROUBLES_KEPT
    assert sum(row.endings.values()) == row.runs


def test_real_models_that_answered_are_the_version_where_none_is_said() -> None:
    case = a_test_case()
    told = a_result_of(case, 1, 1)
    recorded = told["each"][0]["models"]
    assert recorded
    assert kept(case, told)[0].model_version == ""

    told["each"][0]["models"] = [*recorded, "gpt-5-mini"]

    assert kept(case, {**told, "from_round": 3})[0].model_version == "gpt-5-mini"


def test_junit_of_the_harness_is_the_same_result() -> None:
    case = a_test_case()
    told = replay(
        case_document(case), vpn.old_agent, runs=4, seed=3, versions={"code": "c1", "prompt": "p"}
    )
    content = junit([told]).encode()

    row, _ = case_result_add(
        case=case,
        result=read_junit(content, {case.name}),
        content=content,
        source=ResultSource.JUNIT,
    )

    assert (row.state, row.runs, row.passed, row.seed) == ("failed", 4, 0, 3)
    assert (row.code_version, row.prompt_version) == ("c1", "p")
    assert [entry["id"] for entry in row.expectations] == [each["id"] for each in vpn.EXPECT]
    assert "still going at round 52" in row.expectations[0]["why"]


def test_junit_of_pytest_in_the_exported_folder_is_read(tmp_path: Path) -> None:
    """What `pytest --junitxml` writes, for real."""
    cases = [case_document(a_test_case()), {**vpn.vpn_case(), "case_id": "other"}]
    zipfile.ZipFile(BytesIO(export_zip(cases, folder="suite"))).extractall(tmp_path)
    command = (sys.executable, "-m", "pytest", "-q", "--junitxml=report.xml")
    run(*command, cwd=tmp_path / "suite")
    content = (tmp_path / "suite/report.xml").read_bytes()

    told = read_junit(content, {"CASE-1"}, {"code": "c9"})

    assert [entry["id"] for entry in told["expectations"]] == [each["id"] for each in vpn.EXPECT]
    assert {entry["id"]: entry["state"] for entry in told["expectations"]}["ending"] == "passed"
    assert (told["runs"], told["versions"]) == (1, {"code": "c9"})
    assert (told["state"], told["passed"]) == ("passed", 1)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"<a", "not XML", id="broken"),
        pytest.param(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "DTD", id="entities"),
        pytest.param("<a/>".encode("utf-16"), "not UTF-8", id="another encoding"),
        pytest.param(b"<testsuites/>", "no test of CASE-1", id="nothing"),
        pytest.param(
            b'<testsuite name="CASE-2"><testcase name="ending: x"/></testsuite>',
            "no test of CASE-1",
            id="another case",
        ),
        pytest.param(b"<a>" * 200_000, "not XML", id="deep"),
    ],
)
def test_junit_that_is_none_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(CaseError, match=says):
        read_junit(content, {"CASE-1"})


@pytest.mark.parametrize("value", ["-1", "9" * 40, "1.5", "٣"])
def test_counts_of_junit_that_cannot_be_are_left_aside(value: str) -> None:
    content = (
        f'<testsuite name="a"><properties><property name="runs" value="{value}"/>'
        f'<property name="passed" value="{value}"/></properties>'
        '<testcase name="ending: x"/></testsuite>'
    ).encode()

    told = read_junit(content, {"a"})

    assert (told["runs"], told["passed"]) == (1, 1)
