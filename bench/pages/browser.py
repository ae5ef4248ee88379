"""What a person waits for on our run page, in Chromium, and what the browser holds meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.figures import Figure, under
from bench.pages import chromium
from bench.pages.reading import Reading
from bench.pages.runs import to_find
from bench.pages.served import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from transcripts.models import Run

ACCOUNT, PASSWORD = "bench@desk.example", "bench"
OPENINGS = 3
NOWHERE = "zebra"
SCROLLS = [700] * 20 + [-700] * 20
Readings = dict[int, Reading]


@dataclass(frozen=True, slots=True)
class RunPage:
    """The page of a run, as one reads it with keys."""

    page: Page
    run: Run
    address: str

    def open(self) -> float:
        """Seconds until the first odd round is there."""
        odd = self.run.verdict.odd_round  # type: ignore[attr-defined]
        return self.until(lambda: self.page.goto(f"{self.address}?list=#r{odd}"), odd)

    def until(self, act: Callable[[], object], number: int) -> float:
        """Seconds from the act until one stands at that round."""
        where = self.page.locator(".where").get_by_text(f"Round {number:,} of", exact=False)

        def wait() -> None:
            act()
            where.wait_for()

        return chromium.timed(wait)

    def go_to(self, number: int) -> None:
        self.page.keyboard.press("g")
        self.page.keyboard.type(str(number))
        self.page.keyboard.press("Enter")

    def find(self, words: str, answer: str) -> float:
        """Seconds from the last key until the answer is there; it names the words."""
        self.page.keyboard.press("/")
        self.page.keyboard.press("Control+a")
        shown = self.page.locator("#found .summary").get_by_text(answer, exact=False)
        taken = chromium.from_the_last_key(self.page, words, shown.wait_for)
        self.page.keyboard.press("Escape")
        return taken

    def scroll(self) -> None:
        self.page.mouse.move(400, 500)
        for way in SCROLLS:
            self.page.mouse.wheel(0, way)
            self.page.wait_for_timeout(60)
        self.page.wait_for_timeout(500)


def in_a_browser(example: Run, *runs: Run) -> Generator[Figure, None, Readings]:
    """Figures of each; returns the runs' readings by rounds. Nothing where there is no Chromium."""
    readings: Readings = {}
    with serving() as origin, chromium.launched() as browser:
        if browser is None:
            print("no Chromium here, so nothing is measured in a browser")
            return readings
        session = _session(browser, origin)
        yield from _waits(browser, session, origin, example, "example, ")
        for run in runs:
            readings[run.last_round] = yield from _waits(browser, session, origin, run)
    return readings


def _session(browser: Browser, origin: str) -> Any:
    """The cookies of somebody who has signed in, and no cache."""
    page = chromium.cold_page(browser)
    page.goto(f"{origin}/sign-in/")
    page.fill("[name=login]", ACCOUNT)
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/p/**")
    session = page.context.storage_state()
    page.context.close()
    return session


def _waits(
    browser: Browser, session: Any, origin: str, run: Run, named: str = ""
) -> Generator[Figure, None, Reading]:
    """Seconds until what was asked for stands on the page, each from a cold or a warm start."""
    from django.urls import reverse

    address = origin + reverse("analysis:run_detail", args=[run.project.slug, run.pk])
    opened = []
    for _ in range(OPENINGS):
        page = chromium.cold_page(browser, chromium.WATCH_ELEMENTS, storage_state=session)
        shown = RunPage(page, run, address)
        opened.append(shown.open())
        if len(opened) < OPENINGS:
            page.context.close()
    name = f"{named}{run.last_round:,} rounds, in Chromium"
    yield under(f"{name}: first odd round readable", opened, 0.7, "s")
    reading = yield from _read(name, shown, opened)
    page.context.close()
    return reading


def _read(name: str, shown: RunPage, opened: list[float]) -> Generator[Figure, None, Reading]:
    page, end = shown.page, shown.run.last_round
    middle, words = end // 2 + 1, to_find(end)
    last = shown.until(lambda: page.keyboard.press("End"), end)
    yield under(f"{name}: last round by one key", [last], 0.5, "s")
    there = shown.until(lambda: shown.go_to(middle), middle)
    yield under(f"{name}: round {middle:,} by its number", [there], 0.5, "s")
    first = shown.until(lambda: shown.go_to(1), 1)
    yield under(f"{name}: round 1 by its number", [first], 0.5, "s")
    found = shown.find(words, f"“{words}”")
    yield under(f"{name}: found, from the last key", [found], 0.5, "s")
    nowhere = shown.find(NOWHERE, f"Nothing in any round holds “{NOWHERE}”")
    yield under(f"{name}: found that it is nowhere, from the last key", [nowhere], 0.5, "s")
    shown.go_to(middle)
    shown.scroll()
    most = float(page.evaluate("watched.most"))
    longest, heap = chromium.longest_task(page), chromium.heap(page)
    yield from _held(name, page, most, longest, heap)
    return Reading(opened, last, first, found, most, longest, heap)


def _held(name: str, page: Page, most: float, longest: float, heap: float) -> Iterator[Figure]:
    yield under(f"{name}: elements", [chromium.elements(page)], 801, "")
    yield under(f"{name}: most elements while one scrolls", [most], 801, "")
    yield under(f"{name}: longest task of a script", [longest], 100, "ms")
    yield under(f"{name}: heap", [heap], 10, "MB")
