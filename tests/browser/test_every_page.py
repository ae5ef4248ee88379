"""Every page that the resolver knows: read by axe, in both themes, wide and narrow."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from playwright.sync_api import Page, expect

from tests.browser.lived_in import a_lived_in_project, page_addresses
from transcripts.models import Project, User

pytestmark = pytest.mark.browser


@pytest.fixture
def addresses(client: Client, project: Project) -> list[str]:
    user = User.objects.get(email="admin@desk.example")
    client.force_login(user)
    return list(page_addresses(client, project, a_lived_in_project(project, user)))


@pytest.mark.parametrize(("theme", "read_at"), [("light", 1440), ("dark", 360)])
def test_every_page_is_accessible_and_fits(
    addresses: list[str], desk: Page, live_server: Any, theme: Any, read_at: int
) -> None:
    """Colours hang on the theme and layout on the width, so that each is read once by axe."""
    found = {}
    desk.emulate_media(color_scheme=theme)

    for address in addresses:
        desk.goto(live_server.url + address)
        for width in (1440, 1024, 768, 360):
            desk.set_viewport_size({"width": width, "height": 900})
            if width == read_at:
                results = Axe().run(desk, options={"resultTypes": ["violations"]})
                if results.violations_count:
                    found[address, width] = results.generate_report()
            if desk.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found[address, width, "wide"] = "scrolls sideways"

    assert len(addresses) > 50
    assert found == {}


# Named without an element: what moves, opens and closes, and what stands there only at times.
ALWAYS = {"Enter", "Shift", "Home", "End", "Esc", "40", "↓", "z", "[", "]"}
LISTED = """() => ({
  told: [...document.querySelectorAll("#keys kbd")].map((kbd) => kbd.textContent),
  ranges: [...document.querySelectorAll("#keys dt")].map((dt) => dt.textContent),
  marked: [...document.querySelectorAll("[data-key]")].map((element) => element.dataset.key),
  words: [...document.querySelectorAll("#keys dd")].map((dd) => dd.textContent.trim()),
  handled: desk.keys(),
})"""


def test_every_page_tells_all_its_keys_and_no_other(
    addresses: list[str], desk: Page, live_server: Any
) -> None:
    wrong = {}

    for address in addresses:
        desk.goto(live_server.url + address)
        if desk.evaluate("document.activeElement.matches('input, textarea, select')"):
            desk.keyboard.press("Escape")
        desk.keyboard.press("?")
        expect(desk.get_by_role("dialog", name="Keys")).to_be_visible()
        listed = desk.evaluate(LISTED)
        there = {*listed["marked"], *listed["handled"]}
        told = set(listed["told"]) | ({"X"} if "Shift" in listed["told"] else set())
        for line in listed["ranges"]:
            if len(line) == len("1 to 4") and line[1:5] == " to ":
                told |= {str(number) for number in range(int(line[0]), int(line[5]) + 1)}
        missing, made_up = there - told, told - there - ALWAYS - {"X"}
        if missing or made_up or "" in listed["words"]:
            wrong[address] = (missing, made_up, listed["words"])
        desk.keyboard.press("Escape")

    assert wrong == {}
