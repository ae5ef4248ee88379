"""What a replay said, kept masked, and shown beside the run that its case was made of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from analysis.cases.harness import replay
from analysis.cases.result import read_result
from analysis.models import CaseReplay, CaseResult, Incident, ResultSource, TestCase
from analysis.selectors.cases import case_document
from analysis.services import case_replays
from analysis.services.case_masking import cases_mask_again
from analysis.services.case_results import case_result_add
from analysis.services.cases import case_accept, cases_erase
from tests.analysis.case_pages.made import a_kept_result, a_test_case, the_vpn_story_run
from tests.analysis.cases import vpn
from tests.factories import a_member, a_project
from tests.page_runs import hostile_text
from transcripts.choices import AccessAction, Role
from transcripts.fields import refuse_plain
from transcripts.models import AccessEntry, Run

pytestmark = pytest.mark.django_db
SECRET = "ghp_1234567890abcdefghijABCDEFGHIJ123456"


@pytest.fixture
def case() -> TestCase:
    return a_test_case(the_vpn_story_run(a_project("helpdesk")))


def kept(case: TestCase, agent: Any, change: Any = None, **settings: Any) -> CaseResult:
    """The result of a replay as the harness sends it; `change` alters it on its way."""
    told = json.loads(json.dumps(replay(case_document(case), agent, **settings)))
    if change:
        change(told)
    content = json.dumps(told).encode()
    return case_result_add(
        case=case, result=read_result(content), content=content, source=ResultSource.HARNESS
    )[0]


def client_of(case: TestCase, role: Role, *, restricted: bool = False) -> Client:
    client = Client()
    client.force_login(a_member(case.project, role, restricted=restricted))
    return client


def page_of(row: CaseReplay, query: str = "") -> str:
    case = row.result.case
    address = reverse("analysis:case_replay", args=[case.project.slug, case.number, row.pk])
    return address + query


def shown(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_begins_where_the_replay_leaves_the_record(case: TestCase) -> None:
    row = kept(case, vpn.new_agent).replays.get()

    page = shown(client_of(case, Role.LEAD), page_of(row))

    assert "They part in round 3: the same call, another answer" in page
    assert "not done, no permission" in page
    assert "Nothing came back: an empty string" in page
    assert page.index("As recorded") < page.index("Replayed, run 1")
    assert "test passed" in page
    # Where the replay is over, the rest of the record is a line.
    assert "46 more rounds only as recorded: 7 to 52" in page
    assert page.count('class="pair left"') == 1


def test_a_replay_that_goes_the_recorded_way_is_the_same(case: TestCase) -> None:
    row = kept(case, vpn.old_agent).replays.get()
    client = client_of(case, Role.LEAD)

    page = shown(client, page_of(row))

    assert "The two runs are the same" in page
    assert "52 rounds the same" in page
    assert "show each" in page
    each = shown(client, page_of(row, "?from=0&whole=1"))
    assert "rounds the same: " not in each
    assert each.count('class="pair same"') == 40
    assert 'href="?from=40&amp;whole=1"' in each


def test_it_is_found_from_the_case_and_from_the_run(case: TestCase) -> None:
    row = kept(case, vpn.new_agent, versions={"code": "abc123"}).replays.get()
    client = client_of(case, Role.LEAD)
    slug = case.project.slug

    of_case = shown(client, reverse("analysis:case_detail", args=[slug, case.number]))
    assert case.run
    of_run = shown(client, reverse("analysis:run_compare", args=[slug, case.run.pk]))

    assert page_of(row) in of_case
    assert page_of(row) in of_run
    assert "The replay of CASE-1" in of_run
    assert "abc123" in of_run


def test_a_replay_is_no_run_of_the_project(case: TestCase) -> None:
    runs, incidents = Run.objects.count(), Incident.objects.count()

    kept(case, vpn.old_agent)

    assert (Run.objects.count(), Incident.objects.count()) == (runs, incidents)


def test_every_text_of_a_replay_is_masked_with_the_placeholders_of_its_run(
    case: TestCase,
) -> None:
    def leak(told: dict[str, Any]) -> None:
        transcript = told["replays"][0]["transcript"]
        transcript["messages"][0]["content"] += SECRET
        transcript["rounds"][0]["reply"] = SECRET
        transcript["rounds"][0]["calls"][0] |= {"args": {"key": SECRET}, "result": SECRET}
        transcript["notes"] = [SECRET]

    row = kept(case, vpn.new_agent, leak).replays.get()

    refuse_plain(row.transcript, "a replay")
    assert SECRET not in row.transcript
    assert row.transcript.count("[SECRET:github-pat:") == 5
    page = shown(client_of(case, Role.LEAD), page_of(row, "?from=0"))
    assert SECRET not in page
    assert 'class="secret' in page


def test_masking_cases_again_masks_replays(case: TestCase) -> None:
    row = kept(case, vpn.new_agent).replays.get()
    # As a rule that came later would find it.
    plain = row.transcript.replace("not done", SECRET)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE analysis_casereplay SET transcript = %s", (plain,))

    cases_mask_again(project=case.project)

    row.refresh_from_db()
    assert SECRET not in row.transcript
    assert "[SECRET:github-pat:" in row.transcript


def test_hostile_text_of_a_replay_is_text(case: TestCase) -> None:
    def attack(told: dict[str, Any]) -> None:
        for entry in told["replays"][0]["transcript"]["rounds"]:
            entry["reply"] = hostile_text()
            for call in entry["calls"]:
                call |= {"name": hostile_text(), "result": hostile_text()}

    row = kept(case, vpn.new_agent, attack).replays.get()

    page = shown(client_of(case, Role.LEAD), page_of(row))

    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_a_long_text_is_there_whole_behind_a_link(case: TestCase) -> None:
    def say_much(told: dict[str, Any]) -> None:
        rounds = told["replays"][0]["transcript"]["rounds"]
        rounds[2]["calls"][0]["result"] = "much " * 30_000 + "the end"

    row = kept(case, vpn.new_agent, say_much).replays.get()
    client = client_of(case, Role.LEAD)
    number = case.number

    page = shown(client, page_of(row))
    address = reverse("analysis:case_replay_text", args=["helpdesk", number, row.pk, "replayed", 3])
    first = shown(client, f"{address}?part=result&index=0")
    rest = shown(client, f"{address}?part=result&index=0&start=100000")

    assert f'{address}?part=result&amp;index=0"' in page
    assert "Show all 150,007 characters" in page
    assert "the end" not in first
    assert "the end" in rest
    assert client.get(f"{address}?part=result&index=7").status_code == 404
    assert client.get(f"{address}?part=nothing").status_code == 400
    other = address.replace("replayed", "recorded")
    assert client.get(f"{other}?part=args&index=0").status_code == 200
    assert client.get(f"{address.replace('replayed', 'other')}?part=reply").status_code == 404


def test_reading_a_replay_leaves_a_line(case: TestCase) -> None:
    row = kept(case, vpn.new_agent).replays.get()

    shown(client_of(case, Role.LEAD), page_of(row))

    entry = AccessEntry.objects.filter(action=AccessAction.READ).latest("pk")
    assert (entry.run_pk, entry.detail["case"], entry.detail["replay"]) == (
        case.run_id, "CASE-1", 1,
    )  # fmt: skip


def test_who_may_not_read_transcripts_sees_none_of_it(case: TestCase) -> None:
    row = kept(case, vpn.new_agent).replays.get()
    observer = client_of(case, Role.OBSERVER)
    detail = reverse("analysis:case_detail", args=["helpdesk", case.number])

    assert observer.get(page_of(row)).status_code == 403
    assert "Replays beside" not in shown(observer, detail)
    stranger = Client()
    stranger.force_login(a_member(a_project("other"), Role.ADMIN))
    assert stranger.get(page_of(row)).status_code == 404


def test_replays_of_a_restricted_run_are_for_its_readers(case: TestCase) -> None:
    row = kept(case, vpn.new_agent).replays.get()
    Run.objects.update(restricted=True)

    assert client_of(case, Role.ADMIN).get(page_of(row)).status_code == 403
    assert client_of(case, Role.LEAD, restricted=True).get(page_of(row)).status_code == 200


def test_they_go_with_the_run_that_is_erased(case: TestCase) -> None:
    row = kept(case, vpn.new_agent).replays.get()
    client = client_of(case, Role.LEAD)

    cases_erase(run_pk=case.run_id or 0)

    assert not CaseReplay.objects.exists()
    assert client.get(page_of(row)).status_code == 404


def test_the_newest_results_and_the_accepted_one_keep_them(
    case: TestCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_replays, "RESULTS_WITH_REPLAYS", 2)
    results = [a_kept_result(case, code="c0")]
    case_accept(case=case, result=results[0], user=None)
    results += [a_kept_result(case, code=f"c{number}") for number in range(1, 5)]

    having = CaseReplay.objects.order_by("result").values_list("result", flat=True)

    assert list(having) == [results[0].pk, results[3].pk, results[4].pk]


def test_one_that_was_too_long_says_so(case: TestCase) -> None:
    def left_out(told: dict[str, Any]) -> None:
        told["replays"] = [{"run": 1, "left_out": 5_200_000}]

    row = kept(case, vpn.new_agent, left_out).replays.get()
    client = client_of(case, Role.LEAD)

    page = shown(client, reverse("analysis:case_detail", args=["helpdesk", case.number]))

    assert "its transcript of 5,200,000 characters was too long to be kept" in page
    assert client.get(page_of(row)).status_code == 404


def test_a_case_of_a_file_is_compared_with_its_recording(case: TestCase) -> None:
    row = kept(case, vpn.new_agent).replays.get()
    TestCase.objects.update(run=None)

    page = shown(client_of(case, Role.LEAD), page_of(row))

    assert "They part in round 3" in page
    assert "/runs/" not in page.split("<main")[1]
