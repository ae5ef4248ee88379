"""Two runs beside each other."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from analysis import comparing
from analysis.comparing import Kind, Step, aligned
from tests.builders import a_round, a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_long_run, a_shown_run, the_vpn_run
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Project, Run


def steps(text: str) -> list[Step]:
    """One step a letter; a digit after it is what came back."""
    found: list[Step] = []
    for character in text:
        if character.isdigit():
            found[-1] = Step(found[-1].number, found[-1].asked, character)
        else:
            found.append(Step(len(found) + 1, character, ""))
    return found


def told(left: str, right: str) -> str:
    letters = {Kind.SAME: "=", Kind.ANSWER: "a", Kind.OTHER: "o", Kind.LEFT: "l", Kind.RIGHT: "r"}
    return "".join(letters[pair.kind] for pair in aligned(steps(left), steps(right)).pairs)


@pytest.mark.parametrize(
    ("left", "right", "kinds"),
    [
        ("abc", "abc", "==="),
        ("ab1c", "ab2c", "=a="),
        ("abc", "axc", "=o="),
        ("abcd", "acd", "=l=="),
        ("acd", "abcd", "=r=="),
        ("abababab", "abx", "==olllll"),
        ("", "ab", "rr"),
        ("", "", ""),
        ("aaaa", "aa", "==ll"),
    ],
    ids=[
        "the same",
        "another answer",
        "another call",
        "one fewer",
        "one more",
        "a loop beside its fix",
        "an empty run",
        "two empty runs",
        "a longer loop",
    ],
)
def test_rounds_stand_beside_those_that_ask_for_the_same(left: str, right: str, kinds: str) -> None:
    assert told(left, right) == kinds


@given(left=st.text("abc", max_size=30), right=st.text("abc", max_size=30))
def test_every_round_stands_once_and_in_order(left: str, right: str) -> None:
    pairs = aligned(steps(left), steps(right)).pairs

    assert [pair.left for pair in pairs if pair.left] == list(range(1, len(left) + 1))
    assert [pair.right for pair in pairs if pair.right] == list(range(1, len(right) + 1))
    for pair in pairs:
        if pair.kind in (Kind.SAME, Kind.ANSWER):
            assert left[pair.left - 1] == right[pair.right - 1]  # type: ignore[operator]


def test_what_is_too_long_to_align_stands_by_number_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparing, "MOST_CELLS", 3)

    found = aligned(steps("abbc"), steps("axyc"))

    assert found.by_number
    assert [pair.kind for pair in found.pairs] == [Kind.SAME, Kind.OTHER, Kind.OTHER, Kind.SAME]


@pytest.fixture
def project(db: None) -> Project:
    return a_project("helpdesk")


@pytest.fixture
def lead(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.LEAD))
    return client


def compare(client: Client, run: Run, query: str = "") -> str:
    address = reverse("analysis:run_compare", args=["helpdesk", run.pk])
    return client.get(address + query).content.decode()


def test_the_page_opens_before_the_first_difference(lead: Client, project: Project) -> None:
    same = [a_round(call("look", {"at": number}, f"found {number}")) for number in range(9)]
    old = a_shown_run(a_run(*same, [call("mend", {}, "")], "Done.", run_id="old"), project)
    new = a_shown_run(a_run(*same, [call("mend", {}, "mended")], "Done.", run_id="new"), project)

    page = compare(lead, old, f"?with={new.pk}")

    assert "They part in round 10: the same call, another answer" in page
    assert "10 rounds the same · 1 with another answer" in page
    assert "Nothing came back" in page
    assert "mended" in page
    assert "found 3" not in page
    whole = compare(lead, old, f"?with={new.pk}&from=0")
    assert "9 rounds the same: 1 to 9" in whole


def test_two_runs_alike_are_the_same(lead: Client, project: Project) -> None:
    first, second = (
        a_shown_run(a_run([call()], "Done.", run_id=run_id), project) for run_id in ("a", "b")
    )

    assert "The two runs are the same" in compare(lead, first, f"?with={second.pk}")


def test_it_offers_runs_of_the_ticket_and_such_as_went_well(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)
    good = a_shown_run(a_run([call()], "Done.", run_id="good", agent="helpdesk"), project)
    a_shown_run(
        a_run([call()], "Done.", run_id="hr", agent="helpdesk", labels={"restricted": "hr"}),
        project,
    )

    page = compare(lead, run)

    assert f"?with={good.pk}" in page
    assert ">hr<" not in page


def test_a_run_that_one_may_not_read_is_not_compared(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)
    secret = a_shown_run(a_run("Done.", run_id="hr", labels={"restricted": "hr"}), project)
    foreign = a_shown_run(a_run("Done.", run_id="far"), a_project())
    address = reverse("analysis:run_compare", args=["helpdesk", run.pk])

    assert lead.get(address, {"with": secret.pk}).status_code == 403
    assert lead.get(address, {"with": foreign.pk}).status_code == 404
    assert AccessEntry.objects.filter(action=AccessAction.READ).count() == 0


def test_a_long_comparison_stays_a_page(lead: Client, project: Project) -> None:
    first = a_long_run(2000, project)
    second = the_vpn_run(project)
    # The first view of a session keeps what it learns of the person.
    compare(lead, first)

    with CaptureQueriesContext(connection) as queries:
        page = compare(lead, first, f"?with={second.pk}")

    assert len(page) < 120_000
    assert len(queries) <= 18
    assert "The next rounds" in page
