"""By the keyboard alone: what Tab reaches is in sight and marked, and forms do their work."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from analysis.models import AlertKind, AlertRule
from tests.browser.conftest import PASSWORD
from tests.browser.lived_in import a_lived_in_project
from transcripts.models import Delivery, Project, User

pytestmark = pytest.mark.browser

# What is focused, and what is wrong with how it is shown; null at the end of the page.
FOCUSED = """() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const wrong = [];
  if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) wrong.push("no outline");
  if (box.width === 0 || box.height === 0) wrong.push("not there");
  if (box.left < -1 || box.right > innerWidth + 1) wrong.push("out of sight");
  return [`${element.tagName} ${element.name || element.textContent.trim().slice(0, 40)}`, wrong];
}"""
MOST_STOPS = 150


@pytest.fixture
def lived_in(client: Client, project: Project) -> None:
    user = User.objects.get(email="admin@desk.example")
    client.force_login(user)
    a_lived_in_project(project, user)


@pytest.mark.parametrize("width", [1440, 360])
def test_what_tab_reaches_is_in_sight_and_marked(
    lived_in: None, desk: Page, live_server: Any, width: int
) -> None:
    desk.set_viewport_size({"width": width, "height": 900})
    names = ("analysis:alerts", "analysis:limits", "analysis:masking", "analysis:retention",
             "transcripts:member_list", "transcripts:key_list", "transcripts:access_list",
             "transcripts:delivery_list", "analysis:case_list", "transcripts:upload")  # fmt: skip
    wrong, stops = {}, 0

    for name in names:
        desk.goto(live_server.url + reverse(name, args=["helpdesk"]))
        for details in desk.locator("main details.card").all():
            details.evaluate("element => { element.open = true }")
        for _ in range(MOST_STOPS):
            desk.keyboard.press("Tab")
            found = desk.evaluate(FOCUSED)
            if found is None:
                break
            stops += 1
            if found[1]:
                wrong[name, found[0]] = found[1]

    assert stops > 250
    assert wrong == {}


def test_a_rule_shows_the_fields_of_its_kind(lived_in: None, desk: Page, live_server: Any) -> None:
    desk.goto(live_server.url + reverse("analysis:alerts", args=["helpdesk"]))
    desk.locator("summary", has_text="Add a rule").focus()
    desk.keyboard.press("Enter")
    expect(desk.locator("select[name=channel] option")).to_have_text(["Leads"])
    expect(desk.get_by_label("Failed calls, %")).to_be_hidden()

    desk.get_by_label("Tell of").focus()
    desk.keyboard.type("a tool")
    expect(desk.get_by_label("Currency")).to_be_hidden()
    desk.get_by_label("Failed calls, %").focus()
    desk.keyboard.type("20")
    desk.keyboard.press("Enter")

    expect(desk.locator(".message")).to_contain_text("a tool that fails too often holds from now")
    assert AlertRule.objects.get(kind=AlertKind.TOOL_ERRORS).percent == 20


def test_all_of_quarantine_is_chosen_by_one_box(
    lived_in: None, desk: Page, live_server: Any
) -> None:
    address = reverse("transcripts:delivery_list", args=["helpdesk"])
    desk.goto(f"{live_server.url}{address}?state=quarantined")

    desk.get_by_label("Choose all on this page").focus()
    desk.keyboard.press("Space")
    desk.once("dialog", lambda dialog: dialog.accept())
    desk.get_by_role("button", name="Discard chosen").press("Enter")

    expect(desk.locator(".message")).to_contain_text("1 delivery is discarded.")
    assert not Delivery.objects.filter(state="quarantined").exists()


def test_a_session_elsewhere_is_signed_out(project: Project, desk: Page, live_server: Any) -> None:
    elsewhere = Client(headers={"User-Agent": "Mozilla/5.0 (Windows NT 10.0) Firefox/144.0"})
    elsewhere.post("/sign-in/", {"login": "admin@desk.example", "password": PASSWORD})
    desk.goto(f"{live_server.url}/account/sessions/")

    desk.get_by_role("button", name="Sign out Firefox on Windows").press("Enter")

    expect(desk.locator(".message")).to_contain_text("That session is signed out.")
    expect(desk.locator("tbody tr")).to_have_count(1)
    assert elsewhere.get("/account/").status_code == 302
