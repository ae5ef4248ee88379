from __future__ import annotations

import pytest

from analysis.detectors.limits import Limits
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord

KINDS = ("repo", "repository", "repos", "git", "project", "")


def guesses(result: str = "[]", count: int = 6) -> RunRecord:
    return a_run(*([call("list_resources", {"kind": kind}, result)] for kind in KINDS[:count]))


def searches(*results: str) -> RunRecord:
    return a_run(*([call("search", {"q": f"vpn drops {n}"}, r)] for n, r in enumerate(results)))


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(guesses(count=4), id="four guesses"),
        pytest.param(searches("a b", "c d", "e f", "g h", "i j"), id="each brings something"),
        pytest.param(
            a_run(*([call("get_user", {"id": n}, "active")] for n in range(6))), id="six customers"
        ),
        pytest.param(
            a_run(*[[call("list_resources", {"kind": "repo"}, "[]")]] * 6), id="the same call"
        ),
        pytest.param(
            a_run(*([call("find", {"a": n, "b": n}, "[]")] for n in range(6))),
            id="two values differ",
        ),
        pytest.param(
            a_run(*([call("set_user", {"name": f"user {n}"}, "ok")] for n in range(6))),
            id="changes",
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("near_repeat", run) == []


def test_polled_tools_may_be_asked() -> None:
    assert rounds("near_repeat", guesses(), Limits(polled=frozenset({"list_resources"}))) == []


@pytest.mark.parametrize("result", ["[]", "", "No resources found.", '{"error": "bad kind"}'])
def test_flags_the_fifth_guess(result: str) -> None:
    (draft,) = drafts("near_repeat", guesses(result))

    assert (draft.at.round, draft.to_round, draft.values["times"]) == (5, 6, 6)


def test_flags_one_vague_answer_to_reworded_questions() -> None:
    assert rounds("near_repeat", searches(*["See the manual."] * 5)) == [5]


def test_an_answer_in_between_starts_anew() -> None:
    assert rounds("near_repeat", searches("", "", "", "", "found: step 4 of HA-118", "", "")) == []
