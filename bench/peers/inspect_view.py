"""Inspect View: a reader of log files, which opens a run at its first message."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.pages.chromium import from_the_last_key
from bench.pages.runs import reply_of
from bench.peers.running import AwayError, Peer, Running
from transcripts.record import RunRecord

if TYPE_CHECKING:
    from playwright.sync_api import Page

WRITER = Path(__file__).with_name("inspect_log.py")
COUNTED = re.compile(r"^1 of \d")


class InspectView:
    peer = Peer(
        "Inspect View",
        "inspect-ai==0.3.285",
        lambda folder, port: [
            *("inspect", "view", "start", "--log-dir", str(folder)),
            *("--host", "127.0.0.1", "--port", str(port)),
        ],
        lambda folder, port: {},
    )

    finds = True

    def put(self, running: Running, records: Sequence[RunRecord]) -> None:
        for record in records:
            file = running.folder / f"{_name(len(record.rounds))}.eval"
            done = subprocess.run(
                [str(running.programs / "python"), str(WRITER), str(file)],
                input=json.dumps(run_of(record)),
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise AwayError(f"its log cannot be written: {done.stderr.strip()[-200:]}")

    def address(self, running: Running, rounds: int) -> str:
        return f"{running.origin}/#/logs/{_name(rounds)}.eval/samples/sample/1/1/messages"

    def opened(self, page: Page) -> None:
        page.get_by_text(reply_of(1), exact=True).locator("visible=true").first.wait_for()

    def to_last(self, page: Page, rounds: int) -> str:
        page.keyboard.press("End")
        page.keyboard.press("Control+End")
        page.get_by_text(reply_of(rounds - 1), exact=True).locator("visible=true").first.wait_for()
        return "by one key"

    def to_first(self, page: Page) -> str:
        page.keyboard.press("Home")
        page.keyboard.press("Control+Home")
        page.get_by_text(reply_of(1), exact=True).locator("visible=true").first.wait_for()
        return "by one key"

    def find(self, page: Page, words: str) -> float:
        page.keyboard.press("Control+f")
        page.get_by_placeholder("Find").wait_for()

        def answered() -> None:
            page.get_by_text(COUNTED).wait_for()
            page.get_by_text(words).locator("visible=true").first.wait_for()

        return from_the_last_key(page, words, answered)


def run_of(record: RunRecord) -> dict[str, Any]:
    """A run as JSON for `inspect_log.py`: `name`, `input`, and `messages` of `role` and `content`,
    an assistant's with `calls` (`id`, `name`, `args`), a tool's with the `id` and `name` of its
    call.
    """
    messages: list[dict[str, Any]] = [
        {"role": each.role, "content": each.content} for each in record.messages
    ]
    for round_ in record.rounds:
        told = [
            {
                "id": f"call_{round_.number}_{at}",
                "name": call.name,
                "args": json.loads(call.args),
            }
            for at, call in enumerate(round_.calls)
        ]
        messages.append({"role": "assistant", "content": round_.reply, "calls": told})
        messages += [
            {"role": "tool", "content": call.result, "id": each["id"], "name": call.name}
            for each, call in zip(told, round_.calls, strict=True)
        ]
    return {
        "name": _name(len(record.rounds)),
        "input": record.messages[0].content,
        "messages": messages,
    }


def _name(rounds: int) -> str:
    return f"run-{rounds}"
