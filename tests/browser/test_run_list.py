"""The run list in a browser: search, selection, views and filters by keys, and without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from analysis.models import RunTriage, SavedView
from tests.browser.conftest import PASSWORD
from tests.browser.pictures import written_runs
from tests.page_runs import a_shown_run
from transcripts.models import Project, Run

pytestmark = pytest.mark.browser


@pytest.fixture
def runs(project: Project, vpn_run: Run) -> list[Run]:
    """Six tickets: the example of 52 rounds, and five that end in different ways."""
    return [vpn_run, *(a_shown_run(record, project) for record in written_runs())]


def the_list(desk: Page, live_server: Any, query: str = "tab=all") -> None:
    address = reverse("analysis:run_list", args=["helpdesk"])
    desk.goto(f"{live_server.url}{address}?{query}")


def test_from_a_search_to_its_round_by_keys(runs: list[Run], desk: Page, live_server: Any) -> None:
    the_list(desk, live_server)

    desk.keyboard.press("/")
    desk.keyboard.type("P-88")
    desk.keyboard.press("Enter")
    expect(desk.locator("[data-row].current mark").first).to_have_text("P-88")
    expect(desk.locator("[data-row]")).to_have_count(1)
    desk.keyboard.press("Enter")

    expect(desk.locator("#r3")).to_be_in_viewport()
    assert "at=3" in desk.url


def test_the_arrow_goes_from_the_search_to_what_it_found(
    runs: list[Run], desk: Page, live_server: Any
) -> None:
    the_list(desk, live_server, "tab=all&q=employee")

    desk.keyboard.press("/")
    desk.keyboard.press("ArrowDown")
    desk.keyboard.press("j")

    expect(desk.locator("[data-row]").nth(1)).to_contain_class("current")


def test_three_are_chosen_assigned_and_given_back_by_keys(
    runs: list[Run], desk: Page, live_server: Any
) -> None:
    the_list(desk, live_server)

    for key in ("j", "x", "j", "j", "X"):
        desk.keyboard.press(key)
    expect(desk.locator("[data-picked]")).to_have_text("3 runs")
    desk.keyboard.press("s")
    desk.keyboard.press("Enter")
    expect(desk.get_by_role("status").first).to_contain_text("3 runs given to admin.")
    expect(desk.locator("td.owner", has_text="admin")).to_have_count(3)
    desk.keyboard.press("z")

    expect(desk.locator("td.owner", has_text="admin")).to_have_count(0)
    assert not RunTriage.objects.filter(owner__isnull=False).exists()


def test_a_click_with_shift_chooses_all_between(
    runs: list[Run], desk: Page, live_server: Any
) -> None:
    the_list(desk, live_server)
    picks = desk.locator("[data-pick]")

    picks.nth(1).click()
    picks.nth(4).click(modifiers=["Shift"])
    expect(desk.locator("[data-picked]")).to_have_text("4 runs")
    desk.get_by_role("button", name="Choose none").click()

    expect(desk.locator(".bulk")).to_be_hidden()


def test_deleting_by_keys_asks_first(runs: list[Run], desk: Page, live_server: Any) -> None:
    the_list(desk, live_server)

    for key in ("j", "x"):
        desk.keyboard.press(key)
    desk.get_by_role("button", name="Delete…").press("Enter")
    expect(desk.locator("h1")).to_have_text("Delete 1 run for good?")
    desk.get_by_role("link", name="Keep it").press("Enter")

    expect(desk.locator("[data-row]")).to_have_count(6)


def test_a_view_is_saved_and_shown_first(
    runs: list[Run], desk: Page, live_server: Any, project: Project
) -> None:
    the_list(desk, live_server, "tab=all&verdict=recovered")

    desk.keyboard.press("v")
    desk.keyboard.type("Got over it")
    desk.get_by_label("share it with everybody").check()
    desk.keyboard.press("Enter")
    expect(desk.locator("h1")).to_have_text("Got over it")
    desk.keyboard.press("v")
    desk.get_by_text("Change", exact=True).click()
    desk.get_by_label("Shown first to").select_option("admin")
    desk.get_by_role("button", name="Save", exact=True).click()
    expect(desk.get_by_role("status").first).to_contain_text("“Got over it” changed.")
    desk.goto(live_server.url + reverse("analysis:run_list", args=["helpdesk"]))

    expect(desk.locator("h1")).to_have_text("Got over it")
    expect(desk.locator("[data-row]")).to_have_count(1)
    assert SavedView.objects.get().default_for == "admin"


def test_columns_are_chosen(runs: list[Run], desk: Page, live_server: Any) -> None:
    the_list(desk, live_server)

    desk.locator("details.columns > summary").click()
    desk.get_by_role("checkbox", name="Model").check()
    desk.get_by_role("checkbox", name="Cost").uncheck()
    desk.get_by_role("button", name="Show these").click()

    titles = desk.locator("#runs thead")
    expect(titles).to_contain_text("Model")
    expect(titles).not_to_contain_text("Cost")


@pytest.fixture
def plain(browser: Browser, live_server: Any, project: Project) -> Iterator[Page]:
    """A signed-in browser that runs no scripts."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/sign-in/")
    page.get_by_label("E-mail").fill("admin@desk.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/helpdesk/runs/")
    yield page
    context.close()


def test_it_works_without_scripts(runs: list[Run], plain: Page, live_server: Any) -> None:
    the_list(plain, live_server)

    plain.get_by_label("Search transcripts, tickets and runs").fill("employee")
    plain.get_by_label("What happened").select_option("recovered")
    plain.get_by_role("button", name="Filter", exact=True).click()
    expect(plain.locator("[data-row]")).to_have_count(1)
    expect(plain.locator("[data-row] mark").first).to_have_text("employee")
    plain.locator("[data-pick]").check()
    plain.get_by_role("button", name="Assign").click()
    expect(plain.locator("td.owner")).to_have_text("admin")
    plain.get_by_role("button", name="Undo").click()
    expect(plain.locator("td.owner")).not_to_contain_text("admin")
    plain.get_by_role("link", name="Search employee").click()

    assert "q=" not in plain.url
    assert "verdict=recovered" in plain.url


STATES = {
    "all": "tab=all",
    "search and filters": "tab=all&q=employee&agent=helpdesk&since=30d",
    "mine, empty": "tab=mine",
    "live, empty": "tab=live",
    "nothing found": "tab=all&q=zzyyxx",
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_it_is_accessible_and_fits(
    runs: list[Run], desk: Page, live_server: Any, theme: str, width: int
) -> None:
    desk.set_viewport_size({"width": width, "height": 900})
    desk.context.add_cookies([{"name": "theme", "value": theme, "url": live_server.url}])
    for name, query in STATES.items():
        the_list(desk, live_server, query)
        for opened in ("", "details.more", "details.views", "details.columns", "chosen"):
            if opened == "chosen" and desk.locator("[data-pick]").count():
                desk.locator("[data-pick]").first.check()
            elif opened.startswith("details"):
                desk.keyboard.press("Escape")
                desk.locator(f"{opened} > summary").click()

            found = Axe().run(desk)

            assert found.violations_count == 0, f"{name} {opened}: {found.generate_report()}"
            wide = desk.evaluate("document.documentElement.scrollWidth > window.innerWidth")
            assert not wide, f"{name} {opened} is wider than {width} pixels"
            desk.keyboard.press("Escape")
            if name != "all":
                break
