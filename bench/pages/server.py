"""The run page and the run list on the server: queries, size, elements and time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench.figures import Figure, seconds, under
from bench.pages.runs import a_long_record

if TYPE_CHECKING:
    from django.test import Client

    from transcripts.models import Project, Run

ROWS = 60


@dataclass(frozen=True)
class Measured:
    """One page: queries, bytes of HTML, elements, and seconds of server time."""

    queries: int
    size: int
    elements: int
    taken: list[float]


def on_the_server(project: Project, example: Run, runs: Sequence[Run]) -> Iterator[Figure]:
    """What the server says of the run page at each length, and of the run list."""
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
