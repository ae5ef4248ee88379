"""Test cases in a browser: by keys alone, without scripts, in both themes, from 360 pixels up."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from analysis.models import TestCase
from analysis.selectors.cases import case_document
from analysis.services.cases import case_accept, case_edit
from tests.analysis.case_pages.made import VPN, a_kept_result, a_test_case, the_vpn_story_run
from tests.browser.conftest import PASSWORD
from transcripts.models import Project, Run

pytestmark = pytest.mark.browser


@pytest.fixture
def story(project: Project) -> Run:
    return the_vpn_story_run(project)


@pytest.fixture
def case(story: Run) -> TestCase:
    """With results of several versions, one of them accepted, and two states."""
    case = a_test_case(story, notes="The wrapper swallowed a 403.")
    base = a_kept_result(case, 92, 100, code="c1", prompt="p1")
    case_accept(case=case, result=base, user=None)
    a_kept_result(case, 40, 100, code="c2", prompt="p1")
    a_kept_result(case, 0, 3, code="c3", prompt="p2")
    return case_edit(case=case, definition={**VPN, "title": "VPN drops every few minutes"})


def go(desk: Page, live_server: Any, name: str, *args: object) -> None:
    desk.goto(live_server.url + reverse(f"analysis:{name}", args=["helpdesk", *args]))


def test_a_case_is_made_by_keys_alone(story: Run, desk: Page, live_server: Any) -> None:
    go(desk, live_server, "run_detail", story.pk)

    desk.keyboard.press("m")
    expect(desk.locator("h1")).to_have_text("Make a test case")
    desk.get_by_label("Rounds", exact=True).focus()
    desk.keyboard.press("Control+a")
    desk.keyboard.type("9")
    desk.get_by_role("button", name="Add a mock").press("Enter")
    expect(desk.get_by_label("Mock 2: use it")).to_be_focused()
    # It is focused while what follows it is still read, and a key may come too early.
    desk.wait_for_load_state()
    tool = desk.get_by_label("Tool", exact=True).last
    desk.keyboard.press("Tab")
    if not tool.evaluate("field => field === document.activeElement"):
        desk.keyboard.press("Tab")
    expect(tool).to_be_focused()
    desk.keyboard.type("escalate_to_it_team")
    desk.keyboard.press("Tab")
    desk.keyboard.type("answers this")
    desk.keyboard.press("Tab")
    desk.keyboard.type("handed over as IT-88")
    desk.get_by_role("button", name="Preview as JSON").press("Enter")
    expect(desk.locator(".preview")).to_contain_text('"rounds": 9')
    assert not TestCase.objects.exists()
    desk.get_by_role("button", name="Save the test case").press("Enter")

    expect(desk.locator("h1")).to_contain_text("CASE-1")
    document = case_document(TestCase.objects.get())
    assert document["mocks"] == [
        {"tool": "escalate_to_it_team", "answer": "result", "text": "handed over as IT-88"}
    ]
    # Keys are heard once the page's scripts have run.
    desk.wait_for_load_state()
    desk.keyboard.press("z")
    expect(desk.get_by_role("status").first).to_contain_text("not made after all")
    assert desk.url.endswith("/cases/")


def test_a_replay_is_put_beside_its_run_by_keys_alone(
    story: Run, desk: Page, live_server: Any
) -> None:
    case = a_test_case(story)
    a_kept_result(case, code="1.14.1")
    go(desk, live_server, "run_detail", story.pk)

    desk.keyboard.press("c")
    expect(desk.locator("h1")).to_have_text("Compare with which run?")
    replay = desk.get_by_role("link", name="The replay of CASE-1")
    replay.focus()
    desk.keyboard.press("Enter")

    expect(desk.locator("h1")).to_have_text("They part in round 3: the same call, another answer")
    difference = desk.locator("#difference")
    expect(difference).to_contain_text("Nothing came back: an empty string")
    expect(difference).to_contain_text("no permission")
    desk.keyboard.press("u")
    expect(desk.locator("h1")).to_contain_text("CASE-1")
    desk.wait_for_load_state()
    desk.keyboard.press("c")
    expect(desk.locator("#difference")).to_be_visible()


def test_what_is_wrong_is_told_at_the_top_and_leads_there(
    story: Run, desk: Page, live_server: Any
) -> None:
    go(desk, live_server, "case_make", story.pk)

    desk.get_by_label("Mock 1: use it").check()
    desk.get_by_role("button", name="Preview as JSON").click()

    alert = desk.get_by_role("alert")
    expect(alert).to_contain_text("Tool mock 1, Text: Say what the tool answers.")
    alert.get_by_role("link").click()
    assert desk.url.endswith("#row-m0")
    expect(desk.get_by_label("Mock 1: use it")).to_be_checked()


def test_enter_in_an_input_adds_nothing(story: Run, desk: Page, live_server: Any) -> None:
    go(desk, live_server, "case_make", story.pk)

    desk.get_by_label("Title").press("Enter")

    expect(desk.locator(".preview")).to_be_visible()
    assert not TestCase.objects.exists()


def test_results_are_grouped_without_a_reload(case: TestCase, desk: Page, live_server: Any) -> None:
    go(desk, live_server, "case_detail", 1)
    expect(desk.locator("#results")).to_contain_text("92% → 40% over 100 runs: worse (p < 0.001)")

    desk.get_by_role("link", name="By prompt").click()

    expect(desk.locator("#results tbody tr")).to_have_count(2)
    expect(desk.locator("#results")).to_contain_text("of 200")


def test_it_works_without_scripts(story: Run, browser: Browser, live_server: Any) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/sign-in/")
    page.get_by_label("E-mail").fill("admin@desk.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    go(page, live_server, "case_make", story.pk)

    page.get_by_role("button", name="Add a branch").click()
    page.get_by_label("When the result of").fill("reset_vpn_profile")
    page.get_by_role("button", name="Add a reply").click()
    page.get_by_label("The model says").first.fill("I hand it over.")
    page.get_by_role("button", name="Save the test case").click()

    expect(page.locator("h1")).to_contain_text("CASE-1")
    (branch,) = case_document(TestCase.objects.get())["branches"]
    assert branch["replies"] == [{"text": "I hand it over."}]
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").first).to_contain_text("CASE-1 is back.")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_are_accessible_and_fit(
    case: TestCase, story: Run, desk: Page, live_server: Any, theme: str, width: int
) -> None:
    desk.set_viewport_size({"width": width, "height": 900})
    desk.context.add_cookies([{"name": "theme", "value": theme, "url": live_server.url}])
    pages: list[tuple[str, tuple[object, ...]]] = [
        ("case_list", ()),
        ("case_detail", (1,)),
        ("case_edit", (1,)),
        ("case_history", (1,)),
        ("case_make", (story.pk,)),
    ]
    for name, args in pages:
        go(desk, live_server, name, *args)
        if name == "case_edit":
            desk.get_by_label("Title").fill("Other")
            desk.get_by_role("button", name="Preview as JSON").click()
            expect(desk.locator(".preview")).to_be_visible()

        found = Axe().run(desk)

        assert found.violations_count == 0, found.generate_report()
        wide = desk.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        assert not wide, f"{name} is wider than {width} pixels"
