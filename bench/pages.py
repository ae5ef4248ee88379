"""The run page and the run list: queries, size, elements, server time, and what a person waits for.

The same run with 52, 1,000, 5,000 and 32,843 rounds (`--rounds N …`), and the example, in a
database of its own on the servers of the tests. With a Chromium on this machine also how long it
takes until the first odd round is there, and from a key until the last round, a round by its
number, and what is found; the longest task of a script, and the most elements while one scrolls.
`--inspect` puts Inspect View beside it, on the same runs (see `bench.inspect_view`).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bench.figures import Figure, seconds, under

if TYPE_CHECKING:
    from django.test import Client
    from playwright.sync_api import Page

    from transcripts.models import Project, Run

LENGTHS = (52, 1_000, 5_000, 32_843)
ROWS = 60
# Characters of a tool's answer, about what Phoenix and MLflow were measured with.
ANSWER = 1_700
PASSWORD = "bench"
# The longest task, in milliseconds (0: none over 50), and the most elements there were.
WATCH = """
window.watched = { longest: 0, most: 0 };
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) watched.longest = Math.max(watched.longest, task.duration);
}).observe({ type: "longtask", buffered: true });
new MutationObserver(() => {
  watched.most = Math.max(watched.most, document.getElementsByTagName("*").length);
}).observe(document, { childList: true, subtree: true });
"""
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Measured:
    """One page: queries, bytes of HTML, elements, and seconds of server time."""

    queries: int
    size: int
    elements: int
    taken: list[float]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench pages")
    parser.add_argument("--rounds", type=int, nargs="+", default=LENGTHS, metavar="N")
    parser.add_argument("--inspect", action="store_true", help="measure Inspect View, too")
    asked = parser.parse_args(arguments)
    with database():
        from tests.factories import a_member, a_project, a_user
        from tests.page_runs import a_shown_run, the_vpn_run
        from transcripts.choices import Role

        project = a_project("bench")
        a_member(project, Role.ADMIN, user=a_user("bench@desk.example", PASSWORD))
        example = the_vpn_run(project)
        runs = [
            a_shown_run(replace(a_long_record(rounds), run_id=f"long-{rounds}"), project)
            for rounds in sorted(asked.rounds)
        ]
        for figure in on_the_server(project, example, runs):
            print(figure, flush=True)
        for figure in in_a_browser(example, *runs):
            print(figure, flush=True)
    if asked.inspect:
        from bench.inspect_view import figures

        for figure in figures(sorted(asked.rounds)):
            print(figure, flush=True)
    return 0


@contextmanager
def database() -> Iterator[None]:
    """A database with Agentdesk's tables, on the Postgres of the tests; gone afterwards."""
    from tests import conftest

    child = conftest.OWN_POSTGRES.start() if conftest.OWN_POSTGRES else None
    from django.db import connection
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    made = setup_databases(verbosity=0, interactive=False, aliases=["default"])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            # A browser's last request may still hold a connection of its own.
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        connection.close()
        teardown_databases(made, verbosity=0)
        if child is not None:
            child.stop()
        shutil.rmtree(conftest.STATE, ignore_errors=True)


def a_long_record(rounds: int) -> Any:
    """Rounds that look one thing up after the other; one of them fails without a word."""
    from tests.builders import a_round, a_run, call
    from transcripts.record import InputChange, Message, Placed

    words = "Contoso Ltd, open since March, reminded twice. "
    calls = [
        a_round(
            call(
                ("list_invoices", "get_invoice", "get_contract")[number % 3],
                {"id": number},
                f"record {number}: " + words * (ANSWER // len(words))
                if number != rounds // 3
                else "Error: connection refused by invoices.internal",
            ),
            reply=f"Now I look at record number {number}.",
            tokens_in=1_000 + (number * 37) % 15_000,
            duration_ms=900,
            input=InputChange((Placed("ticket", 0),)) if number == 1 else None,
        )
        for number in range(1, rounds)
    ]
    ticket = Message("ticket", "user", "Please list all invoices of Contoso.")
    return a_run(
        *calls, "Done.", run_id="long", ticket_id="IT-1", messages=(ticket,), context_window=16_000
    )


def on_the_server(project: Project, example: Run, runs: Sequence[Run]) -> Iterator[Figure]:
    from django.urls import reverse

    from tests.page_runs import a_shown_run

    def page(run: Run, name: str = "analysis:run_detail") -> str:
        return reverse(name, args=[project.slug, run.pk])

    short, long = runs[0], runs[-1]
    measured = [(run, measure(page(run) + "?list=")) for run in (example, *runs)]
    for run, found in measured:
        name = f"run page, {'example, ' if run is example else ''}{run.last_round:,} rounds"
        yield Figure(f"{name}: queries", [found.queries], "")
        yield under(f"{name}: HTML", [found.size / 1000], 100, "kB")
        yield under(f"{name}: elements", [found.elements], 801, "")
        yield Figure(f"{name}: server", found.taken, "s")
    least, most = measured[1][1], measured[-1][1]
    for part in ("queries", "size", "elements"):
        share = getattr(most, part) / getattr(least, part)
        yield under(f"run page: {part} of the longest to the shortest", [share], 1.1, "times")
    walls, cpus = ratios(page(long) + "?list=", page(short) + "?list=")
    yield under("run page: server time of the longest to the shortest", walls, 1.5, "times")
    yield under("run page: CPU time of the web process, the same", cpus, 1.5, "times")
    found = measure(page(long, "analysis:run_find") + "?q=connection+refused", swap=True)
    yield under("find in the long run: server", found.taken, 0.5, "s")
    record = a_long_record(8)
    for number in range(ROWS):
        a_shown_run(replace(record, run_id=f"row-{number}"), project)
    found = measure(reverse("analysis:run_list", args=[project.slug]) + "?tab=all")
    yield under("run list, a page of it: queries", [found.queries], 12.5, "")
    yield under("run list, a page of it: HTML", [found.size / 1000], 100, "kB")
    yield under("run list, a page of it: server", found.taken, 0.1, "s")


def ratios(address: str, other: str, *, times: int = 15) -> tuple[list[float], list[float]]:
    """Server time and CPU time of one page to another's, asked for in turn: other work slows both
    alike.
    """
    client = signed_in()
    walls, cpus = [], []
    for _ in range(times):
        wall, cpu = [], []
        for at in (address, other):
            client.get(at)
            started = time.perf_counter(), time.process_time()
            client.get(at)
            wall.append(time.perf_counter() - started[0])
            cpu.append(time.process_time() - started[1])
        walls.append(wall[0] / wall[1])
        cpus.append(cpu[0] / cpu[1])
    return walls, cpus


def signed_in(**headers: str) -> Client:
    from django.test import Client

    from transcripts.models import User

    client = Client(headers=headers)
    client.force_login(User.objects.get(email="bench@desk.example"))
    return client


def measure(address: str, *, swap: bool = False) -> Measured:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client = signed_in(**({"HX-Request": "true"} if swap else {}))
    taken = seconds(lambda: client.get(address), times=9)
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(address)
    if answer.status_code != 200:
        raise SystemExit(f"{address} answered {answer.status_code}")
    in_the_page = re.sub(rb"(?s)<template .*?</template>", b"", answer.content)
    elements = len(re.findall(rb"<[a-z]", in_the_page))
    return Measured(len(captured), len(answer.content), elements, taken)


def in_a_browser(*runs: Run) -> Iterator[Figure]:
    """What a person waits for; nothing where there is no Chromium."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        print("no Chromium here, so nothing is measured in a browser")
        return
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-background-networking", "--enable-precise-memory-info"]
    with serving() as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=flags)
        for run in runs:
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.add_init_script(WATCH)
            yield from waits(page, origin, run)
            page.context.close()
        browser.close()


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server of the pages and their files, in a thread."""
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.test.testcases import LiveServerThread

    server = LiveServerThread("127.0.0.1", StaticFilesHandler, connections_override={})
    server.daemon = True
    server.start()
    server.is_ready.wait()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.terminate()


def waits(page: Page, origin: str, run: Run) -> Iterator[Figure]:
    """Seconds until what was asked for stands on the page, each from a cold or a warm start."""
    from django.urls import reverse

    page.goto(f"{origin}/sign-in/")
    page.fill("[name=login]", "bench@desk.example")
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    odd = run.verdict.odd_round  # type: ignore[attr-defined]
    address = origin + reverse("analysis:run_detail", args=[run.project.slug, run.pk])
    name = f"{run.last_round:,} rounds, in Chromium"
    where = page.locator(".where")

    def until(act: Callable[[], object], words: str) -> float:
        started = time.perf_counter()
        act()
        where.get_by_text(words, exact=False).wait_for()
        return time.perf_counter() - started

    def go_to(number: int) -> None:
        page.keyboard.press("g")
        page.keyboard.type(str(number))
        page.keyboard.press("Enter")

    opened = []
    for _ in range(3):
        page.goto("about:blank")
        opened.append(until(lambda: page.goto(f"{address}?list=#r{odd}"), f"Round {odd:,} of"))
    last = until(lambda: page.keyboard.press("End"), f"Round {run.last_round:,} of")
    middle = run.last_round // 2 + 1
    there = until(lambda: go_to(middle), f"Round {middle:,} of")
    page.keyboard.press("/")
    started = time.perf_counter()
    page.keyboard.type("zebra")
    page.get_by_text("Nothing in any round").wait_for()
    found = time.perf_counter() - started
    page.keyboard.press("Escape")
    go_to(middle)
    page.mouse.move(400, 500)
    for way in [700] * 20 + [-700] * 20:
        page.mouse.wheel(0, way)
        page.wait_for_timeout(60)
    page.wait_for_timeout(500)
    watched = json.loads(page.evaluate("JSON.stringify(watched)"))
    page.request_gc()
    size = json.loads(
        page.evaluate(
            "JSON.stringify([document.querySelectorAll('*').length,"
            " performance.memory.usedJSHeapSize / 1e6])"
        )
    )
    yield under(f"{name}: first odd round readable", opened, 0.7, "s")
    yield under(f"{name}: last round by one key", [last], 0.5, "s")
    yield under(f"{name}: round {middle:,} by its number", [there], 0.5, "s")
    yield under(f"{name}: found that nothing matches, typing included", [found], 1, "s")
    yield under(f"{name}: elements", [size[0]], 801, "")
    yield under(f"{name}: most elements while one scrolls", [watched["most"]], 801, "")
    yield under(f"{name}: longest task of a script", [watched["longest"]], 100, "ms")
    yield under(f"{name}: heap", [size[1]], 10, "MB")
