"""Chromium without a window, and what it says of a page: seconds, elements, long tasks, heap."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.run import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = ("--no-sandbox", "--disable-background-networking", "--enable-precise-memory-info")
# The longest task in milliseconds; 0: none over 50, which is where a browser begins to count.
WATCH_TASKS = """
window.watched = { longest: 0, most: 0 };
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) watched.longest = Math.max(watched.longest, task.duration);
}).observe({ type: "longtask", buffered: true });
"""
# The most elements there were at any moment. Counting costs a page of many elements time of its
# own, so it is for ours alone.
WATCH_ELEMENTS = """
new MutationObserver(() => {
  watched.most = Math.max(watched.most, document.getElementsByTagName("*").length);
}).observe(document, { childList: true, subtree: true });
"""
COUNT = "document.getElementsByTagName('*').length"


@contextmanager
def launched() -> Iterator[Browser | None]:
    """A browser; None where this machine has none."""
    if (path := find_chromium()) is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def cold_page(browser: Browser, *scripts: str, **context: Any) -> Page:
    """A page of a visitor whose cache is empty; closing its context ends it."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}, **context).new_page()
    for script in (WATCH_TASKS, *scripts):
        page.add_init_script(script)
    return page


def timed(act: Callable[[], object]) -> float:
    """Seconds that it took."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def from_the_last_key(page: Page, words: str, answered: Callable[[], object]) -> float:
    """Type words where the focus is; seconds from the last key until `answered` returns."""
    page.keyboard.type(words[:-1])
    started = time.perf_counter()
    page.keyboard.type(words[-1])
    answered()
    return time.perf_counter() - started


def elements(page: Page) -> int:
    return int(page.evaluate(COUNT))


def longest_task(page: Page) -> float:
    """Milliseconds of the longest task since the page was opened; 0: none over 50."""
    return float(page.evaluate("watched.longest"))


def heap(page: Page) -> float:
    """MB that scripts hold once what nobody needs is thrown away."""
    page.request_gc()
    return float(page.evaluate("performance.memory.usedJSHeapSize / 1e6"))
