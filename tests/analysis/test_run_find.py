"""Find in one run."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import a_round, a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_long_run, a_shown_run, the_vpn_run
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Project, Run
from transcripts.record import InputChange, Message, Orphan, Placed
from transcripts.selectors import find
from transcripts.text_index.places import spans_of
from transcripts.text_index.words import folded

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def lead(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.LEAD))
    return client


def found(client: Client, run: Run, **query: object) -> str:
    address = reverse("analysis:run_find", args=[run.project.slug, run.pk])
    answer = client.get(address, query, headers=HTMX)
    assert answer.status_code == 200
    return answer.content.decode()


def test_it_counts_over_all_rounds(lead: Client, project: Project) -> None:
    run = a_long_run(400, project)
    address = reverse("analysis:run_detail", args=[project.slug, run.pk])

    text = found(lead, run, q="RECORD 333 of")
    nothing = found(lead, run, q="100%")

    assert "<b>1</b> text in <b>1</b> round holds" in text
    assert f'{address}?at=333#r333" data-goto="333"' in text
    assert "<mark>record 333 of</mark>" in text
    assert "Nothing in any round holds" in nothing


def test_it_says_what_it_does_not_list(lead: Client, project: Project) -> None:
    text = found(lead, a_long_run(400, project), q="contoso")

    assert "the first 50 are listed, 349 are not" in text


def test_it_reaches_goal_and_ticket(lead: Client, project: Project) -> None:
    text = found(lead, the_vpn_run(project), q="Cannot Keep the ledger")

    assert 'data-goto="1"' in text


def test_it_keeps_the_words_out_of_the_log(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    found(lead, run, q="hunter2")

    line = AccessEntry.objects.get(action=AccessAction.FIND)
    assert "hunter2" not in str(line.detail) + line.what


ARGS = (
    r'{"q": "a \"quoted\" word", "path": "C:\\temp\\x.log", '
    r'"city": "M\u00fcnchen", "n": "one\ntwo"}'
)


@pytest.fixture
def told(project: Project) -> Run:
    return a_shown_run(
        a_run(
            a_round(
                call("look", ARGS, "50% of [a-z]+ (all) _ 员工不存在"),
                reply="Straße, naïve İSTANBUL \ufb01n e\u0301cole",
                input=InputChange((Placed("m", 0),)),
                orphans=(Orphan("c9", "a stray answer"),),
            ),
            "Fertig.",
            messages=(Message(key="m", role="user", content="Meine Müdigkeit"),),
        ),
        project,
    )


@pytest.mark.parametrize(
    ("words", "part", "marked"),
    [
        ('a "quoted" word', "call", "a &quot;quoted&quot; word"),
        ("C:\\temp\\x.log", "call", "C:\\temp\\x.log"),
        ("münchen", "call", "München"),
        ("munchen", "call", "München"),
        ("strasse", "reply", "Straße"),
        ("naive", "reply", "naïve"),
        ("istanbul", "reply", "İSTANBUL"),
        ("İSTANBUL", "reply", "İSTANBUL"),
        ("école", "reply", "e\u0301cole"),
        ("fin", "reply", "\ufb01n"),
        ("50%", "result", "50%"),
        ("[a-z]+ (all) _", "result", "[a-z]+ (all) _"),
        ("工不存", "result", "工不存"),
        ("stray", "result", "stray"),
        ("MUDIG", "message", "Müdig"),
    ],
)
def test_it_finds_what_one_reads(
    lead: Client, told: Run, words: str, part: str, marked: str
) -> None:
    text = found(lead, told, q=words)

    assert "<b>1</b> text in <b>1</b> round holds" in text
    assert f'<span class="soft small">{part}</span>' in text
    assert re.findall("<mark>(.*?)</mark>", text) == [marked]


@pytest.mark.parametrize("words", ["a.quoted", "Münch n", "\u0301", "\u200d", "\x00", "%%"])
def test_it_finds_nothing_that_is_not_there(lead: Client, told: Run, words: str) -> None:
    assert "data-goto" not in found(lead, told, q=words)


def test_further_hits_are_a_link_away(lead: Client, project: Project) -> None:
    run = a_long_run(400, project)

    text = found(lead, run, q="contoso", start=50)
    last = found(lead, run, q="contoso", start=350)

    assert "51 to 100 are listed" in text
    assert 'rel="prev"' in text
    assert "The next of 299 more" in text
    assert len(re.findall("data-goto", last)) == 49
    assert 'rel="next"' not in last


def test_a_place_that_is_none_begins_anew(lead: Client, told: Run) -> None:
    assert "<b>1</b> text in <b>1</b> round holds “stray”." in found(
        lead, told, q="stray", start=90
    )


@given(
    text=st.text("aÀßœ\u0301İ 字", max_size=30), words=st.text("aÀßœİ字", min_size=1, max_size=3)
)
def test_places_hold_the_words(text: str, words: str) -> None:
    spans = list(spans_of(text, words))

    assert all(folded(words) in folded(text[start:end]) for start, end in spans)
    assert bool(spans) == (folded(words) in "".join(map(folded, text)))


def test_an_excerpt_is_cut_around_the_first_place(lead: Client, project: Project) -> None:
    long = "word " * 40_000 + "Nähe" + " tail" * 100
    run = a_shown_run(a_run([call("look", {}, long)], "Done."), project)

    (hit,) = find.run_find(run=run, words="nahe").hits

    assert hit.excerpt.startswith("…")
    assert "Nähe" in hit.excerpt
    assert len(hit.excerpt) == find.EXCERPT + 1


@pytest.mark.parametrize("words", ["contoso", "RECORD 333 of", "record é", "nowhere"])
def test_a_long_run_is_looked_through_by_several_processes(
    project: Project, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_long_run(400, project)
    alone = find.run_find(run=run, words=words)

    monkeypatch.setattr(find, "LONG", 0)

    assert find.run_find(run=run, words=words) == alone
