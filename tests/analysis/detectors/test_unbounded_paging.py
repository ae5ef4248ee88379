from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call
from transcripts.record import RunRecord


def pages(count: int, argument: str = "page", last: str = "rows", **others: object) -> RunRecord:
    made = [[call("query_log", {argument: n, **others}, f"rows {n}")] for n in range(1, count)]
    return a_run(*made, [call("query_log", {argument: count, **others}, last)])


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(pages(9), id="nine pages"),
        pytest.param(pages(12, last=""), id="the last one is empty"),
        pytest.param(
            pages(12, last='{"rows": [1], "has_more": false}'), id="it says that it is the last"
        ),
        pytest.param(
            a_run(*([call("query_log", {"page": n, "day": n}, "x")] for n in range(12))),
            id="another argument moves too",
        ),
        pytest.param(
            a_run(*([call("get_user", {"id": n}, "x")] for n in range(12))), id="twelve users"
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("unbounded_paging", run) == []


@pytest.mark.parametrize("argument", ["page", "offset", "cursor", "page_token", "start_line"])
def test_flags_the_tenth_page(argument: str) -> None:
    (draft,) = drafts("unbounded_paging", pages(14, argument, query="error"))

    assert (draft.at.round, draft.to_round, draft.values["pages"]) == (10, 14, 14)


def test_reports_one_stretch_once_and_a_new_start_again() -> None:
    both = [*pages(10).rounds, *pages(10).rounds]
    run = a_run(*([*each.calls] for each in both))

    assert rounds("unbounded_paging", run) == [10, 20]
