"""The runs that pages are measured with: of any length, the same texts for every product."""

from __future__ import annotations

from tests.builders import a_round, a_run, call
from transcripts.record import InputChange, Message, Placed, RunRecord

LENGTHS = (52, 1_000, 5_000, 32_843)
# Characters of a tool's answer, about what Phoenix and MLflow were measured with.
ANSWER = 1_700
TICKET = "Please list all invoices of Contoso."
TOOLS = ("list_invoices", "get_invoice", "get_contract")


def a_long_record(rounds: int) -> RunRecord:
    """Rounds that look one thing up after the other; one of them fails without a word."""
    words = "Contoso Ltd, open since March, reminded twice. "
    calls = [
        a_round(
            call(
                TOOLS[number % 3],
                {"id": number},
                f"record {number}: " + words * (ANSWER // len(words))
                if number != rounds // 3
                else "Error: connection refused by invoices.internal",
            ),
            reply=reply_of(number),
            tokens_in=1_000 + (number * 37) % 15_000,
            duration_ms=900,
            input=InputChange((Placed("ticket", 0),)) if number == 1 else None,
        )
        for number in range(1, rounds)
    ]
    ticket = Message("ticket", "user", TICKET)
    return a_run(
        *calls, "Done.", run_id="long", ticket_id="IT-1", messages=(ticket,), context_window=16_000
    )


def reply_of(number: int) -> str:
    """What the model says in that round; no other round says it."""
    return f"Now I look at record number {number}."


def to_find(rounds: int) -> str:
    """Words that one round in the middle of such a run says."""
    return f"record number {rounds // 2 + 1}."
