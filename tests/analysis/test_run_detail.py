from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.builders import a_round, a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_hostile_run, a_long_run, a_shown_run, the_vpn_run
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Project, Run
from transcripts.record import Ending, RunRecord

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
MOST_QUERIES = 14
MOST_ELEMENTS = 800


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def lead(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.LEAD))
    return client


def address_of(run: Run, name: str = "run_detail") -> str:
    return reverse(f"analysis:{name}", args=[run.project.slug, run.pk])


def text_of(client: Client, run: Run, name: str = "run_detail", **query: object) -> str:
    answer = client.get(address_of(run, name), query, headers=HTMX if name != "run_detail" else {})
    assert answer.status_code == 200
    return answer.content.decode()


def elements_in(text: str) -> int:
    """Elements of the page; what stands in a template is none of it."""
    return len(re.findall(r"<[a-z]", re.sub(r"(?s)<template .*?</template>", "", text)))


def rounds_in(text: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="r(\d+)"', text)]


def lines_in(text: str) -> list[tuple[str, int, int]]:
    found = re.findall(r'class="item (\w+)" data-first="(\d+)" data-last="(\d+)"', text)
    return [(kind, int(first), int(last)) for kind, first, last in found]


def test_shows_verdict_facts_and_the_odd_round(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    text = text_of(lead, run)

    assert "<h1>VPN drops every ten minutes, I cannot keep the ledger open</h1>" in text
    assert f'href="{address_of(run)}?at=3#r3" data-goto="3" class="odd-link">3</a>' in text
    assert "complete, 52 of 52" in text
    names = re.findall(r"<dt>(\w+)</dt>", text)
    assert len(names) == len(set(names))
    assert "Nothing came back: an empty string, no error flag" in text
    assert "First odd round: empty result." in text
    assert "A lead, not proof" in text


@pytest.mark.parametrize(
    ("made_up", "head", "round_"),
    [
        pytest.param("transfer_to_human_agents", ", handed off: ", "Handed off", id="a hand-off"),
        pytest.param("reset_profile", ", recovered: ", "Recovered", id="a success"),
    ],
)
def test_a_hand_off_is_not_shown_as_recovery(
    lead: Client, project: Project, made_up: str, head: str, round_: str
) -> None:
    failed = call("reset_profile", {"id": 7}, "Error: locked")
    run = a_shown_run(a_run([failed], [call(made_up, {"id": 7}, "at 10:02")]), project)

    text = text_of(lead, run)

    assert f"First odd round{head}" in text
    assert f"{round_} in round 2." in text
    assert re.search(f"{round_} in round <a [^>]*>2</a>", text)
    assert 'class="verdict recovered"' in text
    assert '<path class="c-recovered"' in text
    assert '<path class="c-odd"' not in text


def test_folds_what_only_repeats_and_shows_what_stands_out(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    text = text_of(lead, run)

    shown, lines = rounds_in(text), lines_in(text)
    folded = [number for _, first, last in lines for number in range(first, last + 1)]
    assert {3, 7, 40, 52} <= set(shown)
    assert {kind for kind, _, _ in lines} == {"fold"}
    assert sorted(shown + folded) == list(range(1, 53))
    assert len(folded) > 30
    assert "Rounds 41 to 51: reset_vpn_profile and check_vpn_status take turns" in text


def test_says_what_the_model_no_longer_sees(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    text = text_of(lead, run)

    assert "Round 40: the model no longer sees the ticket and rounds" in text


def test_a_fold_opens(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    part = text_of(lead, run, "run_part", first=14, last=39, take="first", unfold="")

    assert rounds_in(part) == list(range(14, 26))
    assert lines_in(part) == [("gap", 26, 39)]
    assert "<html" not in part


def test_a_fold_tells_only_what_changed(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    changes = text_of(lead, run, "run_changes", first=14, last=39)

    told = [int(number) for number in re.findall(r'data-goto="(\d+)"', changes)]
    results = re.findall(r"drops today: (\d+)", changes)
    assert told[:2] == [14, 15]
    assert len(told) < 26
    assert results == sorted(set(results), key=int)


def test_a_long_run_holds_head_anchor_and_tail(lead: Client, project: Project) -> None:
    run = a_long_run(400, project)

    text = text_of(lead, run, at=200)

    assert rounds_in(text) == [1, 2, *range(196, 210), 399, 400]
    assert lines_in(text) == [("gap", 3, 195), ("gap", 210, 398)]
    assert "Rounds 210 to 398 are not loaded:" in text
    assert "189 rounds, 1 finding." in text


def test_the_page_has_one_size_for_any_length(lead: Client, project: Project) -> None:
    def measured(run: Run) -> tuple[int, int, int]:
        address = address_of(run)
        lead.get(address)
        with CaptureQueriesContext(connection) as captured:
            text = lead.get(address, {"list": ""}).content.decode()
        return len(captured), elements_in(text), len(text)

    short_queries, short_elements, short_size = measured(the_vpn_run(project))
    queries, elements, size = measured(a_long_run(1500, project))

    assert abs(queries - short_queries) <= 0.1 * short_queries
    assert max(queries, short_queries) <= MOST_QUERIES
    assert elements <= short_elements * 1.1
    assert max(elements, short_elements) <= MOST_ELEMENTS
    assert max(size, short_size) < 100_000


def test_opens_at_the_first_odd_round(lead: Client, project: Project) -> None:
    run = a_long_run(400, project)

    assert 350 in rounds_in(text_of(lead, run))


@pytest.mark.parametrize("asked", ["0", "999999", "-3", "x", "9" * 30, "²"])
def test_any_round_that_is_asked_for_gives_a_page(
    lead: Client, project: Project, asked: str
) -> None:
    run = the_vpn_run(project)

    assert rounds_in(text_of(lead, run, at=asked))


def test_an_htmx_request_gets_the_rounds_alone(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    swap = lead.get(address_of(run), {"at": 30}, headers=HTMX)

    assert swap.content.decode().strip().startswith('<ol id="rounds"')
    assert 30 in rounds_in(swap.content.decode())
    assert "HX-Request" in swap.headers["Vary"]


@pytest.mark.parametrize("header", ["HX-Boosted", "HX-History-Restore-Request"])
def test_a_whole_page_for_boosted_and_restored(lead: Client, project: Project, header: str) -> None:
    page = lead.get(address_of(the_vpn_run(project)), headers={**HTMX, header: "true"})

    assert page.content.decode().startswith("<!doctype html>")


def test_a_part_without_htmx_goes_to_the_page(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    answer = lead.get(address_of(run, "run_part"), {"first": 14, "last": 39, "take": "last"})

    assert answer.headers["Location"] == f"{address_of(run)}?at=39#r39"


@pytest.mark.parametrize(
    "query",
    [{}, {"first": "3"}, {"first": "0", "last": "3"}, {"first": "9", "last": "3"},
     {"first": "1", "last": "3", "take": "all"}, {"first": "1", "last": "9" * 12}],
)  # fmt: skip
def test_a_part_that_is_no_stretch_is_refused(
    lead: Client, project: Project, query: dict[str, str]
) -> None:
    run = the_vpn_run(project)

    assert lead.get(address_of(run, "run_part"), query).status_code == 400


def test_the_kinds_of_nothing_are_told_apart(lead: Client, project: Project) -> None:
    run = a_shown_run(
        a_run(
            [
                call("a", {}, ""),
                call("b", {}, "  \n "),
                call("c", {}, "[]"),
                call("d", {}, None),
                call("e", {}, "null", is_error=True),
            ],
            "Done.",
        ),
        project,
    )

    text = text_of(lead, run)

    assert "Nothing came back: an empty string, no error flag" in text
    assert "Nothing came back: only white space, no error flag" in text
    assert "Nothing came back: an empty list, no error flag" in text
    assert "Unanswered: no result came for this call" in text
    assert "Nothing came back: null, error flag set" in text


def test_the_last_call_of_a_live_run_waits(lead: Client, project: Project) -> None:
    record = a_run([call()], [call("slow", {}, None)], run_id="live", ending=Ending.OPEN)

    text = text_of(lead, a_shown_run(record, project, live=True))

    assert "No answer yet" in text
    assert "Unanswered" not in text


def test_rounds_that_never_came_are_named(lead: Client, project: Project) -> None:
    record = a_run([call()], [call("b")], replace(a_round(reply="Done."), number=6))

    text = text_of(lead, a_shown_run(record, project))

    assert "Rounds 3 to 5 never arrived: 3 rounds." in text
    assert "incomplete, 3 of 6" in text


def test_long_text_says_how_much_more_there_is(lead: Client, project: Project) -> None:
    run = a_shown_run(a_run([call("read", {}, "long " * 2000)], "Done."), project)

    text = text_of(lead, run)

    assert "Show all 10,000 characters" in text
    assert text.count("long ") < 200


def test_markup_is_escaped(lead: Client, project: Project) -> None:
    text = text_of(lead, a_hostile_run(project))

    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert 'href="javascript' not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert '<span class="secret ' in text
    assert "U+202E</span>" in text
    assert "{{ 7|add:7 }}" in text


def test_holds_nothing_that_the_policy_refuses(lead: Client, project: Project) -> None:
    text = text_of(lead, the_vpn_run(project))

    assert " style=" not in text
    assert not re.search(r"<script(?![^>]* src=)", text)
    assert not re.search(r"\son[a-z]+=", text)


def test_an_observer_reads_verdict_and_findings_alone(client: Client, project: Project) -> None:
    run = the_vpn_run(project)
    client.force_login(a_member(project, Role.OBSERVER))

    text = text_of(client, run)

    assert "First odd round: empty result." in text
    assert "sees verdicts, findings and figures" in text
    for said in ("VPN drops", "employee_id", "friendly paragraph", "last reset: 9 days"):
        assert said not in text
    assert not AccessEntry.objects.exists()


def test_a_restricted_run_is_for_named_readers(client: Client, project: Project) -> None:
    run = the_vpn_run(project)
    Run.objects.filter(pk=run.pk).update(restricted=True)

    client.force_login(a_member(project, Role.ADMIN))
    unnamed = text_of(client, run)
    client.force_login(a_member(project, Role.LEAD, restricted=True))
    named = text_of(client, run)

    assert "restricted: only readers named" in unnamed
    assert "friendly paragraph" not in unnamed
    assert "friendly paragraph" in named


def test_each_reading_leaves_a_line(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    text_of(lead, run)
    text_of(lead, run, "run_part", first=14, last=39, take="first")

    lines = AccessEntry.objects.filter(run_pk=run.pk, action=AccessAction.READ).order_by("pk")
    assert [line.detail for line in lines] == [{"at": 3}, {"first": 14, "last": 39}]
    assert lines[0].address == "127.0.0.1"


def test_the_runs_before_and_after_in_the_list(lead: Client, project: Project) -> None:
    older = a_shown_run(a_run([call("x", {}, "")], run_id="older"), project)
    run = the_vpn_run(project)
    newer = a_shown_run(a_run([call("y", {}, "")], run_id="newer"), project)
    a_shown_run(a_run([call()], "Done.", run_id="fine"), project)

    context = lead.get(address_of(run), {"list": ""}).context

    assert context["newer"] == address_of(newer)
    assert context["older"] == address_of(older)


def test_asks_to_sign_in(client: Client, project: Project) -> None:
    assert client.get(address_of(the_vpn_run(project))).status_code == 302


def test_a_run_of_another_project_is_not_found(lead: Client, project: Project) -> None:
    elsewhere = the_vpn_run(a_project("secret"))

    by_its_own = lead.get(address_of(elsewhere))
    by_ours = lead.get(reverse("analysis:run_detail", args=[project.slug, elsewhere.pk]))

    assert by_its_own.status_code == by_ours.status_code == 404


def test_a_live_run_says_what_has_come_since(lead: Client, project: Project) -> None:
    def rounds(count: int) -> RunRecord:
        calls = [[call("step", {"n": number})] for number in range(count)]
        return a_run(*calls, live=True, run_id="live")

    run = a_shown_run(rounds(2), project, live=True)
    page = text_of(lead, run)
    nothing_new = text_of(lead, run, "run_live", seen=2)
    a_shown_run(rounds(5), project, live=True)
    three_new = text_of(lead, run, "run_live", seen=2)
    Run.objects.filter(pk=run.pk).update(ending=Ending.FINISHED)
    ended = text_of(lead, run, "run_live", seen=5)

    assert "live/?seen=2" in page
    assert "goes on" in nothing_new
    assert f'href="{address_of(run)}?at=5#r5">3 new rounds</a>' in three_new
    assert "it ended" in ended
    assert "hx-get" not in ended


def test_a_run_that_is_over_is_not_asked_about(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    assert 'id="live"' not in text_of(lead, run)
    assert lead.get(address_of(run, "run_live"), {"seen": "x"}).status_code == 400


@pytest.mark.parametrize(
    ("query", "found"),
    [({"after": 3}, 5), ({"before": 5}, 3), ({"after": 52}, None), ({"before": 3}, None)],
)
def test_the_nearest_finding_of_any_round(
    lead: Client, project: Project, query: dict[str, int], found: int | None
) -> None:
    answer = lead.get(address_of(the_vpn_run(project), "finding_near"), query)

    assert answer.json() == {"round": found}


@pytest.mark.parametrize("query", [{}, {"after": "x"}, {"after": 1, "before": 3}, {"before": -1}])
def test_the_nearest_finding_asks_for_one_round(
    lead: Client, project: Project, query: dict[str, object]
) -> None:
    answer = lead.get(address_of(a_long_run(3, project), "finding_near"), query)

    assert answer.status_code == 400
