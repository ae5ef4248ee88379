"""Each instrumentation of docs/opentelemetry.md with its real SDK, by the blocks of that page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agentdesk.pipeline import delivery_process
from tests.factories import a_key, a_project
from tests.sdks.agents import ANSWER, ARGS, GOAL, MODEL, RESULT, TICKET
from tests.sdks.model_server import model_server
from transcripts.choices import DeliveryState, KeyScope
from transcripts.models import Delivery, OpenTrace, Run
from transcripts.record import RunRecord, Stop
from transcripts.selectors.record import run_record

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/opentelemetry.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
SECONDS = 120


@dataclass(frozen=True, slots=True)
class Snippet:
    """What a section of the page says: the `.env`, and the lines that start the instrumentation."""

    title: str
    pinned: tuple[str, ...]
    env: str
    lines: str


def snippets() -> list[Snippet]:
    sections = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
    found = []
    for section in sections:
        blocks = dict(BLOCK.findall(section))
        if blocks:
            title = section.partition("\n")[0]
            pinned = tuple(re.findall(r"\S+==\S+", section.partition("```")[0]))
            found.append(Snippet(title, pinned, blocks["sh"], blocks["python"]))
    return found


def set_up_and_around() -> tuple[str, str]:
    """The page's two general blocks: the tracer provider, and the span around a ticket."""
    head = PAGE.partition("## For each instrumentation")[0]
    (_, set_up), (_, around) = BLOCK.findall(head)
    return set_up, around


def folder_of(requirement: str) -> Path:
    """A package in the version that a section asks for, where the others need a later one."""
    folder = ROOT / ".agentdesk" / "sdks" / requirement
    if not folder.exists():
        uv = str(Path(sys.executable).with_name("uv"))
        command = [uv, "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
        made = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
        if made.returncode:
            pytest.skip(f"{requirement} cannot be installed: {made.stderr.strip()[-300:]}")
    return folder


def run_agent(snippet: Snippet, address: str, key: str, model: str) -> None:
    """The program that a user would have, in a process of its own."""
    set_up, around = set_up_and_around()
    sdk = "anthropic" if snippet.title.startswith("Anthropic") else "openai"
    program = "\n".join(
        (
            set_up,
            snippet.lines,
            f"from tests.sdks.agents import {sdk}_agent as run_the_agent",
            around,
            "provider.shutdown()",
        )
    )
    said = dict(line.split("=", 1) for line in snippet.env.splitlines())
    said["OTEL_EXPORTER_OTLP_ENDPOINT"] = address
    said["OTEL_EXPORTER_OTLP_HEADERS"] = said["OTEL_EXPORTER_OTLP_HEADERS"].replace(
        "agd_…", quote(key)
    )
    answer = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "ANTHROPIC_BASE_URL": model,
            "OPENAI_BASE_URL": f"{model}/v1",
            "PYTHONPATH": os.pathsep.join(str(folder_of(name)) for name in snippet.pinned),
            **said,
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr[-3000:]
    assert "rror" not in answer.stderr, answer.stderr[-3000:]


def received(live_server: Any, snippet: Snippet) -> RunRecord:
    project = a_project()
    _, key = a_key(project, KeyScope.INGEST)
    with model_server() as model:
        run_agent(snippet, live_server.url, key, model)
    for delivery in Delivery.objects.filter(state=DeliveryState.ACCEPTED):
        delivery_process(delivery.pk)
    run = Run.objects.get()
    assert run.over
    assert OpenTrace.objects.get().has_root
    return run_record(run=run).record


def texts(run: RunRecord) -> list[list[str]]:
    """What each round read: texts, or which reply or result it is."""
    return [
        [
            message.content or f"reply {message.reply_of}" * bool(message.reply_of) or "result"
            for key in keys or ()
            for message in (run.message_by_key[key],)
        ]
        for _, keys in run.inputs()
    ]


def test_the_page_has_a_block_for_each() -> None:
    titles = [snippet.title for snippet in snippets()]

    assert len(titles) == len(set(titles)) == 6


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("snippet", snippets(), ids=lambda snippet: snippet.title)
def test_two_rounds_come_out_as_they_were(live_server: Any, snippet: Snippet) -> None:
    run = received(live_server, snippet)

    first, last = run.rounds
    (call,) = first.calls
    assert (call.name, json.loads(call.args), call.id) == ("look_up", ARGS, "call_1")
    assert (call.result, call.joined) == (RESULT, "id")
    assert (first.stop, last.stop) == (Stop.WANTS_TOOL, Stop.FINISHED)
    assert first.stop_raw is not None
    assert last.reply == ANSWER
    assert [(r.tokens_in, r.tokens_out) for r in run.rounds] == [(21, 7), (21, 7)]
    assert texts(run) == [[GOAL, TICKET], [GOAL, TICKET, "reply 1", "result"]]
    assert (run.agent, run.model or first.model) == ("ticket 20931", MODEL)
    assert run.labels["service"] == "helpdesk"
    assert len({round_.key for round_ in run.rounds}) == 2


@pytest.mark.django_db(transaction=True)
def test_the_anthropic_sdks_own_spans_are_a_run_where_there_are_no_others(live_server: Any) -> None:
    section = next(s for s in snippets() if s.title.startswith("Anthropic"))

    run = received(live_server, replace(section, lines=""))

    assert len(run.rounds) == 2
