"""MLflow: a tree of spans, all of which it puts on the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bench.otlp.sending import Target, send
from bench.pages.chromium import from_the_last_key
from bench.pages.runs import TICKET, a_long_record, reply_of
from bench.peers.asking import asked
from bench.peers.running import Peer, Running
from bench.peers.spans import requests_of, trace_of
from transcripts.record import RunRecord

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

EXPERIMENT = "0"
HEADERS = {"x-mlflow-experiment-id": EXPERIMENT}
# Their titles: the middle of a row may lie below the edge by which the tree is made wider.
ROWS = "[data-testid^=span-title-row]"
DETAILS = "[data-testid=model-trace-explorer-content-tab]"
COUNTED = re.compile(r"^1 / \d")


class Mlflow:
    peer = Peer(
        "MLflow",
        "mlflow==3.17.2",
        lambda folder, port: ["mlflow", "server", "--host", "127.0.0.1", "--port", str(port)],
        lambda folder, port: {
            "MLFLOW_BACKEND_STORE_URI": f"sqlite:///{folder}/mlflow.db",
            "MLFLOW_DEFAULT_ARTIFACT_ROOT": str(folder / "artifacts"),
            "MLFLOW_DISABLE_TELEMETRY": "true",
        },
        "/health",
    )

    finds = True

    def put(self, running: Running, records: Sequence[RunRecord]) -> None:
        """It answers once it has stored them."""
        for record in records:
            send(Target(running.port, HEADERS), list(requests_of(record)))

    def address(self, running: Running, rounds: int) -> str:
        trace = trace_of(a_long_record(rounds))
        place = f"/#/experiments/{EXPERIMENT}/traces"
        return f"{running.origin}{place}?selectedEvaluationId=tr-{trace}"

    def opened(self, page: Page) -> None:
        page.locator(DETAILS).get_by_text(TICKET).locator("visible=true").first.wait_for()

    def to_last(self, page: Page, rounds: int) -> str:
        return f"by {_click(page, page.locator(ROWS).last, rounds - 1)}"

    def to_first(self, page: Page) -> str:
        return f"by {_click(page, page.locator(ROWS).nth(1), 1)}"

    def find(self, page: Page, words: str) -> float:
        # Its hint of a first visit hides all else from who asks by role.
        page.locator("button[aria-label='Find in trace']").click()
        page.locator("[role=dialog] input").first.wait_for()

        def answered() -> None:
            page.get_by_text(COUNTED).wait_for()
            page.locator(DETAILS).get_by_text(words).locator("visible=true").first.wait_for()

        return from_the_last_key(page, words, answered)


def traces(port: int) -> int:
    """How many its search finds."""
    place = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": EXPERIMENT}}
    question: dict[str, Any] = {"locations": [place], "max_results": 500}
    count = 0
    while True:
        found = asked(port, "/api/3.0/mlflow/traces/search", question)
        count += len(found.get("traces", ()))
        if not found.get("next_page_token"):
            return count
        question["page_token"] = found["next_page_token"]


def _click(page: Page, row: Locator, number: int) -> str:
    row.click()
    page.locator(DETAILS).get_by_text(reply_of(number)).locator("visible=true").first.wait_for()
    return "scrolling and a click"
