"""The run list and search over a store of 100,000 runs: server time of every filter, order, search
and page, queries, and how much slower page 1,000 is than page 1; and the pages of figures.

`--times N` asks each N times (20 by default); `--here` takes the database that is set up, which
must hold the store. Times are of Django's test client: from request to answer, all that the server
does but the sockets. On a machine that does other things besides, go by the processor's time, of
Python and of Postgres (where it runs here), which stands beside each.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
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
# What each row of the list has once.
ROW = b"<tr data-row>"
# The pages of figures read whole windows; three months hold all of the store.
PAGES = {
    "tools": f"/p/{SLUG}/tools/?days=90",
    "insights": f"/p/{SLUG}/insights/?days=90",
    "live": f"/p/{SLUG}/live/",
    "incidents": f"/p/{SLUG}/incidents/",
    "an incident": f"/p/{SLUG}/incidents/1/",
    "metrics": "/metrics",
}


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
    yield from pages(client, times)


def a_reader() -> Client:
    """An administrator, signed in to the application as the web server has loaded it."""
    from importlib import import_module

    from django.conf import settings
    from django.test import Client

    from transcripts.models import User

    settings.STORAGES["staticfiles"]["BACKEND"] = (
        "django.contrib.staticfiles.storage.StaticFilesStorage"
    )
    settings.ALLOWED_HOSTS.append("testserver")
    import_module("agentdesk.wsgi")
    client = Client()
    client.force_login(User.objects.get(email="admin@desk.example"))
    client.get(f"/p/{SLUG}/runs/", {"tab": "all"})
    return client


def asked(
    client: Client, name: str, query: dict[str, str], times: int, *, limit: float
) -> Iterator[Figure]:
    """One list, with the queries and the rows."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    address = f"/p/{SLUG}/runs/?{urlencode(query)}"
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(address)
    rows = answer.content.count(ROW)
    told = f"{len(captured)} queries, {rows} rows"
    yield served(client, name, address, times, told=told, limit=limit)


def served(
    client: Client,
    name: str,
    address: str,
    times: int,
    *,
    told: str = "",
    limit: float,
    **headers: str,
) -> Figure:
    """Milliseconds at the 95th percentile, with the median and the processor's time."""
    worked = Worked()
    taken = measured(client, address, times, **headers)
    p95 = statistics.quantiles(taken, n=20)[-1] if len(taken) > 1 else taken[0]
    about = f"p50 {statistics.median(taken):.0f} ms, {worked.told(times)}"
    about = ", ".join(filter(None, [about, told]))
    return Figure(f"{name} ({about})", [p95], "ms", f"p95 under {limit:.0f} ms", p95 <= limit)


def measured(client: Client, address: str, times: int, **headers: str) -> list[float]:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        answer = client.get(address, headers=headers)
        taken.append((time.perf_counter() - started) * 1_000)
        assert answer.status_code == 200, answer.status_code
    return taken


class Worked:
    """The processor's time since it was made: this process's, and its Postgres backend's where
    that runs on this machine.
    """

    def __init__(self) -> None:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (pid,) = cursor.fetchone()
        self.stat = Path(f"/proc/{pid}/stat")
        self.python, self.postgres = time.process_time(), self._postgres()

    def _postgres(self) -> float | None:
        """Seconds; None where this backend is none of this machine's processes."""
        try:
            told = self.stat.read_text(encoding="ascii", errors="replace")
        except OSError:
            return None
        name, _, rest = told.rpartition(")")
        user, system = rest.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") if "postgres" in name else None

    def told(self, times: int) -> str:
        """The time of each of so many, in words."""
        python = (time.process_time() - self.python) * 1_000 / times
        now = self._postgres()
        if now is None or self.postgres is None:
            return f"processor {python:.0f} ms in Python"
        postgres = (now - self.postgres) * 1_000 / times
        return f"processor {python:.0f} ms in Python and {postgres:.0f} in Postgres"


def pages(client: Client, times: int) -> Iterator[Figure]:
    """The pages that read whole windows, and what Prometheus asks."""
    from analysis.views import metrics
    from tests.factories import a_key
    from transcripts.choices import KeyScope
    from transcripts.models import Project

    # Each scrape reads anew.
    metrics.KEPT_SECONDS = 0
    _, text = a_key(Project.objects.get(slug=SLUG), KeyScope.READ)
    for name, address in PAGES.items():
        headers = {"Authorization": f"Bearer {text}"} if name == "metrics" else {}
        yield served(client, name, address, times, limit=500, **headers)


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
            found += measured(client, f"/p/{SLUG}/runs/?{urlencode(place)}", 1)
    ratio = statistics.median(taken[1]) / statistics.median(taken[0])
    name = f"page 1,000 to page 1, by {sort} ({urlencode(places[1])[:40]}…)"
    return Figure(name, [ratio], "x", "at most 1.3 x", ratio <= 1.3)
