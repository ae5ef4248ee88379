"""Long runs keep the page at one size while one scrolls, whatever their rounds hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.builders import a_run, call
from tests.page_runs import a_long_run, a_shown_run
from transcripts.models import Project, Run

pytestmark = pytest.mark.browser
MOST_ELEMENTS = 800
# Counts elements whenever some come or go, and remembers the most.
WATCH = """
window.most = 0;
const count = () => { most = Math.max(most, document.getElementsByTagName('*').length); };
new MutationObserver(count).observe(document, { childList: true, subtree: true });
count();
"""


def full_of_findings(project: Project) -> Run:
    rounds = [[call("find", {"id": n}, "" if n % 6 == 0 else f"record {n}")] for n in range(2_000)]
    return a_shown_run(a_run(*rounds, "Done.", run_id="full"), project)


def full_of_trees(project: Project) -> Run:
    fields = {f"field {n}": {"a": "x" * 40, "b": "y" * 40} for n in range(14)}
    rounds = [
        [call("find", {"id": n, "k": k}, json.dumps({"id": n, **fields})) for k in range(3)]
        for n in range(300)
    ]
    return a_shown_run(a_run(*rounds, "Done.", run_id="trees"), project)


@pytest.mark.parametrize("make", [full_of_findings, full_of_trees])
def test_the_page_keeps_its_size_while_one_scrolls(
    project: Project, desk: Page, live_server: Any, make: Any
) -> None:
    run = make(project)
    address = reverse("analysis:run_detail", args=["helpdesk", run.pk])
    desk.goto(f"{live_server.url}{address}?at=100#r100")
    expect(desk.locator(".where")).to_contain_text("Round 100 of")
    desk.evaluate(WATCH)
    desk.mouse.move(400, 500)

    for way in [700] * 25 + [-700] * 25:
        desk.mouse.wheel(0, way)
        desk.wait_for_timeout(60)
    desk.wait_for_timeout(400)

    assert desk.evaluate("most") <= MOST_ELEMENTS
    told = desk.evaluate(
        "[...document.querySelectorAll('.item')].map((i) => [+i.dataset.first, +i.dataset.last])"
    )
    numbers = [number for first, last in told for number in range(first, last + 1)]
    assert numbers == list(range(1, run.last_round + 1))


def test_a_link_to_a_round_is_copied(project: Project, desk: Page, live_server: Any) -> None:
    run = a_long_run(60, project)
    address = reverse("analysis:run_detail", args=["helpdesk", run.pk])
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    desk.goto(f"{live_server.url}{address}#r9")
    expect(desk.locator(".where")).to_have_text("Round 9 of 60")

    desk.keyboard.press("l")
    expect(desk.get_by_role("status")).to_have_text("Copied the link to round 9")

    copied = desk.evaluate("navigator.clipboard.readText()")
    assert copied == f"{live_server.url}{address}?at=9#r9"


def test_every_key_that_help_names_is_there(vpn_run: Run, desk: Page, live_server: Any) -> None:
    desk.goto(
        live_server.url + reverse("analysis:run_detail", args=["helpdesk", vpn_run.pk]) + "?list="
    )
    named = desk.evaluate(
        "[...document.querySelector('template[data-keys]').content.querySelectorAll('dt kbd')]"
        ".map((key) => key.textContent)"
    )
    on_page = desk.evaluate(
        "[...document.querySelectorAll('[data-key]')].map((e) => e.dataset.key)"
    )
    in_script = {"j", "k", "n", "p", "Home", "End", "Enter", "l", "?", "Esc"}
    # Undo stands where something was just changed.
    in_script.add("z")

    # There is one run, so nothing stands before or after it in the list.
    assert set(named) - in_script - {"[", "]"} == set(on_page)


def test_a_narrow_page_has_the_other_actions_in_a_menu(
    vpn_run: Run, desk: Page, live_server: Any
) -> None:
    desk.set_viewport_size({"width": 400, "height": 900})
    desk.goto(live_server.url + reverse("analysis:run_detail", args=["helpdesk", vpn_run.pk]))
    actions = desk.locator(".run-actions")
    expect(actions.get_by_role("link", name="Compare")).to_have_count(0)

    actions.get_by_text("More").click()

    expect(actions.get_by_role("link", name="Test this call")).to_be_visible()
    expect(actions.get_by_role("link", name="Compare")).to_be_visible()
    box = actions.locator(".more > div").bounding_box()
    assert box is not None
    assert box["height"] < 320
