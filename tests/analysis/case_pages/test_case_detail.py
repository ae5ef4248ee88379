"""The page of a case, its files, its accepted version, and its deletion."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.cases.case import read_case
from analysis.models import TestCase
from analysis.pages.case_versions import version_chart, version_rows
from tests.analysis.case_pages.made import VPN, a_kept_result, a_test_case, the_vpn_story_run
from tests.factories import a_member, a_project
from tests.page_runs import hostile_text
from transcripts.choices import Role
from transcripts.models import AccessEntry, Change, Project, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> TestCase:
    return a_test_case(the_vpn_story_run(a_project("helpdesk")))


def signed_in(project: Project, role: Role, *, restricted: bool = False) -> Client:
    client = Client()
    client.force_login(a_member(project, role, restricted=restricted))
    return client


def to(name: str, *args: object) -> str:
    return reverse(f"analysis:{name}", args=["helpdesk", *args])


def text(client: Client, name: str, *args: object, query: str = "") -> str:
    answer = client.get(to(name, *args) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_it_says_what_must_hold_in_words(case: TestCase) -> None:
    page = text(signed_in(case.project, Role.LEAD), "case_detail", 1)

    assert "no empty or swallowed result reaches the model" in page
    assert "reset_vpn_profile fails with “403 Forbidden" in page
    assert "When the result of reset_vpn_profile is shown and what is new contains" in page
    assert "not replayed yet" in page


def test_a_lead_reads_and_changes_nothing(case: TestCase) -> None:
    client = signed_in(case.project, Role.LEAD)

    page = text(client, "case_detail", 1)

    assert to("case_edit", 1) not in page
    assert "Delete" not in page
    assert client.post(to("case_delete", 1)).status_code == 403
    assert client.get(to("case_file", 1)).status_code == 403


def test_an_observer_sees_results_and_no_text(case: TestCase) -> None:
    a_kept_result(case, 9, 10, code="c1", agent="helpdesk")
    client = signed_in(case.project, Role.OBSERVER)

    for page in (text(client, "case_detail", 1), text(client, "case_list")):
        assert "how it ends" in page
        assert "VPN drops" not in page
        assert "reset_vpn_profile" not in page
        assert "90%" in page


def test_a_case_of_a_restricted_run_is_for_who_is_named() -> None:
    run = the_vpn_story_run(a_project("helpdesk"))
    Run.objects.filter(pk=run.pk).update(restricted=True)
    run.refresh_from_db()
    a_test_case(run)
    run.delete()
    other, named = (
        signed_in(run.project, Role.ENGINEER, restricted=restricted) for restricted in (False, True)
    )

    assert "VPN drops" not in text(other, "case_detail", 1)
    assert "VPN drops" not in text(other, "case_list")
    for name in ("case_edit", "case_file", "case_history"):
        assert other.get(to(name, 1)).status_code == 403
        assert named.get(to(name, 1)).status_code == 200
    assert "VPN drops" in text(named, "case_detail", 1)
    assert other.get(to("case_suite")).status_code == 302


def test_reading_and_downloading_leave_lines(case: TestCase) -> None:
    client = signed_in(case.project, Role.ENGINEER)

    text(client, "case_detail", 1)
    client.get(to("case_file", 1))
    client.get(to("case_suite"))

    lines = AccessEntry.objects.order_by("pk").values_list("action", "run_pk", "detail")
    assert list(lines) == [
        ("read", case.run_id, {"case": "CASE-1"}),
        ("export", case.run_id, {"case": "CASE-1", "as": "case"}),
        ("export", case.run_id, {"case": "CASE-1", "as": "suite"}),
    ]


def test_the_files_are_what_the_harness_reads(case: TestCase) -> None:
    a_test_case(case.run)
    client = signed_in(case.project, Role.ENGINEER)

    one = client.get(to("case_file", 1))
    packed = client.get(to("case_file", 1) + "?as=zip")
    suite = client.get(to("case_suite"))

    assert read_case(one.content)["case_id"] == "CASE-1"
    assert 'filename="CASE-1.case.json"' in one["Content-Disposition"]
    assert len(packed.content) < 60_000
    names = zipfile.ZipFile(io.BytesIO(packed.content)).namelist()
    assert names[0] == "CASE-1/CASE-1.case.json"
    assert {"CASE-1/harness.py", "CASE-1/test_case.py", "CASE-1/README.md"} < set(names)
    assert zipfile.ZipFile(io.BytesIO(suite.content)).namelist()[:2] == [
        "cases/CASE-1.case.json",
        "cases/CASE-2.case.json",
    ]


def test_each_version_is_compared_with_the_accepted_one(case: TestCase) -> None:
    base = a_kept_result(case, 92, 100, code="c1", prompt="p1")
    a_kept_result(case, 85, 100, code="c2", prompt="p1")
    a_kept_result(case, 40, 100, code="c3", prompt="p2")
    client = signed_in(case.project, Role.ENGINEER)

    client.post(to("case_accept", 1), {"result": base.pk})

    page = text(client, "case_detail", 1)
    assert "92% → 85% over 100 runs: may be chance (p = 0.18)" in page
    assert "92% → 40% over 100 runs: worse (p &lt; 0.001)" in page
    case.refresh_from_db()
    assert case.accepted == base
    by_prompt = text(client, "case_detail", 1, query="?by=prompt")
    assert "of 200" in by_prompt
    assert "88% → 40% over 100 runs: worse" in by_prompt


def test_results_of_one_version_are_counted_together(case: TestCase) -> None:
    a_kept_result(case, 3, 4, code="c1")
    a_kept_result(case, 6, 6, code="c1")

    (row,) = version_rows(case)

    assert (row.passed, row.runs, row.results, row.name) == (9, 10, 2, "code c1")
    chart = version_chart([row])
    assert chart is not None
    assert chart.dots == (("warn", "M5 13.2h0"),)


def test_results_of_another_state_are_not_compared(case: TestCase) -> None:
    from analysis.services.cases import case_accept, case_edit

    base = a_kept_result(case, 9, 10, code="c1")
    case_accept(case=case, result=base, user=None)
    case = case_edit(case=case, definition={**VPN, "title": "Other"})
    a_kept_result(case, 1, 10, code="c2")

    latest, first = version_rows(case)

    assert (first.accepted, latest.words) == (True, "of another revision, so not compared")


def test_accepting_can_be_undone_and_needs_a_result_of_the_case(case: TestCase) -> None:
    other = a_kept_result(a_test_case(case.run), code="x")
    mine = a_kept_result(case, code="c1")
    client = signed_in(case.project, Role.ENGINEER)

    assert client.post(to("case_accept", 1), {"result": other.pk}).status_code == 404
    assert client.post(to("case_accept", 1), {"result": "x"}).status_code == 404
    client.post(to("case_accept", 1), {"result": mine.pk})
    client.post(reverse("transcripts:change_back", args=["helpdesk", Change.objects.get().pk]))

    case.refresh_from_db()
    assert case.accepted is None


def test_a_deleted_case_is_brought_back_by_its_button(case: TestCase) -> None:
    client = signed_in(case.project, Role.ENGINEER)

    told = client.post(to("case_delete", 1), follow=True).content.decode()

    assert "CASE-1 is deleted." in told
    gone = client.get(to("case_detail", 1), follow=True)
    assert gone.redirect_chain == [(to("case_list"), 302)]
    assert "CASE-1 was deleted." in gone.content.decode()
    assert client.get(to("case_file", 1)).status_code == 404
    back = client.post(
        reverse("transcripts:change_back", args=["helpdesk", Change.objects.get().pk]), follow=True
    )
    assert "CASE-1 is back." in back.content.decode()
    assert client.get(to("case_detail", 1)).status_code == 200


def test_an_htmx_request_gets_the_results_alone(case: TestCase) -> None:
    a_kept_result(case, code="c1")
    client = signed_in(case.project, Role.LEAD)

    answer = client.get(to("case_detail", 1), headers={"HX-Request": "true"})

    assert answer.content.decode().lstrip().startswith('<div id="results"')
    assert "HX-Request" in answer["Vary"]


def test_hostile_text_stays_text() -> None:
    evil = hostile_text()
    expect = [{"id": "a", "kind": "final_reply", "contains": evil, "because": evil}]
    mocks = [{"tool": evil, "answer": "result", "text": evil}]
    branches = [{"when": {"contains": evil}, "replies": [{"text": evil}]}]
    run = the_vpn_story_run(a_project("helpdesk"))
    case = a_test_case(run, title=evil, notes=evil, expect=expect, mocks=mocks, branches=branches)
    told = {"id": "a", "kind": evil[:99], "text": evil, "state": "failed", "runs": 1, "passed": 0}
    told["first"] = {"run": 1, "why": evil}
    a_kept_result(case, 0, 1, code=evil[:200], agent=evil, expectations=[told])
    client = signed_in(case.project, Role.ENGINEER)

    for name in ("case_detail", "case_list", "case_edit", "case_history"):
        args = [] if name == "case_list" else [1]
        page = text(client, name, *args)
        assert "<script>alert" not in page, name
        assert "<img src=x" not in page, name
        assert 'href="javascript' not in page, name


def test_the_list_asks_no_more_queries_for_more_cases(case: TestCase) -> None:
    client = signed_in(case.project, Role.LEAD)
    a_kept_result(case)
    text(client, "case_list")
    with CaptureQueriesContext(connection) as few:
        text(client, "case_list")
    for _ in range(6):
        a_kept_result(a_test_case(case.run), 1, 2, code="c1")

    with CaptureQueriesContext(connection) as many:
        page = text(client, "case_list")

    assert page.count("CASE-") >= 7
    assert len(many) == len(few)


def test_a_file_is_taken_in_on_the_list(case: TestCase) -> None:
    client = signed_in(case.project, Role.ENGINEER)
    document = json.loads(client.get(to("case_file", 1)).content)
    document["notes"] = "edited elsewhere"

    def send(content: bytes) -> str:
        file = io.BytesIO(content)
        file.name = "x.case.json"
        answer = client.post(to("case_upload"), {"file": file}, follow=True)
        return answer.content.decode()

    assert "CASE-1 is as the file says" in send(json.dumps(document).encode())
    document["case_id"] = "mine"
    assert "CASE-2 was made of the file" in send(json.dumps(document).encode())
    assert "no test case: not JSON" in send(b"import os")
    assert "Choose a file" in client.post(to("case_upload"), follow=True).content.decode()
    assert TestCase.objects.count() == 2


def test_a_case_from_a_file_is_taken_back(case: TestCase) -> None:
    """Unless it has results by then: those are somebody's work."""
    client = signed_in(case.project, Role.ENGINEER)
    document = json.loads(client.get(to("case_file", 1)).content)

    def sent_and_back(key: str, *, tested: bool) -> str:
        file = io.BytesIO(json.dumps({**document, "case_id": key}).encode())
        file.name = "x.case.json"
        client.post(to("case_upload"), {"file": file})
        if tested:
            a_kept_result(TestCase.objects.get(key=key), 1, 1, code="c1")
        button = reverse(
            "transcripts:change_back", args=["helpdesk", Change.objects.latest("pk").pk]
        )
        return client.post(button, follow=True).content.decode()

    assert "CASE-2 is not made after all." in sent_and_back("mine", tested=False)
    assert "CASE-3 has results by now." in sent_and_back("tested", tested=True)
    there = TestCase.objects.filter(deleted_at=None).order_by("number")
    assert list(there.values_list("number", flat=True)) == [1, 3]
