"""One size for any run: full of findings, words, calls and holes, without rounds, growing."""

from __future__ import annotations

import json
import re
from copy import copy
from dataclasses import replace

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.models import Annotation
from tests.analysis.test_run_detail import elements_in, lines_in, rounds_in
from tests.builders import a_round, a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_long_run, a_shown_run
from transcripts.choices import Role
from transcripts.models import Project, Run
from transcripts.record import Ending
from transcripts.services import run_store

pytestmark = pytest.mark.django_db
MOST_ELEMENTS = 800
MOST_QUERIES = 16
WIDE = json.dumps({f"field {n}": {"a": "x" * 40, "b": "y" * 40} for n in range(25)})


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def lead(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.ADMIN))
    return client


def page_of(client: Client, run: Run, query: str = "") -> str:
    """The page, which is no larger than any other."""
    address = reverse("analysis:run_detail", args=[run.project.slug, run.pk]) + query
    client.get(address)
    with CaptureQueriesContext(connection) as captured:
        text = client.get(address).content.decode()
    assert elements_in(text) <= MOST_ELEMENTS
    assert len(text.encode()) < 100_000
    assert len(captured) <= MOST_QUERIES
    return text


def test_a_run_with_thousands_of_findings(lead: Client, project: Project) -> None:
    empty = [[call("find", {"id": n}, "" if n % 3 else f"{n}")] for n in range(1, 3_000)]
    run = a_shown_run(a_run(*empty, "Done.", run_id="full"), project)

    text = page_of(lead, run, "?at=1500")

    assert 1500 in rounds_in(text)
    total = run.findings.count()
    assert total > 500
    assert f"All {total:,} findings</a>: {total - 20:,} more are not listed here." in text
    gaps = re.findall(r"rounds?, ([\d,]+) findings?\.", text)
    assert sum(int(count.replace(",", "")) for count in gaps) <= total


def test_a_run_of_which_much_was_said(lead: Client, project: Project) -> None:
    run = a_long_run(400, project)
    annotate = reverse("analysis:run_annotate", args=["helpdesk", run.pk])
    lead.post(annotate, {"kind": "note", "about": "350", "text": "Who owns this?"})
    lead.post(annotate, {"kind": "note", "about": "", "text": "And this?"})
    for said in list(Annotation.objects.all()):
        copies = [copy(said) for _ in range(149)]
        for each in copies:
            each.pk = None
        Annotation.objects.bulk_create(copies)

    text = page_of(lead, run, "?at=350")

    assert "Root cause and comments · 300" in text
    assert "294 more</a>" in text
    assert "147 earlier comments on this round</a>" in text
    one = lead.get(reverse("analysis:annotation_list", args=["helpdesk", run.pk]) + "?round=350")
    assert one.content.count(b'class="annotation"') == 150


def test_a_round_of_thousands_of_calls(lead: Client, project: Project) -> None:
    calls = [call("find", {"id": n}, WIDE) for n in range(3_000)]
    run = a_shown_run(a_run(calls, "Done.", run_id="crowd"), project)

    text = page_of(lead, run)

    assert "2988 more calls in this round:" in text


def test_rounds_full_of_trees(lead: Client, project: Project) -> None:
    crowded = [[call("find", {"id": n, "k": k}, WIDE) for k in range(12)] for n in range(60)]
    run = a_shown_run(a_run(*crowded, "Done.", run_id="trees"), project)

    text = page_of(lead, run, "?at=30")

    assert 30 in rounds_in(text)
    told = [(first, last) for _, first, last in lines_in(text)]
    shown = rounds_in(text)
    covered = sorted([*shown, *(n for first, last in told for n in range(first, last + 1))])
    assert covered == list(range(1, 62))


def test_a_result_of_megabytes(lead: Client, project: Project) -> None:
    run = a_shown_run(a_run([call("dump", {}, "line of text\n" * 400_000)], "Done."), project)

    text = page_of(lead, run)

    assert "Show all 5,200,000 characters" in text
    part = reverse("transcripts:round_text", args=["helpdesk", run.pk, 1]) + "?part=result&index=0"
    whole = lead.get(part, headers={"HX-Request": "true"}).content.decode()
    assert len(whole) < 200_000
    assert "Characters 100,001 to 5,200,000 are not loaded: go on" in whole


def test_a_run_without_rounds(lead: Client, project: Project) -> None:
    run = a_shown_run(a_run(run_id="none", ending=Ending.OPEN), project, live=True)

    text = page_of(lead, run)

    assert "No round of this run has arrived yet." in text


def test_a_run_full_of_holes(lead: Client, project: Project) -> None:
    rounds = [
        replace(a_round(call("find", {"id": n}, f"{n}")), number=n) for n in range(1, 4_000, 4)
    ]
    run = a_shown_run(a_run(*rounds, run_id="holes"), project)

    text = page_of(lead, run, "?at=2001")

    assert 2001 in rounds_in(text)
    assert "Rounds 2,002 to 2,004 never arrived: 3 rounds." in text
    assert "are not loaded:" in text


def test_a_run_that_grows_under_the_reader(lead: Client, project: Project) -> None:
    rounds = [[call("find", {"id": n}, f"record {n}")] for n in range(90)]
    run = a_shown_run(a_run(*rounds[:40], ending=Ending.OPEN), project, live=True)
    part = reverse("analysis:run_part", args=["helpdesk", run.pk])
    with transaction.atomic():
        run_store(project=project, fragment=a_run(*rounds, ending=Ending.OPEN), live=True)

    text = page_of(lead, run)
    rest = lead.get(part, {"first": 21, "last": 39}, headers={"HX-Request": "true"})

    assert rounds_in(text)[-1] == 90
    assert rounds_in(rest.content.decode())[0] == 21
    assert lines_in(rest.content.decode())[-1][2] == 39


def test_a_part_brings_no_more_than_there_is_room_for(lead: Client, project: Project) -> None:
    run = a_long_run(400, project)
    part = reverse("analysis:run_part", args=["helpdesk", run.pk])

    def brought(**query: object) -> list[int]:
        asked = {"first": 100, "last": 300, **query}
        return rounds_in(lead.get(part, asked, headers={"HX-Request": "true"}).content.decode())

    assert brought() == list(range(100, 112))
    assert len(brought(room=80)) < 6
    assert brought(room=0) == [100]
    assert brought(room="x", take="last") == list(range(289, 301))


def test_findings_of_one_round(lead: Client, project: Project) -> None:
    calls = [call("find", {"id": n}, "") for n in range(9)]
    run = a_shown_run(a_run(calls, calls, "Done."), project)
    address = reverse("analysis:run_findings", args=["helpdesk", run.pk])

    text = lead.get(address, {"round": 2}).content.decode()

    count = run.findings.filter(round=2).count()
    assert f"{count} finding" in text
    assert "in round 2</h1>" in text
