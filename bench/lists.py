"""The run list and search over a store of 100,000 runs: server time of every filter, order, search
and page, queries, and how much slower page 1,000 is than page 1.

`--times N` asks each N times (20 by default); `--here` takes the database that is set up, which
must hold the store. Times are of Django's test client: from request to answer, all that the server
does but the sockets.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from bench.figures import Figure
from bench.store import SLUG, store

if TYPE_CHECKING:
    from django.test import Client

FILTERS: dict[str, dict[str, str]] = {
    "flagged": {},
    "all": {"tab": "all"},
    "live": {"tab": "live"},
    "mine": {"tab": "mine"},
    "agent": {"tab": "all", "agent": "hr"},
    "ending": {"tab": "all", "ending": "finished"},
    "ending that none has": {"tab": "all", "ending": "blocked"},
    "finding": {"tab": "all", "finding": "empty_result"},
    "finding, flagged": {"finding": "hidden_error"},
    "verdict": {"tab": "all", "verdict": "recovered"},
    "tool at fault": {"tab": "all", "tool": "reset_vpn_profile"},
    "tool called": {"tab": "all", "called": "open_ticket"},
    "tool called by most": {"tab": "all", "called": "get_employee"},
    "stop reason": {"tab": "all", "stop": "wants_tool"},
    "model": {"tab": "all", "model": "small-1"},
    "prompt version": {"tab": "all", "prompt": "v3"},
    "code version": {"tab": "all", "code": "1.7"},
    "label of the sender": {"tab": "all", "label": "team=team-3"},
    "label of ours": {"tab": "all", "label": "seen=yes"},
    "cost": {"tab": "all", "cost_from": "0.4"},
    "rounds": {"tab": "all", "rounds_from": "15"},
    "last 24 hours": {"tab": "all", "since": "24h"},
    "restricted": {"tab": "all", "restricted": "yes"},
    "incomplete": {"tab": "all", "incomplete": "yes"},
    "sub-runs": {"tab": "all", "sub": "yes"},
    "owner": {"tab": "all", "owner": "me"},
    "nobody's": {"tab": "all", "owner": "nobody"},
    "incident": {"tab": "all", "incident": "1"},
    "three at once": {"agent": "helpdesk", "model": "large-2", "since": "30d"},
    "by cost": {"tab": "all", "sort": "cost"},
    "by rounds": {"tab": "all", "sort": "rounds"},
    "by wasted rounds": {"tab": "all", "sort": "wasted"},
    "oldest first": {"tab": "all", "sort": "oldest"},
}
RARE: dict[str, str] = {
    "identifier": "INV-54321-2",
    "ticket": "IT-77777",
    "e-mail address": "anna.4444@contoso.example",
    "path": "/srv/files/61234/report.txt",
    "part of an identifier": "54321-2",
    "word that is nowhere": "nowhereatall",
}
COMMON: dict[str, str] = {
    "word": "record",
    "three words": "record inv contoso",
    "phrase": '"connection refused by"',
    "phrase with a rare word": '"record 777770"',
}
PAGES_DOWN = 1_000


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench lists")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--here", action="store_true")
    said = parser.parse_args(arguments)
    with nullcontext() if said.here else store():
        for figure in figures(said.times):
            print(figure, flush=True)
    return 0


def figures(times: int) -> Iterator[Figure]:
    client = a_reader()
    for name, query in FILTERS.items():
        yield from asked(client, name, query, times, limit=100)
    for name, words in RARE.items():
        yield from asked(client, f"rare: {name}", {"tab": "all", "q": words}, times, limit=200)
    for name, words in COMMON.items():
        yield from asked(client, f"common: {name}", {"tab": "all", "q": words}, times, limit=500)
        newest = {"tab": "all", "q": words, "sort": "newest"}
        yield from asked(client, f"common: {name}, newest", newest, times, limit=500)
    for sort in ("newest", "cost", "rounds", "wasted"):
        yield far_down(client, sort, times)


def a_reader() -> Client:
    from django.conf import settings
    from django.test import Client
    from django.test.utils import setup_test_environment

    from transcripts.models import User

    setup_test_environment()
    settings.STORAGES["staticfiles"]["BACKEND"] = (
        "django.contrib.staticfiles.storage.StaticFilesStorage"
    )
    client = Client()
    client.force_login(User.objects.get(email="admin@desk.example"))
    client.get(f"/p/{SLUG}/runs/", {"tab": "all"})
    return client


def asked(
    client: Client, name: str, query: dict[str, str], times: int, *, limit: float
) -> Iterator[Figure]:
    """Milliseconds at the 95th percentile, with the median, the queries and the rows."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    taken = measured(client, query, times)
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(f"/p/{SLUG}/runs/", query)
    rows = len(answer.context["rows"])
    p95 = statistics.quantiles(taken, n=20)[-1] if len(taken) > 1 else taken[0]
    told = f"{name} (p50 {statistics.median(taken):.0f} ms, {len(captured)} queries, {rows} rows)"
    yield Figure(told, [p95], "ms", f"p95 under {limit:.0f} ms", p95 <= limit)


def measured(client: Client, query: dict[str, str], times: int) -> list[float]:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        answer = client.get(f"/p/{SLUG}/runs/", query)
        taken.append((time.perf_counter() - started) * 1_000)
        assert answer.status_code == 200, answer.status_code
    return taken


def far_down(client: Client, sort: str, times: int) -> Figure:
    """How much slower page 1,000 is than page 2, of the same kind; both asked in turn."""
    from analysis.lists.filters import RunFilter
    from analysis.lists.pages import cursor_of, run_page
    from transcripts.models import Project

    wanted = RunFilter(tab="all", sort=sort)
    project = Project.objects.get(slug=SLUG)
    places: list[dict[str, Any]] = []
    for rows in (25, 25 * PAGES_DOWN):
        page = run_page(project=project, wanted=wanted, reader=None, limit=rows)
        places.append({"tab": "all", "sort": sort, "before": cursor_of(page.runs[-1], sort)})
    taken: list[list[float]] = [[], []]
    for _ in range(times):
        for place, found in zip(places, taken, strict=True):
            found += measured(client, place, 1)
    ratio = statistics.median(taken[1]) / statistics.median(taken[0])
    name = f"page 1,000 to page 1, by {sort} ({urlencode(places[1])[:40]}…)"
    return Figure(name, [ratio], "x", "at most 1.3 x", ratio <= 1.3)
