"""Making, taking in, changing and deleting cases."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analysis.cases.case import write_case
from analysis.cases.harness import CaseError, parse_case
from analysis.cases.parts import case_digest
from analysis.models import CaseRevision, TestCase
from analysis.selectors.cases import case_by_name, case_document, case_documents, case_list
from analysis.services import cases as services
from tests.analysis.case_pages.made import VPN, a_kept_result, a_test_case, the_vpn_story_run
from tests.analysis.cases import vpn
from tests.builders import a_round, a_run, call
from tests.factories import a_project, a_user
from tests.page_runs import a_shown_run
from transcripts.fields import refuse_plain
from transcripts.selectors.record import run_record

pytestmark = pytest.mark.django_db
SECRET = "ghp_1234567890abcdefghijABCDEFGHIJ123456"


def edited(case: TestCase, **changes: Any) -> TestCase:
    return services.case_edit(case=case, definition={**VPN, **changes})


def test_a_case_has_a_short_number_in_its_project_and_a_file_that_the_harness_reads() -> None:
    run = the_vpn_story_run()

    first, second = a_test_case(run), a_test_case(run)
    other = a_test_case()

    assert (first.name, second.name, other.name) == ("CASE-1", "CASE-2", "CASE-1")
    assert (first.title, first.agent, first.rounds) == ("VPN drops", run.agent, 52)
    document = parse_case(write_case(case_document(first)).encode())
    assert (document["case_id"], document["from_run"]) == ("CASE-1", run.run_id)
    assert document["expect"] == vpn.EXPECT
    assert len(document["run"]["rounds"]) == 52


def test_a_revision_says_by_which_digest_its_results_are_known() -> None:
    case = a_test_case()
    again = edited(case, notes="What the service says.")

    digests = dict(CaseRevision.objects.filter(case=case).values_list("number", "digest"))

    assert digests == {number: case_digest(case_document(again, number)) for number in (1, 2)}
    assert digests[1] != digests[2]


def test_the_same_definition_again_is_no_revision() -> None:
    case = a_test_case()

    assert edited(case).revision == 1
    assert edited(case, title="Other").revision == 2
    assert TestCase.objects.get().title == "Other"


def test_a_state_of_before_comes_back_as_a_new_revision() -> None:
    case = a_test_case()
    edited(case, title="Other")

    back = services.case_return(case=case, number=1)

    assert (back.revision, back.title) == (3, "VPN drops")
    assert case_document(back)["title"] == "VPN drops"
    with pytest.raises(CaseError, match="no revision 9"):
        services.case_return(case=case, number=9)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        pytest.param(
            {"expect": [{"id": "a", "kind": "max_rounds"}]}, r"\$\.expect\[0\]", id="field"
        ),
        pytest.param({"mocks": [{"tool": "x", "answer": "laugh"}]}, r"\$\.mocks\[0\]", id="mock"),
        pytest.param(
            {"expect": [{"id": "a", "kind": "final_reply", "matches": "("}]},
            r"\$\.expect\[0\]\.matches: no regular expression",
            id="pattern",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(changes: Any, where: str) -> None:
    case = a_test_case()

    with pytest.raises(CaseError, match=where):
        edited(case, **changes)

    assert TestCase.objects.get().revision == 1


def test_a_run_with_holes_is_refused_with_its_rounds() -> None:
    hole = a_round(call("look", {}, None))
    run = a_shown_run(a_run(hole, [call()], "Done.", run_id="holes"))

    with pytest.raises(CaseError, match=r"round 1, call 1 \(look\) has no result"):
        services.case_make(run=run, masked=run_record(run=run), definition={"expect": []})

    assert not TestCase.objects.exists()


def test_what_people_type_is_masked() -> None:
    mocks = [{"tool": "login", "answer": "result", "text": f"token {SECRET}"}]

    case = a_test_case(title=f"With {SECRET}", mocks=mocks)

    document = case_document(case)
    assert SECRET not in json.dumps(document)
    assert SECRET not in case.title
    assert "SECRET" in document["mocks"][0]["text"]
    refuse_plain([case.title, case.recording, case.key], "case")


def test_a_file_from_elsewhere_is_taken_in_as_data() -> None:
    project = a_project()
    content = write_case(vpn.vpn_case(notes=f"Try {SECRET}")).encode()

    case, is_new = services.case_take_in(project=project, content=content)

    assert is_new
    assert (case.name, case.key, case.rounds, case.run) == ("CASE-1", "vpn-5127", 52, None)
    document = case_document(case)
    assert document["expect"] == vpn.EXPECT
    assert SECRET not in json.dumps(document)


def test_an_edited_file_of_a_case_is_a_revision_of_it() -> None:
    case = a_test_case()
    document = case_document(case)
    document["expect"] = document["expect"][:2]

    same, is_new = services.case_take_in(
        project=case.project, content=write_case(document).encode()
    )

    assert (same.pk, is_new, same.revision) == (case.pk, False, 2)
    assert len(case_document(same)["expect"]) == 2


def test_a_file_that_only_bears_the_number_of_another_case_is_a_new_one() -> None:
    case = a_test_case()
    document = {**vpn.vpn_case(), "case_id": case.name}
    document["run"] = {**document["run"], "title": "another run"}

    new, is_new = services.case_take_in(project=case.project, content=write_case(document).encode())

    assert (new.name, new.key, is_new) == ("CASE-2", "CASE-2", True)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"{", "not JSON", id="broken"),
        pytest.param(b"[]", "not a test case", id="a list"),
        pytest.param(b'{"schema": "agentdesk.case/2"}', "made by another version", id="future"),
        pytest.param(b" " * (9 * 2**20), "larger than 8 MB", id="large"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="deep"),
    ],
)
def test_what_is_no_case_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(CaseError, match=says):
        services.case_take_in(project=a_project(), content=content)


def test_text_that_no_database_keeps_is_replaced() -> None:
    case = {**vpn.vpn_case(), "notes": "a\u0000b \ud800"}

    kept, _ = services.case_take_in(project=a_project(), content=json.dumps(case).encode())

    assert case_document(kept)["notes"] == "a\ufffdb \ufffd"


def test_a_case_is_found_by_number_or_by_the_id_in_its_file() -> None:
    project = a_project()
    case, _ = services.case_take_in(project=project, content=write_case(vpn.vpn_case()).encode())

    for name in ("CASE-1", "case-1", "1", "vpn-5127"):
        assert case_by_name(project=project, name=name) == case, name
    for name in ("CASE-2", "CASE-01", "vpn", "", "\0", "1" * 30):
        assert case_by_name(project=project, name=name) is None, name
    assert case_by_name(project=a_project(), name="CASE-1") is None


def test_a_deleted_case_can_be_brought_back_for_a_day() -> None:
    case = a_test_case()
    a_kept_result(case)

    services.case_delete(case=case)

    assert not case_list(project=case.project).exists()
    assert case_by_name(project=case.project, name=case.name) is None
    assert services.cases_forget() == 0
    services.case_bring_back(project=case.project, number=1)
    assert case_list(project=case.project).get() == case


def test_a_day_later_its_texts_are_gone_and_its_number_stays_taken() -> None:
    case = a_test_case()
    a_kept_result(case)
    services.case_delete(case=case)
    TestCase.objects.update(deleted_at=timezone.now() - timedelta(days=1, minutes=1))

    assert (services.cases_forget(), services.cases_forget()) == (1, 0)

    left = TestCase.objects.get()
    assert (left.recording, left.title, left.run, left.results.count()) == ("", "", None, 0)
    assert not CaseRevision.objects.exists()
    with pytest.raises(CaseError, match="gone for good"):
        services.case_bring_back(project=case.project, number=1)
    run = the_vpn_story_run(case.project)
    assert a_test_case(run).name == "CASE-2"


def test_a_case_outlives_its_run() -> None:
    case = a_test_case(author=a_user())
    assert case.run is not None

    case.run.delete()

    case.refresh_from_db()
    assert case.run is None
    assert case_document(case)["from_run"] == vpn.recorded_run().run_id


def test_a_suite_is_read_by_two_queries(django_assert_num_queries: Any) -> None:
    run = the_vpn_story_run()
    for _ in range(3):
        a_test_case(run)
    cases = list(case_list(project=run.project))

    with django_assert_num_queries(2):
        documents = case_documents(cases)

    assert [each["case_id"] for each in documents] == ["CASE-1", "CASE-2", "CASE-3"]
