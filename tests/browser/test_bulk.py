"""What is done to many runs, by keys from the list to the end of it and back."""

from __future__ import annotations

import zipfile
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from analysis.jobs import job_advance
from analysis.lists import bulk, pages
from analysis.models import Job, RunTriage
from tests.browser.pictures import written_runs
from tests.page_runs import a_shown_run
from transcripts.models import Project, Run

pytestmark = pytest.mark.browser


@pytest.fixture
def runs(project: Project, vpn_run: Run) -> list[Run]:
    return [vpn_run, *(a_shown_run(record, project) for record in written_runs())]


def the_list(desk: Page, live_server: Any) -> None:
    address = reverse("analysis:run_list", args=["helpdesk"])
    desk.goto(f"{live_server.url}{address}?tab=all")


def keys(desk: Page, *pressed: str) -> None:
    for key in pressed:
        desk.keyboard.press(key)


def tab_to(desk: Page, wanted: Locator) -> None:
    for _ in range(40):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        desk.keyboard.press("Tab")
    raise AssertionError("the keyboard does not reach it")


def labelled() -> int:
    return RunTriage.objects.exclude(labels=[]).count()


def test_labelling_and_undo(runs: list[Run], desk: Page, live_server: Any) -> None:
    the_list(desk, live_server)

    keys(desk, "j", "x", "j", "x", "l")
    desk.keyboard.type("cause=vpn")
    keys(desk, "Enter")
    expect(desk.get_by_role("status").first).to_contain_text("2 runs labelled cause=vpn.")
    there = labelled()
    keys(desk, "z")

    expect(desk.get_by_role("status").first).to_contain_text("as before")
    assert (there, labelled()) == (2, 0)


def test_exporting(runs: list[Run], desk: Page, live_server: Any, tmp_path: Any) -> None:
    the_list(desk, live_server)

    keys(desk, "j", "x", "j", "x", "e")
    tab_to(desk, desk.get_by_label("markdown"))
    keys(desk, "Space")
    tab_to(desk, desk.get_by_role("button", name="One zip file"))
    with desk.expect_download() as coming:
        keys(desk, "Enter")
    coming.value.save_as(tmp_path / "runs.zip")

    with zipfile.ZipFile(tmp_path / "runs.zip") as archive:
        assert archive.testzip() is None
        assert sorted(name.rsplit(".", 1)[1] for name in archive.namelist()) == [
            "json", "json", "md", "md",
        ]  # fmt: skip


def test_deleting_asks_first_and_says_what_goes(
    runs: list[Run], desk: Page, live_server: Any
) -> None:
    the_list(desk, live_server)

    keys(desk, "j", "x", "j", "x", "d")
    expect(desk.locator("h1")).to_have_text("Delete 2 runs for good?")
    expect(desk.locator("main")).to_contain_text("This cannot be undone.")
    assert Axe().run(desk).violations_count == 0
    there = Run.objects.exclude(removal="run").count()
    tab_to(desk, desk.get_by_role("button", name="Delete 2 runs"))
    keys(desk, "Enter")

    expect(desk.get_by_role("status").first).to_contain_text("2 runs deleted for good.")
    expect(desk.locator("[data-row]")).to_have_count(4)
    assert (there, Run.objects.exclude(removal="run").count()) == (6, 4)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs a page, and jobs over more than two, of two a step."""
    monkeypatch.setattr(pages, "ROWS_PER_PAGE", 2)
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk, "STEP", 2)


def worked() -> None:
    """What the queue would do; there is no worker beside this server."""
    for pk in Job.objects.filter(state="waiting").values_list("pk", flat=True):
        while job_advance(job_pk=pk, seconds=5):
            pass


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_that_match_are_labelled_by_a_job_and_put_back(
    small: None, runs: list[Run], desk: Page, live_server: Any, theme: str
) -> None:
    desk.context.add_cookies([{"name": "theme", "value": theme, "url": live_server.url}])
    the_list(desk, live_server)
    expect(desk.locator("[data-row]")).to_have_count(2)

    keys(desk, "A")
    expect(desk.locator("[data-picked]")).to_have_text("All runs")
    keys(desk, "l")
    desk.keyboard.type("sweep")
    keys(desk, "Enter")
    expect(desk.locator("h1")).to_have_text("Labelling runs")
    assert Axe().run(desk).violations_count == 0
    worked()
    expect(desk.locator(".job")).to_contain_text("Done: 6 runs, of which 6 changed.")
    there = labelled()
    keys(desk, "z")
    expect(desk.get_by_role("status").first).to_contain_text("6 runs are as before.")

    assert Axe().run(desk).violations_count == 0
    assert (there, labelled()) == (6, 0)


def test_all_that_match_are_deleted_by_a_job(
    small: None, runs: list[Run], desk: Page, live_server: Any
) -> None:
    the_list(desk, live_server)

    keys(desk, "A", "d")
    expect(desk.locator("h1")).to_have_text("Delete 6 runs for good?")
    tab_to(desk, desk.get_by_role("button", name="Delete 6 runs"))
    keys(desk, "Enter")
    expect(desk.locator("h1")).to_have_text("Deleting runs")
    worked()

    expect(desk.locator(".job")).to_contain_text("Done: 6 runs, of which 6 changed")
    assert not Run.objects.exclude(removal="run").exists()


def test_a_job_is_cancelled_by_a_key(
    small: None, runs: list[Run], desk: Page, live_server: Any
) -> None:
    the_list(desk, live_server)

    keys(desk, "A", "l")
    desk.keyboard.type("sweep")
    keys(desk, "Enter")
    expect(desk.locator(".job progress")).to_be_visible()
    keys(desk, "c")

    expect(desk.locator(".job")).to_contain_text("Cancelled after 0 runs")
    assert labelled() == 0
