"""Reading runs in a browser: by keys alone, in both themes, from 360 pixels up, and without
scripts.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from analysis.pages.run_pages import LISTED_FINDINGS
from tests.browser.conftest import PASSWORD
from tests.builders import a_run, call
from tests.page_runs import a_hostile_run, a_long_run, a_shown_run
from transcripts.models import Project, Run

pytestmark = pytest.mark.browser
MOST_ELEMENTS = 800


def open_page(desk: Page, live_server: Any, name: str, *args: object, query: str = "") -> None:
    desk.goto(live_server.url + reverse(name, args=args) + query)


def elements(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('*').length"))


def in_sight(page: Page, selector: str) -> bool:
    box = page.locator(selector).bounding_box()
    size = page.viewport_size
    assert size
    return box is not None and 0 <= box["y"] < size["height"] - 40


def test_from_the_list_to_round_3_by_keys(vpn_run: Run, desk: Page) -> None:
    desk.reload()

    desk.keyboard.press("j")
    desk.keyboard.press("Enter")

    expect(desk.locator("h1")).to_contain_text("VPN drops every ten minutes")
    expect(desk.locator(".where")).to_have_text("Round 3 of 52")
    assert in_sight(desk, "#r3")
    assert desk.url.endswith("#r3")


def test_every_key_of_the_run_page(vpn_run: Run, desk: Page, live_server: Any) -> None:
    open_page(desk, live_server, "analysis:run_detail", "helpdesk", vpn_run.pk)
    where = desk.locator(".where")

    desk.keyboard.press("f")
    expect(where).to_have_text("Round 3 of 52")
    desk.keyboard.press("j")
    expect(where).to_have_text("Round 4 of 52")
    desk.keyboard.press("k")
    expect(where).to_have_text("Round 3 of 52")
    desk.keyboard.press("n")
    expect(where).to_have_text("Round 5 of 52")
    desk.keyboard.press("p")
    expect(where).to_have_text("Round 3 of 52")
    desk.keyboard.press("g")
    desk.keyboard.type("40")
    desk.keyboard.press("Enter")
    expect(where).to_have_text("Round 40 of 52")
    assert in_sight(desk, "#r40")
    desk.keyboard.press("End")
    expect(where).to_have_text("Round 52 of 52")
    desk.keyboard.press("Home")
    expect(where).to_have_text("Round 1 of 52")
    desk.keyboard.press("?")
    expect(desk.get_by_role("dialog")).to_be_visible()
    desk.keyboard.press("Escape")
    expect(desk.get_by_role("dialog")).to_be_hidden()
    desk.keyboard.press("u")
    desk.wait_for_url("**/p/helpdesk/runs/")


def test_a_fold_and_the_lost_ticket_open_by_keys(
    vpn_run: Run, desk: Page, live_server: Any
) -> None:
    open_page(desk, live_server, "analysis:run_detail", "helpdesk", vpn_run.pk, query="#r7")

    desk.keyboard.press("j")
    expect(desk.locator(".where")).to_have_text("Rounds 8 to 39 of 52")
    desk.keyboard.press("Enter")
    expect(desk.locator("#r8")).to_be_visible()
    desk.keyboard.press("g")
    desk.keyboard.type("40")
    desk.keyboard.press("Enter")
    desk.locator("#r40 .trimmed summary").press("Enter")

    expect(desk.locator("#r40 .trimmed")).to_contain_text("It is the end of the quarter")


def test_find_in_this_run_by_keys(vpn_run: Run, desk: Page, live_server: Any) -> None:
    open_page(desk, live_server, "analysis:run_detail", "helpdesk", vpn_run.pk)

    desk.keyboard.press("/")
    desk.keyboard.type("HA-118")
    expect(desk.locator("#found")).to_contain_text("1 text in 1 round holds")
    desk.locator("#found a").press("Enter")

    expect(desk.locator(".where")).to_have_text("Round 2 of 52")


@pytest.mark.parametrize("rounds", [60, 2000])
def test_any_round_is_a_key_away_and_the_page_keeps_its_size(
    project: Project, desk: Page, live_server: Any, rounds: int
) -> None:
    run = a_long_run(rounds, project)
    where = desk.locator(".where")
    open_page(desk, live_server, "analysis:run_detail", "helpdesk", run.pk)

    expect(desk.locator(f"#r{rounds - 50}")).to_have_count(1)
    assert elements(desk) <= MOST_ELEMENTS
    desk.keyboard.press("End")
    expect(where).to_have_text(f"Round {rounds:,} of {rounds:,}")
    desk.keyboard.press("g")
    desk.keyboard.type(str(rounds // 2))
    desk.keyboard.press("Enter")
    expect(where).to_have_text(f"Round {rounds // 2:,} of {rounds:,}")
    assert in_sight(desk, f"#r{rounds // 2}")
    assert elements(desk) <= MOST_ELEMENTS


def test_the_keys_reach_findings_that_are_not_listed(
    project: Project, desk: Page, live_server: Any
) -> None:
    empty = [[call("find", {"id": number}, "" if number % 2 else "x")] for number in range(1, 130)]
    run = a_shown_run(a_run(*empty, "Done.", run_id="full"), project)
    numbers = sorted(set(run.findings.values_list("round", flat=True)))
    listed = {finding.round for finding in run.findings.order_by("order")[:LISTED_FINDINGS]}
    beyond = next(number for number in numbers if number > max(listed))
    open_page(desk, live_server, "analysis:run_detail", "helpdesk", run.pk, query=f"?at={beyond}")
    where = desk.locator(".where")
    desk.keyboard.press("g")
    desk.keyboard.type(str(beyond))
    desk.keyboard.press("Enter")
    expect(where).to_have_text(f"Round {beyond} of 130")

    desk.keyboard.press("p")
    expect(where).to_have_text(f"Round {max(listed)} of 130")
    desk.keyboard.press("n")
    expect(where).to_have_text(f"Round {beyond} of 130")
    desk.keyboard.press("n")
    expect(where).to_have_text(f"Round {numbers[numbers.index(beyond) + 1]} of 130")


def test_scrolling_loads_and_lets_go(project: Project, desk: Page, live_server: Any) -> None:
    run = a_long_run(600, project)
    open_page(desk, live_server, "analysis:run_detail", "helpdesk", run.pk, query="?at=200#r200")
    desk.mouse.move(400, 500)

    for _ in range(45):
        desk.mouse.wheel(0, 700)
        desk.wait_for_timeout(60)
    desk.wait_for_timeout(400)

    shown = desk.evaluate("[...document.querySelectorAll('.item[data-round]')].length")
    told = desk.evaluate(
        "[...document.querySelectorAll('.item')].map((i) => [+i.dataset.first, +i.dataset.last])"
    )
    numbers = [number for first, last in told for number in range(first, last + 1)]
    assert numbers == list(range(1, 601))
    assert desk.locator("#r240").count() or max(last for _, last in told[:-3]) > 240
    assert desk.locator("#r200").count() == 0
    assert shown < 70


def test_the_list_filters_as_one_types(vpn_run: Run, desk: Page) -> None:
    desk.reload()

    desk.keyboard.press("/")
    desk.keyboard.type("no such ticket")
    expect(desk.locator("#run-list h2")).to_contain_text("No flagged run matches")
    desk.locator("#q").fill("IT-20931")

    expect(desk.locator("[data-row]")).to_have_count(1)
    expect(desk).to_have_url(re.compile("q=IT-20931"))


def test_light_and_dark_by_hand_stay(vpn_run: Run, desk: Page) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = desk.evaluate(ground)

    desk.locator(".person summary").click()
    with desk.expect_response("**/theme/"):
        desk.get_by_role("button", name="Dark").click()
    dark = desk.evaluate(ground)
    desk.reload()

    assert light != dark
    assert desk.evaluate(ground) == dark


def addresses(run: Run) -> list[tuple[str, list[object], str]]:
    slug = run.project.slug
    return [
        ("analysis:run_list", [slug], "?tab=all"),
        ("analysis:run_detail", [slug, run.pk], "#r3"),
        ("analysis:run_detail", [slug, run.pk], "?report"),
        ("analysis:run_find", [slug, run.pk], "?q=vpn"),
        ("analysis:run_findings", [slug, run.pk], ""),
        ("analysis:run_changes", [slug, run.pk], "?first=8&last=39"),
        ("transcripts:round_input", [slug, run.pk, 40], ""),
        ("transcripts:round_text", [slug, run.pk, 3], "?part=reply"),
        ("transcripts:send_runs", [slug], ""),
        ("transcripts:member_list", [slug], ""),
        ("transcripts:key_list", [slug], ""),
        ("transcripts:delivery_list", [slug], ""),
        ("transcripts:access_list", [slug], ""),
        ("analysis:limits", [slug], ""),
        ("analysis:detector_list", [slug], ""),
        ("analysis:detector_detail", [slug, "empty_result"], ""),
        ("analysis:stop_reasons", [slug], ""),
        ("account_change_password", [], ""),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(vpn_run: Run, desk: Page, live_server: Any, scheme: Any) -> None:
    desk.emulate_media(color_scheme=scheme)
    found = {}

    for name, args, query in addresses(vpn_run):
        open_page(desk, live_server, name, *args, query=query)
        results = Axe().run(desk)
        if results.violations_count:
            found[name] = results.generate_report()

    assert found == {}


@pytest.mark.parametrize("width", [360, 400, 1440])
def test_no_page_scrolls_sideways(
    vpn_run: Run, project: Project, desk: Page, live_server: Any, width: int
) -> None:
    hostile = a_hostile_run(project)
    desk.set_viewport_size({"width": width, "height": 800})
    wide = []

    pages = [*addresses(vpn_run), ("analysis:run_detail", ["helpdesk", hostile.pk], "")]
    for name, args, query in pages:
        open_page(desk, live_server, name, *args, query=query)
        if desk.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)

    assert wide == []


def test_hostile_text_does_nothing(project: Project, desk: Page, live_server: Any) -> None:
    run = a_hostile_run(project)
    dialogs: list[str] = []
    desk.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))

    open_page(desk, live_server, "analysis:run_detail", "helpdesk", run.pk)

    assert dialogs == []
    assert desk.locator("main script, main img, main [href^='javascript']").count() == 0
    expect(desk.locator("h1")).to_contain_text("<script>alert(1)</script>{{ 7|add:7 }}")
    expect(desk.locator(".secret").first).to_contain_text("[SECRET:github:deadbeef]")


def test_reads_without_scripts(vpn_run: Run, browser: Browser, live_server: Any) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/sign-in/")
    page.get_by_label("E-mail").fill("admin@desk.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    page.locator("[data-row] .open").first.click()
    expect(page.locator("#r3")).to_contain_text("Nothing came back: an empty string")
    page.get_by_role("link", name="Show these rounds").first.click()
    expect(page.locator("#r9")).to_be_visible()
    page.get_by_label("Find in this run").fill("HA-118")
    page.get_by_label("Find in this run").press("Enter")
    page.locator(".found a").first.click()

    expect(page.locator("#r2")).to_be_visible()
    page.context.close()
