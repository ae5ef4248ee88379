"""Who comes to an empty project: examples to look around with, gone in one go, by keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from agentdesk.keeping import run_empty
from agentdesk.pipeline import delivery_process
from tests.browser.paths import Keyboard
from transcripts.choices import DeliveryState
from transcripts.models import Delivery, Project, Run

pytestmark = pytest.mark.browser


@pytest.fixture
def work() -> Callable[[], None]:
    """What a worker does with all that waits."""

    def done() -> None:
        for pk in Run.objects.exclude(removal="").values_list("pk", flat=True):
            run_empty(pk)
        waiting = Delivery.objects.filter(state=DeliveryState.ACCEPTED).order_by("received_at")
        for delivery in waiting:
            delivery_process(delivery.pk)

    return done


def rows(desk: Page) -> Any:
    return desk.locator("[data-row]")


def test_examples_come_are_read_and_go_again(
    desk: Page, live_server: Any, work: Callable[[], None]
) -> None:
    keys = Keyboard(desk)
    flagged = f"{live_server.url}/p/helpdesk/runs/?tab=flagged"
    keys.reach(desk.get_by_role("button", name="Look around with examples first"))
    keys.press("Enter")
    expect(desk).to_have_url(re.compile(r"/send/receipts/\?r="))
    work()

    desk.goto(flagged)
    expect(rows(desk)).to_have_count(2)
    keys.press("j", "Enter")
    expect(desk.locator("h1")).to_contain_text("VPN drops")
    expect(desk.locator("#r3")).to_be_focused()
    keys.press("c")
    expect(desk.locator("h1")).to_have_text("Compare with which run?")
    keys.reach(desk.get_by_role("link", name="Finished IT-20931"))
    keys.press("Enter")
    expect(desk.locator("#difference")).to_contain_text("was reset at 13:06")

    desk.goto(flagged)
    keys.reach(desk.get_by_text("Remove the examples", exact=True).first)
    keys.press("Enter")
    assert Axe().run(desk, options={"resultTypes": ["violations"]}).violations_count == 0
    keys.reach(desk.get_by_role("button", name="Remove the examples"))
    keys.press("Enter")
    keys.told("4 examples removed.")
    work()
    assert not Run.objects.exists()
    desk.wait_for_load_state()
    keys.press("z")
    keys.told("The examples are on their way back.")
    work()
    desk.goto(flagged)
    expect(rows(desk)).to_have_count(2)


@pytest.mark.parametrize("width", [1440, 360])
def test_a_test_run_is_watched_as_it_comes(
    project: Project, desk: Page, live_server: Any, work: Callable[[], None], width: int
) -> None:
    keys = Keyboard(desk)
    desk.set_viewport_size({"width": width, "height": 900})
    desk.goto(f"{live_server.url}/p/helpdesk/live/")

    keys.reach(desk.get_by_role("button", name="Watch a test run"))
    keys.press("Enter")
    keys.told("A test run is on its way")
    work()

    # The list renews itself.
    expect(desk.locator("#live-runs")).to_contain_text("round 1", timeout=8000)
    expect(desk.locator("#live-runs")).to_contain_text("check_printer")
    assert not desk.evaluate("document.documentElement.scrollWidth > innerWidth")
