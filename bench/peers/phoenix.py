"""Phoenix: a tree of spans, which opens a long run at its newest 1,000 and loads the others by
"Load More".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agentdesk.local import ports
from bench.otlp.sending import Target, send
from bench.pages.runs import TICKET, a_long_record, reply_of
from bench.peers.asking import asked
from bench.peers.running import AwayError, Peer, Running
from bench.peers.spans import requests_of, spans_of, trace_of
from tests.agentdesk.rig import wait_until
from transcripts.record import RunRecord

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PROJECTS = "{ projects { edges { node { id name recordCount } } } }"
PROJECT = "default"
# Until it has read all spans: some 50 a second.
PATIENCE = 900.0
ROWS = "[data-testid=trace-tree] .span-node-wrap"
DETAILS = "[data-testid=span-details]"
MORE = "Load More"
# It shows a reply that asks for a tool among the attributes alone, so what the tool said is read.
FIRST_ANSWER = "record 1: "


class Phoenix:
    peer = Peer(
        "Phoenix",
        "arize-phoenix==20.26.1",
        lambda folder, port: ["phoenix", "serve"],
        lambda folder, port: {
            "PHOENIX_WORKING_DIR": str(folder),
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(port),
            "PHOENIX_GRPC_PORT": str(ports.any_free()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        },
        "/healthz",
    )

    # Its search knows the names of spans alone.
    finds = False

    def put(self, running: Running, records: Sequence[RunRecord]) -> None:
        for record in records:
            send(Target(running.port), list(requests_of(record)))
        sent = sum(len(spans_of(record)) for record in records)
        try:
            wait_until(lambda: spans(running.port) >= sent, seconds=PATIENCE)
        except AssertionError:
            told = f"{spans(running.port):,} of {sent:,} spans after {PATIENCE:.0f} s"
            raise AwayError(told) from None

    def address(self, running: Running, rounds: int) -> str:
        (project,) = (each["id"] for each in _projects(running.port) if each["name"] == PROJECT)
        return f"{running.origin}/projects/{project}/traces/{trace_of(a_long_record(rounds))}"

    def opened(self, page: Page) -> None:
        page.locator(DETAILS).get_by_text(TICKET).locator("visible=true").first.wait_for()

    def to_last(self, page: Page, rounds: int) -> str:
        return f"by {_click(page, page.locator(ROWS).last, reply_of(rounds - 1))}"

    def to_first(self, page: Page) -> str:
        more = page.get_by_role("button", name=MORE)
        pressed = 0
        while more.count():
            told = more.locator("xpath=..").inner_text()
            more.click()
            page.get_by_text(told, exact=True).wait_for(state="detached")
            pressed += 1
        loading = f"{pressed} times “{MORE}”, " if pressed else ""
        return f"by {loading}{_click(page, page.locator(ROWS).nth(2), FIRST_ANSWER)}"

    def find(self, page: Page, words: str) -> float:
        raise NotImplementedError


def spans(port: int) -> int:
    """How many it has stored."""
    return sum(each["recordCount"] for each in _projects(port))


def _projects(port: int) -> list[dict[str, Any]]:
    found = asked(port, "/graphql", {"query": PROJECTS})
    edges = found.get("data", {}).get("projects", {}).get("edges", [])
    return [edge["node"] for edge in edges]


def _click(page: Page, row: Locator, words: str) -> str:
    row.click()
    page.locator(DETAILS).get_by_text(words).locator("visible=true").first.wait_for()
    return "scrolling and a click"
