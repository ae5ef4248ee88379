"""Full-text search: what it finds, where, and for whom."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import DataError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agentdesk.keeping import HANGING
from analysis.services.keeping import HELD
from tests.builders import a_round, a_run, call
from tests.factories import a_key, a_member, a_project
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.choices import AccessAction, KeyScope, Role
from transcripts.maskers import run_masker
from transcripts.models import AccessEntry, Project, Run, RunText
from transcripts.record import InputChange, Message, Placed
from transcripts.selectors.texts import texts_of_rounds
from transcripts.services import run_store, text_index
from transcripts.services.masked_rows import run_mask_again
from transcripts.services.masking import mask_rule_save
from transcripts.services.removal import run_empty, run_erase, transcript_mark
from transcripts.services.text_index import (
    run_text_forget,
    texts_are_late,
    texts_catch_up,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def told(project: Project) -> Run:
    """A run that tells something in each of its places."""
    message = Message("m", "user", "Ticket INC-4417: 重置密码 for anna.smith@contoso.com, please.")
    return a_shown_run(
        a_run(
            a_round(
                call("reset_vpn_profile", {"file": "C:\\logs\\vpn.txt"}, "Error VPN-E-1203"),
                reply="First I reset the profile.",
                reasoning="The gateway looks unreachable.",
                input=InputChange((Placed("m", 0),)),
            ),
            a_round(call("look", {"q": "x"}, '{"log": "line one\\nconnection refused by peer"}')),
            "Zurückgesetzt, Straße frei.",
            run_id="run-told",
            messages=(message,),
            ticket_id="IT-77",
            title="Password of Anna",
            labels={"team": "finance"},
        ),
        project,
    )


def found(project: Project, q: str, role: Role = Role.LEAD, **query: str) -> list[str]:
    client = Client()
    client.force_login(a_member(project, role))
    address = reverse("analysis:run_list", args=[project.slug])
    page = client.get(address, {"tab": "all", "q": q, **query}).context["page"]
    return [run.run_id for run in page.runs]


@pytest.mark.parametrize(
    "q",
    [
        "INC-4417",
        "inc",
        "reset_vpn_profile",
        "reset_vpn_prof",
        "VPN-E-1203",
        "anna.smith@contoso.com",
        "contoso.com",
        "C:\\logs\\vpn.txt",
        "vpn.txt",
        "重置",
        "重置密码",
        "zuruckgesetzt",
        "STRASSE",
        "unreachable",
        '"connection refused by"',
        '"one connection"',
        "gateway refused",
        "unreach*",
        "finance",
        "IT-7",
        "run-tol",
        "refused -absent",
    ],
)
def test_finds_words_of_every_place(project: Project, told: Run, q: str) -> None:
    a_shown_run(a_run([call("other")], "Done.", run_id="other"), project)

    assert found(project, q) == ["run-told"]


@pytest.mark.parametrize(
    "q", ["absent", '"refused connection"', "refused -gateway", "置重", "INC-441", "%"]
)
def test_finds_nothing_else(project: Project, told: Run, q: str) -> None:
    assert [each for each in found(project, q) if q != "INC-441"] == []


@pytest.mark.parametrize(
    ("q", "marked"),
    [
        ("second", "second"),
        ("Grün", "Grün"),
        ("berechtigung", "berechtigung"),
        ("gpt-4o", "gpt-4o"),
        ("can", "can"),
    ],
    ids=["escapes of arguments", "letters by code", "within a word", "the model", "a whole word"],
)
def test_marks_what_was_found(project: Project, q: str, marked: str) -> None:
    args = r'{"note": "first\nsecond, it cancels: Gr\u00fcn can do"}'
    rounds = [call("told", args, "Ihre Zugangsberechtigung fehlt.")], "Done."
    run = a_shown_run(a_run(*rounds, run_id="said", model="gpt-4o"), project)
    client = Client()
    client.force_login(a_member(project, Role.LEAD))
    address = reverse("analysis:run_list", args=[project.slug])

    page = client.get(address, {"tab": "all", "q": q}).content.decode()

    assert f"/runs/{run.pk}/" in page
    assert re.findall("<mark>(.*?)</mark>", page) == [marked]


def test_of_parts_nothing_is_said_where_nothing_holds_them(project: Project, told: Run) -> None:
    client = Client()
    client.force_login(a_member(project, Role.LEAD))
    address = reverse("analysis:run_list", args=[project.slug])

    page = client.get(address, {"tab": "all", "q": "4417-INC"}).content.decode()

    assert "or parts of it" not in page


def test_shows_the_line_and_opens_at_its_round(project: Project, told: Run) -> None:
    client = Client()
    client.force_login(a_member(project, Role.LEAD))

    page = client.get(
        reverse("analysis:run_list", args=[project.slug]), {"tab": "all", "q": "refused"}
    )

    text = page.content.decode()
    assert "<mark>refused</mark>" in text
    assert "Round 2, result:" in text
    assert f"/runs/{told.pk}/?list=tab%3Dall%26q%3Drefused&amp;at=2#r2" in text
    line = AccessEntry.objects.get(action=AccessAction.FIND)
    assert line.detail == {"shown": [told.pk]}


def test_the_best_comes_first(project: Project) -> None:
    a_shown_run(a_run([call()], "printer", run_id="named", title="printer"), project)
    a_shown_run(a_run([call()], "printer printer printer printer", run_id="often"), project)
    a_shown_run(a_run([call()], "one printer", run_id="once"), project)

    assert found(project, "printer") == ["named", "often", "once"]
    assert found(project, "printer", sort="newest") == ["once", "often", "named"]


def test_an_observer_searches_names_alone(project: Project, told: Run) -> None:
    assert found(project, "refused", Role.OBSERVER) == []
    assert found(project, "IT-77", Role.OBSERVER) == ["run-told"]
    assert not AccessEntry.objects.filter(action=AccessAction.FIND).exists()


def test_a_restricted_run_is_found_by_named_readers(project: Project, told: Run) -> None:
    Run.objects.filter(pk=told.pk).update(restricted=True)
    client = Client()
    address = reverse("analysis:run_list", args=[project.slug])

    client.force_login(a_member(project, Role.ADMIN))
    refused = client.get(address, {"tab": "all", "q": "refused"})
    phrase = client.get(address, {"tab": "all", "q": '"connection refused"'})
    client.force_login(a_member(project, Role.LEAD, restricted=True))
    allowed = client.get(address, {"tab": "all", "q": "refused"})

    assert [tab[2] for tab in refused.context["tabs"]] == ["0"] * 4
    assert (refused.context["page"].runs, phrase.context["page"].runs) == ([], [])
    assert [run.pk for run in allowed.context["page"].runs] == [told.pk]


def test_the_api_finds_the_same_with_the_line(project: Project, told: Run) -> None:
    _, key = a_key(project, KeyScope.READ)
    headers = {"Authorization": f"Bearer {key}"}

    (run,) = Client().get("/api/v1/runs", {"q": "refused"}, headers=headers).json()["runs"]
    Run.objects.update(restricted=True)
    hidden = Client().get("/api/v1/runs", {"q": "refused"}, headers=headers).json()

    assert run["found"]["round"] == 2
    assert run["found"]["line"].endswith('connection refused by peer"}')
    assert hidden == {"runs": [], "next": None}


def test_another_project_is_not_searched(project: Project, told: Run) -> None:
    assert found(a_project("other"), "refused") == []


def test_live_rounds_are_added_beside_the_others(project: Project) -> None:
    def send(number: int, text: str) -> None:
        round_ = replace(a_round(call("look", {"n": number}, text)), number=number)
        a_shown_run(a_run(round_, live=True, run_id="live"), project, live=True)

    send(1, "alpha")
    before = set(RunText.objects.values_list("pk", flat=True))
    send(2, "beta")
    after = set(RunText.objects.values_list("pk", flat=True))

    assert before < after
    assert found(project, "alpha beta") == ["live"]

    send(1, "gamma")
    assert found(project, "alpha") == []
    assert found(project, "gamma beta") == ["live"]


def test_texts_that_changed_are_indexed_anew(project: Project, told: Run) -> None:
    from transcripts.models import ToolCall

    ToolCall.objects.filter(run=told, round_number=2).update(result="")
    with transaction.atomic():
        run_text_forget(run=told)
    assert found(project, "refused") == found(project, "unreachable") == []
    assert not texts_catch_up(seconds=5)

    assert found(project, "refused") == []
    assert found(project, "unreachable") == ["run-told"]


def test_runs_of_before_are_caught_up_with(project: Project, told: Run) -> None:
    RunText.objects.all().delete()
    Run.objects.filter(pk=told.pk).update(text_version=0)

    assert found(project, "refused") == []
    assert not texts_catch_up(seconds=5)
    assert found(project, "refused") == ["run-told"]
    assert found(project, "INC-4417") == ["run-told"]
    rows = RunText.objects.count()
    Run.objects.filter(pk=told.pk).update(text_version=0)
    assert not texts_catch_up(seconds=5)
    assert RunText.objects.count() == rows


def test_what_comes_is_searched_soon_after_and_the_page_says_so(project: Project) -> None:
    def send(*texts: str) -> None:
        with transaction.atomic():
            run_store(project=project, fragment=a_run(*texts, run_id="new"), live=False)

    def note() -> str:
        client = Client()
        client.force_login(a_member(project, Role.LEAD))
        address = reverse("analysis:run_list", args=[project.slug])
        text = client.get(address, {"tab": "all", "q": "zebra"}).content.decode()
        return text.split("searched small soft")[-1] if "not searched yet" in text else ""

    send("A zebra.")
    assert found(project, "zebra") == []
    assert "One run that came in just now is not searched yet" in note()
    assert texts_are_late(than=timedelta(0))
    assert not texts_are_late(than=timedelta(minutes=1))

    assert texts_catch_up(seconds=-1)
    assert not texts_catch_up(seconds=5)
    assert found(project, "zebra") == ["new"]
    assert not note()
    assert not texts_are_late(than=timedelta(0))

    send("A zebra.")
    assert not note()

    # What is no longer there is found no more at once, what came instead soon after.
    send("An okapi.")
    assert found(project, "zebra") == []
    assert not texts_catch_up(seconds=5)
    assert found(project, "zebra") == []
    assert found(project, "okapi") == ["new"]


def test_a_message_that_comes_late_is_found_in_its_round(project: Project) -> None:
    def send(*idents: str) -> None:
        told = tuple(Message(ident, "user", f"about {ident}") for ident in idents)
        read = InputChange(tuple(Placed(ident, at) for at, ident in enumerate(idents)))
        record = a_run(a_round(call("look"), input=read), run_id="late", messages=told)
        with transaction.atomic():
            run_store(project=project, fragment=record, live=True)
        assert not texts_catch_up(seconds=5)

    send("badger")
    send("badger", "otter")

    assert found(project, "badger otter") == ["late"]
    rows = [row for row in RunText.objects.values_list("rounds", flat=True) if row != [0]]
    assert rows == [[1]]


def test_a_run_that_cannot_be_indexed_holds_up_no_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run_id in ("broken", "whole"):
        with transaction.atomic():
            run_store(project=project, fragment=a_run("A zebra.", run_id=run_id), live=False)

    def refuse(places: list[tuple[int, int]]) -> object:
        if Run.objects.get(pk=places[0][0]).run_id == "broken":
            raise DataError("string is too long for tsvector")
        return texts_of_rounds(places)

    monkeypatch.setattr(text_index, "texts_of_rounds", refuse)

    assert not texts_catch_up(seconds=5)
    assert found(project, "zebra") == ["whole"]
    assert not texts_are_late(than=timedelta(0))


def test_a_transcript_that_was_removed_is_due_no_more(project: Project, told: Run) -> None:
    with transaction.atomic():
        run_text_forget(run=told)
    Run.objects.filter(pk=told.pk).update(text_removed_at=timezone.now())
    assert not texts_catch_up(seconds=5)
    assert not RunText.objects.filter(run=told).exists()
    assert not texts_are_late(than=timedelta(0))


def test_filters_by_tool_called_and_stop_reason(project: Project, told: Run) -> None:
    the_vpn_run(project)

    assert found(project, "", called="look") == ["run-told"]
    assert found(project, "refused", called="reset_vpn_profile") == ["run-told"]
    assert found(project, "", Role.OBSERVER, called="look") == ["run-told"]
    assert len(found(project, "", stop="wants_tool")) == 2
    assert found(project, "", stop="cut_off") == []
    assert found(project, "", stop="none such'") == []


def test_many_matches_are_read_from_the_newest_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from analysis.lists import pages, searching

    monkeypatch.setattr(searching, "MANY", 2)
    monkeypatch.setattr(pages, "ROWS_PER_PAGE", 2)
    for number in range(5):
        a_shown_run(a_run([call()], "common word", run_id=f"run-{number}"), project)
    client = Client()
    client.force_login(a_member(project, Role.LEAD))
    address = reverse("analysis:run_list", args=[project.slug])

    down = [4, 3, 2, 1, 0]
    for sort, wanted in (("newest", down), ("best", down), ("oldest", down[::-1])):
        seen, query = [], f"tab=all&q=common&sort={sort}"
        while query:
            page = client.get(f"{address}?{query}").context["page"]
            seen += [run.run_id for run in page.runs]
            query = page.older
        assert seen == [f"run-{number}" for number in wanted], sort


def test_a_late_round_is_found_and_its_run_stays_found(project: Project) -> None:
    def send(number: int, text: str, **fields: bool) -> None:
        round_ = replace(a_round(call("look", {"n": number}, text)), number=number)
        a_shown_run(a_run(round_, live=True, run_id="live"), project, **fields)

    send(1, "alpha", live=True)
    send(3, "gamma")
    assert found(project, "beta") == []

    send(2, "beta", live=True)

    assert found(project, "beta") == ["live"]
    assert found(project, "alpha beta gamma") == ["live"]


def test_a_removed_transcript_is_found_by_names_alone_at_once(project: Project, told: Run) -> None:
    assert transcript_mark(pk=told.pk, by="an erasure", held=HELD)
    marked = [found(project, q) for q in ("refused", '"connection refused by"', "unreach*")]
    while not run_empty(pk=told.pk, tables=HANGING):
        pass

    assert marked == [[], [], []]
    assert found(project, "refused") == []
    assert found(project, "Password") == []
    assert found(project, "IT-77") == found(project, "run-told") == ["run-told"]
    assert not RunText.objects.filter(run=told, last_round__gt=0).exists()


def test_a_deleted_run_is_not_found_by_anything(project: Project, told: Run) -> None:
    queries = ("refused", "IT-77", "run-told", "finance", '"connection refused by"')
    assert all(found(project, q) == ["run-told"] for q in queries)

    assert run_erase(pk=told.pk, held=HELD)
    marked = [found(project, q) for q in queries]
    called = found(project, "", called="look")
    while not run_empty(pk=told.pk, tables=HANGING):
        pass

    assert marked == [[]] * len(queries)
    assert called == []
    assert [found(project, q) for q in queries] == [[]] * len(queries)
    assert not RunText.objects.exists()


def test_what_is_masked_again_is_not_found_any_more(project: Project, told: Run) -> None:
    assert found(project, "unreachable") == ["run-told"]
    mask_rule_save(
        project=project,
        rule=None,
        name="gateways",
        family="gateway",
        pattern=r"gateway looks (unreachable)",
        must="the gateway looks unreachable",
        must_not="the gateway looks fine",
        user=a_member(project, Role.ADMIN),
    )

    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=told.pk)
        assert run_mask_again(run=run, masker=run_masker(project, run))

    assert found(project, "unreachable") == []
    assert not texts_catch_up(seconds=5)
    assert found(project, "unreachable") == []
    assert found(project, "gateway") == ["run-told"]
