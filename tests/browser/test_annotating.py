"""Saying what went wrong, by keys alone."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Page, expect

from analysis.models import Annotation
from transcripts.models import Run

pytestmark = pytest.mark.browser


def test_a_root_cause_by_keys_and_back_again(vpn_run: Run, desk: Page, live_server: Any) -> None:
    address = reverse("analysis:run_detail", args=["helpdesk", vpn_run.pk])
    desk.goto(f"{live_server.url}{address}#r3")

    desk.keyboard.press("a")
    expect(desk.get_by_role("radio", name="Hidden tool error")).to_be_focused()
    desk.keyboard.press("Space")
    desk.keyboard.press("Tab")
    desk.keyboard.type("The wrapper drops the permission note.")
    desk.keyboard.press("Tab")
    desk.keyboard.press("Tab")
    desk.keyboard.press("Enter")

    expect(desk.locator("#said")).to_contain_text("The wrapper drops the permission note.")
    expect(desk.locator("#said .label.breach")).to_have_text("Hidden tool error")
    found = Axe().run(desk, options={"resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()
    desk.keyboard.press("z")
    expect(desk.locator("#said")).to_contain_text("Nobody has said why yet.")
    expect(desk.locator("#messages")).to_contain_text("The annotation is taken back.")


def test_the_form_is_about_the_round_one_stands_on(
    vpn_run: Run, desk: Page, live_server: Any
) -> None:
    address = reverse("analysis:run_detail", args=["helpdesk", vpn_run.pk])
    desk.goto(f"{live_server.url}{address}#r3")
    desk.keyboard.press("j")
    desk.keyboard.press("a")
    expect(desk.get_by_role("radio", name="round 4")).to_be_attached()

    desk.get_by_role("link", name="Comment").click()
    expect(desk.get_by_role("textbox", name="Comment")).to_be_focused()
    desk.keyboard.type("Who owns this tool?")
    desk.keyboard.press("Tab")
    desk.keyboard.press("Enter")

    expect(desk.locator("#r4 .annotation")).to_contain_text("Who owns this tool?")
    assert Annotation.objects.get().round == 4
