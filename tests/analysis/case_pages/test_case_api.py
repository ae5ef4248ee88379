"""The API of test cases: made, fetched, and results that the harness sends to a live server."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from analysis.cases.case import read_case, write_case
from analysis.cases.harness import junit, replay
from analysis.cases.replay import replay_command
from analysis.models import CaseResult, TestCase
from analysis.selectors.cases import case_document
from analysis.services.cases import case_accept, case_delete
from tests.analysis.case_pages.made import (
    a_kept_result,
    a_result_of,
    a_test_case,
    the_vpn_story_run,
)
from tests.analysis.cases import vpn
from tests.analysis.cases.test_export_pytest import run as run_command
from tests.builders import a_round, a_run, call
from tests.factories import a_key, a_project
from tests.page_runs import a_shown_run
from transcripts.choices import KeyScope
from transcripts.models import AccessEntry, Project, Run

pytestmark = pytest.mark.django_db
SECRET = "ghp_1234567890abcdefghijABCDEFGHIJ123456"


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


def bearer(project: Project, *scopes: KeyScope) -> Client:
    _, text = a_key(project, *(scopes or (KeyScope.READ, KeyScope.RESULTS)))
    return Client(headers={"Authorization": f"Bearer {text}"})


def send(client: Client, name: str, result: Any) -> Any:
    return client.post(f"/api/v1/cases/{name}/results", result, content_type="application/json")


def test_a_case_is_made_of_a_run_once(project: Project) -> None:
    run = the_vpn_story_run(project)
    client = bearer(project)
    address = f"/api/v1/runs/{run.run_id}/case"

    first, second = client.post(address), client.post(address)
    third = client.post(address + "?again=true")

    assert [each.status_code for each in (first, second, third)] == [201, 200, 201]
    assert [each.json()["case"] for each in (first, second, third)] == [
        "CASE-1",
        "CASE-1",
        "CASE-2",
    ]
    assert first.json()["expect"][:2] == ["ending", "max_rounds"]
    assert (first.json()["made"], second.json()["made"]) == (True, False)


def test_a_run_with_holes_or_readers_is_refused(project: Project) -> None:
    holes = a_run(a_round(call("look", {}, None)), [call()], "Done.", run_id="holes")
    a_shown_run(holes, project)
    Run.objects.filter(pk=the_vpn_story_run(project).pk).update(restricted=True)
    client = bearer(project)

    answers = [client.post(f"/api/v1/runs/{name}/case") for name in ("holes", "vpn-5127", "none")]

    assert [each.status_code for each in answers] == [422, 403, 404]
    assert "round 1, call 1 (look) has no result" in answers[0].json()["detail"]
    assert not TestCase.objects.exists()


def test_cases_are_listed_and_fetched(project: Project) -> None:
    run = the_vpn_story_run(project)
    case = a_test_case(run)
    a_test_case(run)
    a_kept_result(case)
    client = bearer(project)

    first = client.get("/api/v1/cases?limit=1").json()
    rest = client.get(f"/api/v1/cases?before={first['next']}").json()
    one = client.get("/api/v1/cases/CASE-1")
    packed = client.get("/api/v1/cases/1?as=zip")
    suite = client.get("/api/v1/cases.zip?agent=" + case.agent)

    assert [each["case"] for each in first["cases"] + rest["cases"]] == ["CASE-2", "CASE-1"]
    assert rest["next"] is None
    assert rest["cases"][0]["last_result"] == "passed"
    assert read_case(one.content) == case_document(case)
    for answer, count in ((packed, 1), (suite, 2)):
        names = zipfile.ZipFile(BytesIO(answer.content)).namelist()
        assert sum(name.endswith(".case.json") for name in names) == count
    exported = AccessEntry.objects.filter(action="export")
    assert [line.run_pk for line in exported] == [run.pk] * 4
    assert client.get("/api/v1/cases/1?as=exe").status_code == 422
    assert client.get("/api/v1/cases.zip?agent=nobody").status_code == 404
    assert client.get("/api/v1/cases?agent=%00").status_code == 422


def test_no_key_reads_a_case_of_a_restricted_run(project: Project) -> None:
    case = a_test_case(the_vpn_story_run(project))
    TestCase.objects.update(restricted=True)
    client = bearer(project)

    listed = client.get("/api/v1/cases").json()["cases"]
    sent = send(client, "CASE-1", a_result_of(case, 1, 1))

    assert [each["title"] for each in listed] == [None]
    assert client.get("/api/v1/cases/CASE-1").status_code == 403
    assert client.get("/api/v1/cases.zip").status_code == 404
    assert sent.status_code == 201


@pytest.mark.parametrize("known_by", ["label", "run", "case", "nothing"])
def test_a_file_of_a_restricted_run_makes_no_open_case(project: Project, known_by: str) -> None:
    """Who may read one could otherwise open it to all by sending its file under another name."""
    run = the_vpn_story_run(project)
    document = case_document(a_test_case(run))
    if known_by == "label":
        document["run"]["labels"] = {"Restricted": "hr"}
        document["run"]["run_id"] = document["from_run"] = "another"
    elif known_by == "run":
        Run.objects.filter(pk=run.pk).update(restricted=True)
        document["case_id"] = "another-name"
    elif known_by == "case":
        TestCase.objects.update(restricted=True)
        document["run"]["run_id"] = document["from_run"] = "another"
    else:
        document["case_id"] = "another-name"
    document["run"]["rounds"][0]["reply"] = "Told otherwise."

    sent = bearer(project).post("/api/v1/cases", write_case(document), "application/json")

    assert sent.status_code == 201
    made = TestCase.objects.latest("pk")
    assert made.name == "CASE-2"
    assert made.restricted == (known_by != "nothing")


def test_a_file_is_taken_in(project: Project) -> None:
    client = bearer(project)
    content = write_case(vpn.vpn_case())

    new, same = (
        client.post("/api/v1/cases", content, content_type="application/json") for _ in range(2)
    )

    assert (new.status_code, same.status_code) == (201, 200)
    assert new.json()["case_id"] == "vpn-5127"
    bad = client.post(
        "/api/v1/cases", {"schema": "agentdesk.case/9"}, content_type="application/json"
    )
    assert bad.status_code == 422
    assert "made by another version" in bad.json()["detail"]


def test_a_result_is_kept_once_and_compared(project: Project) -> None:
    case = a_test_case(the_vpn_story_run(project))
    case_accept(case=case, result=a_kept_result(case, 92, 100, code="c1"), user=None)
    told = a_result_of(case, 85, 100, versions={"code": "c2"})
    client = bearer(project, KeyScope.RESULTS)

    first, second = send(client, "CASE-1", told), send(client, "case-1", told)

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == {
        "case": "CASE-1",
        "state": "failed",
        "runs": 100,
        "passed": 85,
        "repeated": False,
        "revision": 1,
        "against_accepted": "92% → 85% over 100 runs: may be chance (p = 0.18)",
    }
    assert second.json()["repeated"] is True
    assert CaseResult.objects.count() == 2
    lines = AccessEntry.objects.filter(action="case")
    assert [line.detail for line in lines] == [{"case": "CASE-1", "did": "result: failed"}]


@pytest.mark.parametrize("name", ["CASE-9", "other", "0", "%00", "x" * 3000, "CASE-1%2Fx"])
def test_results_of_an_unknown_case_are_not_found(project: Project, name: str) -> None:
    a_test_case(the_vpn_story_run(a_project("other")))

    answer = send(bearer(project), name, {})

    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"


def test_results_of_a_deleted_case_are_not_found(project: Project) -> None:
    case = a_test_case(the_vpn_story_run(project))
    told = a_result_of(case, 1, 1)
    case_delete(case=case)

    assert send(bearer(project), "CASE-1", told).status_code == 404


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"{}", "$: 'schema' is a required property", id="empty"),
        pytest.param(b"", "not JSON", id="nothing"),
        pytest.param(b"\xff", "not JSON", id="bytes"),
        pytest.param(b"<x", "not XML", id="xml"),
        pytest.param(b"[" * 50_000, "nested too deeply", id="deep"),
    ],
)
def test_what_is_no_result_is_refused_with_its_place(
    project: Project, body: bytes, says: str
) -> None:
    a_test_case(the_vpn_story_run(project))

    answer = send(bearer(project), "CASE-1", body)

    assert answer.status_code == 422
    assert says in answer.json()["detail"]
    assert not CaseResult.objects.exists()


def test_junit_is_taken_too(project: Project) -> None:
    case = a_test_case(the_vpn_story_run(project))
    content = junit([replay(case_document(case), vpn.new_agent, runs=2)])

    answer = bearer(project).post(
        "/api/v1/cases/CASE-1/results?code=c7&prompt=p1", content, content_type="application/xml"
    )

    assert answer.status_code == 201, answer.content
    result = CaseResult.objects.get()
    assert (result.state, result.runs, result.passed) == ("passed", 2, 2)
    assert (result.code_version, result.prompt_version) == ("c7", "p1")


@pytest.mark.django_db(transaction=True)
def test_the_harness_posts_to_a_live_server(
    project: Project, live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """`./desk replay … --post`, a suite of two cases; then the exported harness as a command."""
    run = the_vpn_story_run(project)
    a_test_case(run), a_test_case(run)
    _, key = a_key(project, KeyScope.READ, KeyScope.RESULTS)
    suite = Client(headers={"Authorization": f"Bearer {key}"}).get("/api/v1/cases.zip")
    (tmp_path / "cases.zip").write_bytes(suite.content)
    monkeypatch.setenv("AGENTDESK_KEY", key)
    options = ["--agent", "tests.analysis.cases.vpn:new_agent", "--post", live_server.url]

    status = replay_command([str(tmp_path / "cases.zip"), *options, "--code-version", "abc"])

    assert status == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in printed] == [["ok", "CASE-1"], ["ok", "CASE-2"]]
    results = CaseResult.objects.order_by("case__number")
    assert [(each.case.number, each.state, each.code_version) for each in results] == [
        (1, "passed", "abc"),
        (2, "passed", "abc"),
    ]

    zipfile.ZipFile(BytesIO(suite.content)).extractall(tmp_path)
    (tmp_path / "mine.py").write_text("from harness import example_agent as agent\n")
    command = ("python3", "cases/harness.py", "cases", "--agent", "mine:agent", "--runs", "3")
    answer = run_command(*command, "--post", live_server.url, cwd=tmp_path, AGENTDESK_KEY=key)

    assert "ok" in answer.stdout, answer.stderr
    assert CaseResult.objects.filter(runs=3).count() == 2


@pytest.mark.django_db(transaction=True)
def test_the_harness_says_what_the_server_refuses(
    project: Project, live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    file = tmp_path / "a.case.json"
    file.write_text(write_case({**vpn.vpn_case(), "case_id": "unknown"}), encoding="utf-8")
    options = [
        str(file),
        "--agent",
        "tests.analysis.cases.vpn:new_agent",
        "--post",
        live_server.url,
    ]
    _, key = a_key(project, KeyScope.RESULTS)

    monkeypatch.setenv("AGENTDESK_KEY", "agd_wrong")
    assert replay_command(options) == 2
    assert "answered 401" in capsys.readouterr().err
    monkeypatch.setenv("AGENTDESK_KEY", key)
    assert replay_command(options) == 2
    assert "answered 404" in capsys.readouterr().err


def test_export_as_case_prints_the_file(project: Project, tmp_path: Path) -> None:
    run = the_vpn_story_run(project)
    printed, told = StringIO(), StringIO()

    call_command("export_run", run.run_id, "--as", "case", stdout=printed, stderr=told)
    call_command("export_run", run.run_id, "--as", "case", "-o", str(tmp_path / "a"), stderr=told)

    case = TestCase.objects.get()
    assert json.loads(printed.getvalue()) == case_document(case)
    assert (tmp_path / "a").read_text(encoding="utf-8") == printed.getvalue()
    assert told.getvalue().splitlines() == ["CASE-1 is made.", "CASE-1 was there already."]
    lines = AccessEntry.objects.order_by("pk").values_list("action", "run_pk")
    assert list(lines) == [("case", run.pk), ("export", run.pk), ("export", run.pk)]


def test_export_as_case_refuses_a_run_with_holes(project: Project) -> None:
    record = a_run(a_round(call("look", {}, None)), [call()], "Done.", run_id="holes")
    a_shown_run(record, project)

    with pytest.raises(CommandError, match=r"round 1, call 1 \(look\) has no result"):
        call_command("export_run", "holes", "--as", "case")
