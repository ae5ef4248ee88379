"""Two runs beside each other."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from analysis import aligning
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


def numbered(entries: list[str]) -> list[Step]:
    return [Step(number, entry, "") for number, entry in enumerate(entries, 1)]


def kinds(left: list[str], right: list[str]) -> tuple[Counter[Kind], bool]:
    found = aligned(numbered(left), numbered(right))
    return Counter(pair.kind for pair in found.pairs), found.by_number


MANY = [f"call {number}" for number in range(3000)]
LOOP = ["look", "mend", "look again"] * 1000


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (MANY, ["begin", *MANY[:1500], "between", *MANY[1500:], "end"], {"same": 3000, "right": 3}),
        (MANY, MANY[1:1500] + MANY[1501:-1], {"same": 2997, "left": 3}),
        (
            LOOP,
            ["x", *LOOP[1:700], "y", *LOOP[700:-1], "z"],
            {"same": 2998, "other": 2, "right": 1},
        ),
        (MANY, [f"other {number}" for number in range(3000)], {"other": 3000}),
    ],
    ids=["rounds added all over", "rounds left out", "loops with edits", "nothing in common"],
)
def test_thousands_of_rounds_are_aligned_by_what_they_ask_for(
    left: list[str], right: list[str], expected: dict[str, int]
) -> None:
    found, by_number = kinds(left, right)

    assert {kind.value: count for kind, count in found.items()} == expected
    assert not by_number


def test_what_is_too_long_to_align_stands_by_number_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(aligning, "MOST_CELLS", 3)
    monkeypatch.setattr(aligning, "MOST_EDITS", 1)

    found = aligned(steps("abbxxbbc"), steps("axxbbxxc"))

    assert found.by_number
    assert [pair.kind for pair in found.pairs][:2] == [Kind.SAME, Kind.OTHER]
    assert found.pairs[-1].kind == Kind.SAME


@given(left=st.lists(st.sampled_from("abc")), right=st.lists(st.sampled_from("abc")))
def test_a_shortest_script_of_edits_is_found(left: list[str], right: list[str]) -> None:
    longest = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            beside = max(longest[i][j + 1], longest[i + 1][j])
            longest[i + 1][j + 1] = longest[i][j] + 1 if a == b else beside

    found = aligning.by_edits(left, right)

    assert found is not None
    assert all(left[i] == right[j] for i, j in found)
    assert found == sorted(set(found))
    assert len(found) == longest[-1][-1]


def test_a_call_of_the_same_tool_stands_beside_it() -> None:
    left = [Step(1, "a", ""), Step(2, "x1", "", "x"), Step(3, "b", "")]
    right = [Step(1, "a", ""), Step(2, "y", "", "y"), Step(3, "x2", "", "x"), Step(4, "b", "")]

    assert [(pair.left, pair.right) for pair in aligned(left, right).pairs] == [
        (1, 1),
        (None, 2),
        (2, 3),
        (3, 4),
    ]


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


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        pytest.param(
            [call("look", '{"a": 1, "b": 2}', "x")],
            [call("look", '{"b":2,"a":1}', "x")],
            "The two runs are the same",
            id="the order of arguments",
        ),
        pytest.param(
            [call("look", {"a": 1, "trace_id": "t-1"}, "x")],
            [call("look", {"a": 1, "trace_id": "t-2"}, "x")],
            "The two runs are the same",
            id="an argument made up for the call",
        ),
        pytest.param(
            [call("look", {"a": 1}, "x"), call("look", {"a": 2}, "y")],
            [call("look", {"a": 2}, "y"), call("look", {"a": 1}, "x")],
            "The two runs are the same",
            id="the order of calls at once",
        ),
        pytest.param(
            [call("look", {}, '{"state": "down", "timestamp": "2026-01-02T03:04:05Z"}')],
            [call("look", {}, '{"state": "down", "timestamp": "2026-02-02T13:14:15Z"}')],
            "The two runs are the same",
            id="the time of the answer",
        ),
        pytest.param(
            [call("look", {}, '{"state": "down", "timestamp": "2026-01-02T03:04:05Z"}')],
            [call("look", {}, '{"state": "up", "timestamp": "2026-01-02T03:04:05Z"}')],
            "They part in round 1: the same call, another answer",
            id="what the answer says",
        ),
        pytest.param(
            [call("look", {"a": 1}, "x")],
            [call("look", {"a": "1"}, "x")],
            "They part in round 1",
            id="a number beside a text",
        ),
    ],
)
def test_calls_are_compared_by_what_they_ask_for(
    lead: Client, project: Project, left: list[Any], right: list[Any], words: str
) -> None:
    first = a_shown_run(a_run(left, "Done.", run_id="left"), project)
    second = a_shown_run(a_run(right, "Done.", run_id="right"), project)

    assert words in compare(lead, first, f"?with={second.pk}")


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
