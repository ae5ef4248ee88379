"""The page of runs in progress, by keys, while it renews itself."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.builders import a_run, call
from tests.page_runs import a_shown_run
from transcripts.models import Project

pytestmark = pytest.mark.browser


def test_who_reads_by_keys_keeps_the_place_when_it_renews_itself(
    project: Project, desk: Page, live_server: Any
) -> None:
    for number in (1, 2):
        run = a_run([call()], live=True, run_id=f"live-{number}", ticket_id=f"IT-{number}")
        a_shown_run(run, project, live=True)
    desk.goto(live_server.url + reverse("analysis:live_list", args=["helpdesk"]))

    for key in ("j", "j"):
        desk.keyboard.press(key)
    with desk.expect_response(lambda answer: answer.url.endswith("/live/")):
        pass
    expect(desk.locator(".htmx-request")).to_have_count(0)

    second = desk.locator("[data-row]").nth(1)
    expect(second.locator(".open")).to_be_focused()
    desk.keyboard.press("Enter")
    expect(desk.locator("#r1")).to_be_focused()
    expect(desk.locator(".crumbs")).to_contain_text("IT-1")
