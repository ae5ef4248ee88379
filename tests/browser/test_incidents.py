"""Incidents, the queue and alerts in a browser: by keys, in both themes, from 360 pixels up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from analysis.alerts.channels import channel_add, rule_add
from analysis.models import AlertKind, ChannelKind, Incident
from tests.builders import a_run, call
from tests.factories import a_user
from tests.incident_runs import a_failing_run, grouped
from transcripts.models import Project
from transcripts.record import Ending

pytestmark = pytest.mark.browser


@pytest.fixture
def faults(project: Project) -> None:
    """Two faults, one of them in nine runs of as many days; a handed-off run; a channel."""
    now = timezone.now()
    for number in range(9):
        a_failing_run(
            project, f"run {number}", at=now - timedelta(days=number), ticket_id=f"IT-{number}",
            prompt_version=f"2026-11-{10 + number % 2}",
        )  # fmt: skip
    a_failing_run(project, "other", tool="search_kb", error="HTTP 503", agent="billing")
    asked = call("escalate_to_it_team", {"reason": "only the owner may"}, "queued")
    grouped(project, a_run([call()], [asked], run_id="up", ending=Ending.HANDED_OFF))
    channel, _ = channel_add(
        project=project, kind=ChannelKind.EMAIL, name="Ops", address="a@b.example", user=a_user()
    )
    rule_add(project=project, channel=channel, kind=AlertKind.INCIDENT_NEW)


def go(desk: Page, live_server: Any, name: str, *args: object) -> None:
    desk.goto(live_server.url + reverse(f"analysis:{name}", args=["helpdesk", *args]))


def test_from_the_list_to_the_round_and_resolved_by_keys(
    faults: None, desk: Page, live_server: Any
) -> None:
    go(desk, live_server, "incident_list")

    for key in ("j", "j", "Enter"):
        desk.keyboard.press(key)
    expect(desk.locator("h1")).to_contain_text("get_right failed")
    # Its keys are there when all of it is.
    desk.wait_for_load_state()
    desk.keyboard.press("f")
    expect(desk.locator("#r2")).to_be_visible()
    assert "incident%3D1" in desk.url
    go(desk, live_server, "incident_detail", 1)
    desk.keyboard.press("m")
    expect(desk.get_by_role("status").first).to_contain_text("INC-1 is yours now.")
    desk.keyboard.press("e")
    expect(desk.locator(".state")).to_contain_text("Resolved")
    desk.keyboard.press("z")

    expect(desk.locator(".state")).to_contain_text("New")
    assert Incident.objects.get(number=1).owner is not None


def test_several_are_chosen_and_changed_by_keys(faults: None, desk: Page, live_server: Any) -> None:
    go(desk, live_server, "incident_list")

    for key in ("j", "x", "j", "x"):
        desk.keyboard.press(key)
    expect(desk.locator(".bulk .chosen")).to_have_text("2 chosen:")
    desk.keyboard.press("e")

    expect(desk.get_by_role("status").first).to_contain_text("2 incidents are resolved.")
    expect(desk.locator("#incident-list")).to_contain_text("Nothing is open")


PAGES: list[tuple[str, tuple[object, ...]]] = [
    ("incident_list", ()),
    ("incident_detail", (1,)),
    ("hand_off_list", ()),
    ("alerts", ()),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_are_accessible_and_fit(
    faults: None, desk: Page, live_server: Any, theme: str, width: int
) -> None:
    desk.set_viewport_size({"width": width, "height": 900})
    desk.context.add_cookies([{"name": "theme", "value": theme, "url": live_server.url}])
    for name, args in PAGES:
        go(desk, live_server, name, *args)

        found = Axe().run(desk)

        assert found.violations_count == 0, found.generate_report()
        wide = desk.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        assert not wide, f"{name} is wider than {width} pixels"
