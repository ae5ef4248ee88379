"""Runs as a page shows them: stored, and read by the detectors."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db import transaction

from analysis.services.verdicts import run_analyse
from tests.builders import a_round, a_run, call
from tests.factories import a_project
from transcripts.endings import with_ending
from transcripts.importers import read_runs
from transcripts.models import Project, Run
from transcripts.record import InputChange, Message, Placed, RunRecord
from transcripts.services import run_store
from transcripts.services.text_index import run_text_index

EXAMPLE = Path(__file__).parent.parent / "agentdesk" / "example" / "vpn-20931.json"


def a_shown_run(
    record: RunRecord | None = None, project: Project | None = None, *, live: bool = False
) -> Run:
    """A run as a worker leaves it, indexed; without a record a short one that finished."""
    record = record or a_run([call()], "Done.", run_id="short")
    with transaction.atomic():
        stored = run_store(
            project=project or a_project(), fragment=with_ending(record, live=live), live=live
        )
        run_analyse(run=stored.run)
        run_text_index(run=stored.run)
    return Run.objects.select_related("verdict").get(pk=stored.run.pk)


def the_vpn_run(project: Project | None = None) -> Run:
    """The example: 52 rounds, odd from round 3, a loop from there, the ticket lost at round 40."""
    (record,) = read_runs(EXAMPLE.read_bytes())
    assert isinstance(record, RunRecord)
    return a_shown_run(record, project)


def a_long_run(rounds: int, project: Project | None = None, **fields: Any) -> Run:
    """Healthy rounds with different calls; the last but 50 comes back empty."""
    calls = [
        a_round(
            call(
                ("list_invoices", "get_invoice", "get_contract")[number % 3],
                {"id": number},
                f"record {number} of Contoso, open" if number != rounds - 50 else "",
            ),
            tokens_in=1000 + number % 700,
            cost=Decimal("0.01"),
            input=InputChange((Placed("ticket", 0),)) if number == 1 else None,
        )
        for number in range(1, rounds)
    ]
    ticket = Message("ticket", "user", "Please list all invoices of Contoso.")
    record = a_run(*calls, "Done.", run_id=f"long-{rounds}", messages=(ticket,), **fields)
    return a_shown_run(record, project)


def hostile_text() -> str:
    """Markup, template code, characters without a shape, and a masked secret."""
    return (
        "<script>alert(1)</script>{{ 7|add:7 }}{% now 'Y' %}<img src=x onerror=alert(2)>"
        "\u202egpj.exe\u202c zero\u200bwidth \x1b[31mred [SECRET:github:deadbeef] "
        '<a href="javascript:alert(3)">x</a>'
    )


def a_hostile_run(project: Project | None = None) -> Run:
    """That text in every place that a sender fills."""
    evil = hostile_text()
    record = a_run(
        a_round(
            call(f"tool{evil}", {"q": evil, "more": ["x" * 90]}, json.dumps({"a": evil, "b": 1})),
            call("plain", evil, evil, is_error=True),
            reply=evil,
            reasoning=evil,
            stop_raw=evil,
        ),
        a_round(reply=evil, error=evil),
        run_id=f"run {evil}",
        ticket_id=f"T {evil}",
        title=evil,
        agent=evil,
        model=evil,
        prompt_version=evil,
        ending_reason=evil,
    )
    return a_shown_run(record, project)
